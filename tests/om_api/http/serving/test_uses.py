"""Which keys were used since they were last told."""

from om_api.http.serving.uses import Uses


def test_each_key_is_told_once_however_often_it_was_used():
    uses = Uses()
    for name in ("b", "a", "b"):
        uses.note(name)

    assert [uses.since(), uses.since()] == [["a", "b"], []]


def test_what_could_not_be_told_is_told_with_what_came_meanwhile():
    uses = Uses()
    uses.note("a")
    told = uses.since()
    uses.note("b")
    uses.note(*told)

    assert uses.since() == ["a", "b"]
