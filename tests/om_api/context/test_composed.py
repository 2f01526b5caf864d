"""Where other memories' notes stand: by when they came in force, in steps, within each memory's room."""

import random

import pytest

from om_api.context.composed import SLACK_MS, News, OthersNotes, OwnNotes, OwnTimes, composition
from om_api.domain.snapshot import ComposedNotes
from om_api.domain.values import Generation, Observation, SharedFrom, Stored

BEGAN = 1_763_600_000_000
NEVER = OwnTimes(0, 0, BEGAN)


def noted(name, at, tokens=100, text="", **fields):
    made = Observation(
        id=name,
        thread_id="t-1",
        text=text or f"* {name}",
        tokens=tokens,
        activation=f"a-{name}",
        activated_at=at,
        **fields,
    )
    return Stored(0.0, made, b"")


def notes(resource, *observations, most=4_000, text=""):
    generation = Generation(n=1, text=text) if text else None
    return ComposedNotes(resource=resource, observations=list(observations), generation=generation, max_tokens=most)


def words(text):
    return len(text.split())


def arranged(composed, own=(), times=NEVER, whose="harold"):
    return composition(composed, list(own), times, whose, words)


def names(found):
    return [each.id for block in found.stable for each in block.group]


def news(found):
    return [each.id for one in found.news for each in one.observations]


def test_what_was_in_force_before_an_own_activation_stands_before_it_and_what_came_later_is_news():
    early, late = noted("early", BEGAN + 1_000), noted("late", BEGAN + 90_000)
    own = noted("own", BEGAN + 60_000, from_=BEGAN - 5_000)
    found = arranged([notes("org", early, late)], [own])

    assert [type(block) for block in found.stable] == [OthersNotes, OwnNotes]
    assert (names(found), news(found)) == (["early", "own"], ["late"])


def test_what_another_memory_was_told_of_this_one_is_not_shown_again():
    told, other = (noted(name, BEGAN, shared_from=SharedFrom(resource=name)) for name in ("harold", "berta"))

    own = noted("own", BEGAN + 60_000)
    assert names(arranged([notes("org", told, other)], [own])) == ["berta", "own"]
    assert names(arranged([notes("org", told, other)], [own], whose="")) == ["harold", "berta", "own"]


def test_what_came_within_the_slack_of_an_own_activation_waits_for_the_next():
    own = noted("own", BEGAN + 60_000)
    assert news(arranged([notes("org", noted("a", BEGAN + 60_000 - SLACK_MS))], [own])) == []
    assert news(arranged([notes("org", noted("a", BEGAN + 60_001 - SLACK_MS))], [own])) == ["a"]


def test_a_memory_without_own_notes_goes_by_its_oldest_raw_message():
    before, after = noted("before", BEGAN - SLACK_MS), noted("after", BEGAN)
    found = arranged([notes("org", before, after)])

    assert (names(found), news(found)) == (["before"], ["after"])


def test_an_observation_that_does_not_say_when_it_came_in_force_goes_by_when_it_was_made():
    found = arranged([notes("org", noted("a", 0, created_at=BEGAN - 2 * SLACK_MS))])
    assert names(found) == ["a"]


def test_no_note_that_found_nothing_worth_noting_is_shown():
    assert news(arranged([notes("org", noted("a", BEGAN, text="  "))])) == []


@pytest.mark.parametrize("seed", range(60))
def test_whatever_several_memories_note_the_stable_part_only_grows_at_its_end(seed):
    """Between own activations it grows by steps alone; nothing that stands in it moves, whoever comes next."""
    chance, at = random.Random(seed), BEGAN
    others = {name: list[Stored]() for name in ("a", "b", "c")}
    own, before = [noted("own-0", BEGAN, from_=BEGAN)], ["own-0"]
    for n in range(120):
        at += chance.randrange(1_000, 40_000)
        activates = chance.random() < 0.15
        if activates:
            own.append(noted(f"own-{n + 1}", at))
        else:
            name = chance.choice(sorted(others))
            others[name].append(noted(f"{name}-{n}", at, tokens=chance.choice([40, 300, 900])))
        found = arranged([notes(name, *some, most=1_000_000) for name, some in others.items()], own)
        small = arranged([notes(name, *some, most=4_000) for name, some in others.items()], own)
        now = names(found)
        if activates:
            assert now[: len(before)] == before
        else:
            assert now == before
        before = now
        for one in small.news:
            assert sum(each.tokens for each in one.observations) <= 1_000


@pytest.mark.parametrize("seed", range(60))
def test_steps_of_several_memories_join_in_the_order_in_which_they_were_taken(seed):
    chance, at = random.Random(seed), BEGAN
    others = {name: list[Stored]() for name in ("a", "b", "c")}
    own, before = [noted("own-0", BEGAN, from_=BEGAN)], []
    for n in range(60):
        at += chance.randrange(1_000, 40_000)
        if chance.random() < 0.08:
            own.append(noted(f"own-{n + 1}", at + 2 * SLACK_MS))
            at += 3 * SLACK_MS
        else:
            name = chance.choice(sorted(others))
            others[name].append(noted(f"{name}-{n}", at, tokens=chance.choice([40, 300, 900])))
        now = names(arranged([notes(name, *some, most=20_000) for name, some in others.items()], own))
        assert now[: len(before)] == before
        before = now
        assert len({*now}) == len(now)


def test_the_oldest_go_by_half_the_room_at_a_time_and_are_counted():
    seen, gone = [], []
    for n in range(1, 80):
        some = [noted(f"n-{m}", BEGAN - 10**6 + m, tokens=60) for m in range(n)]
        found = arranged([notes("org", *some, most=4_000)])
        (told,) = found.news
        shown = names(found)
        assert shown == [f"n-{m}" for m in range(n - len(shown), n)]
        assert told.left_out == n - len(shown)
        assert 60 * len(shown) <= 3_000
        seen.append(shown)
        gone.append(told.left_out)
    assert len({*gone}) <= 5


def test_a_generation_that_is_too_long_shows_its_newest_lines():
    text = "\n".join(f"line {n}" for n in range(1_000))
    (generation,) = arranged([notes("org", text=text, most=400)]).generations

    assert generation.text.endswith("line 999")
    assert words(generation.text) <= 200
    assert generation.cut == 1_000 - len(generation.text.split("\n"))


def test_headings_of_anothers_threads_are_not_shown():
    text = 'common\n<thread id="t-9">\nnoted there\n</thread>'
    (generation,) = arranged([notes("org", text=text)]).generations

    assert generation.text == "common\nnoted there"


def test_one_note_of_more_than_the_room_of_news_is_left_out_and_told():
    assert arranged([notes("org", noted("a", BEGAN, tokens=5_000))]).news == (News("org", (), 1, 0),)


def test_nothing_is_composed_of_nothing():
    assert arranged([]) == composition([], [], NEVER, "harold", words)
    assert arranged([]).news == ()
