"""What may be archived: what is old enough and stands in Redis, and nothing of what is in force."""

from om_api.store.archiving.candidates import generation_of, source_of


def test_sources_and_what_was_replaced_may_go_and_the_oldest_goes_first(old):
    found = old.past().ready

    assert [each.kind for each in found].count("messages") == 3
    assert [each.name for each in found if each.kind == "observations"] == ["reflected:1"]
    assert [each.at for each in found] == sorted(each.at for each in found)


def test_what_is_younger_stays_and_says_when_it_may_go(old):
    ages = sorted(each.at for each in old.past().ready if each.kind == "messages")
    found = old.past(before=ages[0])

    assert [each.at for each in found.ready if each.kind == "messages"] == ages[:1]
    assert found.next_at is not None
    assert ages[0] < found.next_at <= ages[1]


def test_the_generation_in_force_stays_and_earlier_ones_may_go(old):
    assert not [each for each in old.past().ready if each.kind == "generation"]

    old.world.om.force_reflect("harold")
    old.world.settle()

    assert [each.name for each in old.past().ready if each.kind == "generation"] == ["reflections|1"]


def test_what_is_archived_is_no_candidate_any_more(old):
    old.move()

    assert old.past().ready == []


def test_a_candidate_is_kept_for_as_long_as_was_asked_from_when_it_was_made(old):
    assert all(each.until == each.at + 86_400_000 for each in old.past().ready)


def test_names_are_the_tails_of_keys(old):
    assert source_of(old.of, "c1", "t-1", 5).name == "source:c1"
    (found,) = [generation_of(old.of, scope, 4, 5) for scope in [_scope()]]
    assert (found.name, found.n, found.thread) == ("reflections:t-1|4", 4, "t-1")


def _scope():
    from om_api.domain.values import Scope

    return Scope("harold", "t-1")
