"""`om recall` and `om browse`: what left the window is found by its words, and its surroundings can be read."""

import pytest

SAID = ("Which passport?", "My passport number is X1234567.", "It lies in the blue drawer.")


@pytest.fixture
def noted(world):
    """Harold's memory, in which what was said first is behind an observation; ids in order."""
    ids = world.say(*SAID, *[f"turn {n}" for n in range(12)])
    world.settle()
    assert world.om.observations("harold")
    return ids


def test_what_was_said_is_found_with_its_surroundings_and_what_covers_it(om, world, noted):
    result = om("recall", "harold", "passport number")
    lines = result.stdout.splitlines()

    assert result.exit_code == 0
    assert lines[0].endswith(f"  t-1  user  {noted[1]}")
    assert lines[1:5] == [
        f"    in the notes as observation {world.om.observations('harold')[0].id}",
        "    user: Which passport?",
        "  > user: My «passport number» is X1234567.",
        "    user: It lies in the blue drawer.",
    ]


def test_words_need_no_quotes_and_a_phrase_has_its_own(om, om_json, noted):
    found = om_json("recall", "harold", "blue", "drawer")
    phrase = om_json("recall", "harold", '"passport number"')

    assert [hit["id"] for hit in found["hits"]] == [noted[2]]
    assert [hit["id"] for hit in phrase["hits"]] == [noted[1]]
    assert noted[1] not in om("recall", "harold", "--around", "0", "--", '-"passport number" passport').stdout


def test_what_is_searched_can_be_limited(om_json, world, noted):
    world.say("Another passport.", thread="t-2", timestamp="2020-01-01T00:00:00Z")

    assert [hit["thread_id"] for hit in om_json("recall", "harold", "passport", "--thread", "t-2")["hits"]] == ["t-2"]
    assert om_json("recall", "harold", "passport", "--role", "assistant")["hits"] == []
    assert len(om_json("recall", "harold", "passport", "--before", "2021-01-01")["hits"]) == 1
    assert len(om_json("recall", "harold", "passport", "--after", "2021-01-01")["hits"]) == 2
    kinds = om_json("recall", "harold", "passport", "--kind", "observation", "--kind", "generation")["hits"]
    assert {hit["kind"] for hit in kinds} == {"observation"}
    (hit,) = om_json("recall", "harold", "drawer", "--around", "0")["hits"]
    assert (hit["before"], hit["after"]) == ([], [])


def test_how_to_see_more_is_told_and_does_it(om, om_json, noted):
    result = om("recall", "harold", "turn", "--limit", "5")

    assert "there is more: go on with --offset 5" in result.stderr
    assert "what else was said there: om browse harold " in result.stderr
    first, next_ = (om_json("recall", "harold", "turn", "--limit", "5", "--offset", n)["hits"] for n in ("0", "5"))
    assert len({hit["id"] for hit in [*first, *next_]}) == 10


def test_what_is_shown_has_a_bound(om_json, noted):
    found = om_json("recall", "harold", "turn", "--max-tokens", "1")

    assert (len(found["hits"]), found["next"]) == (1, 1)


def test_why_nothing_is_found_is_said(om, noted):
    result = om("recall", "harold", "zebra")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "nothing that is kept holds these words: try others, or fewer\n"
    assert "no word to search for" in om("recall", "harold", "").stderr


def test_names_that_nobody_knows_are_told(om, world, noted):
    """A resource that is not there is an error, a thread is none: it may have been cleared."""
    unknown = om("recall", "harld", "passport")

    assert unknown.exit_code == 1
    assert "did you mean harold?" in unknown.stderr
    for asked in (("zebra", "--thread", "t-11"), ("zebra thread:t-11",)):
        assert "no thread t-11 of harold is known: did you mean t-1?" in om("recall", "harold", *asked).stderr
    assert "is a thread of harold" in om("recall", "t-1", "passport", "--thread", "harold").stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("passport", "--after", "soon"), "after is 'soon'"),
        (("passport role:robot",), "role:robot is none"),
        (("passport", "--kind", "dream"), "'dream' is not one of"),
        ((), "Missing argument"),
    ],
)
def test_what_cannot_be_asked_is_an_error_of_input(om, noted, args, said):
    result = om("recall", "harold", *args)

    assert result.exit_code == 2
    assert said in result.stderr


def test_what_is_found_fits_a_narrow_terminal(om, noted, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    for line in om("recall", "harold", "passport number turn").stdout.splitlines():
        assert len(line) <= 80


def test_browsing_shows_the_turns_around_a_message_and_how_to_go_on(om, noted):
    result = om("browse", "harold", noted[4], "--before", "1", "--after", "1")
    lines = result.stdout.splitlines()

    assert [line.split()[-1] for line in lines[::2]] == noted[3:6]
    assert lines[2].startswith("> ")
    assert lines[1::2] == ["    turn 0", "    turn 1", "    turn 2"]
    assert f"earlier: om browse harold {noted[3]} --after 0" in result.stderr
    assert f"later: om browse harold {noted[5]} --before 0" in result.stderr


def test_browsing_ends_where_the_thread_ends(om, om_json, noted):
    found = om_json("browse", "harold", noted[0], "--after", "100", "--thread", "t-1")

    assert [turn["id"] for turn in found["after"]] == noted[1:]
    assert (found["earlier"], found["later"]) == (False, False)
    assert om("browse", "harold", noted[0], "--after", "100").stderr == ""


def test_a_message_that_is_not_there_is_told(om, noted):
    result, elsewhere = om("browse", "harold", "m-9"), om("browse", "harold", noted[0], "--thread", "t-2")

    assert (result.exit_code, elsewhere.exit_code) == (1, 1)
    assert "harold keeps no message m-9: it was removed" in result.stderr
    assert "did you mean harold?" in om("browse", "harld", "m-9").stderr
