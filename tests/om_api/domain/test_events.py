"""Events as they are made: sums of what happened, and no word of a message."""

import msgspec
import pytest

from om_api.domain.events import KINDS, Event, Wanted, activated, cleared, forgotten
from om_api.domain.values import Chunk, Observation, Scope


def chunk(name, tokens, observed):
    told = Observation(id=name, thread_id="t-1", text="a private word", tokens=observed)
    return Chunk(id=name, thread="t-1", seq=1, tokens=tokens, messages=1, observation=msgspec.json.encode(told))


def test_an_activation_adds_up_what_was_chosen_and_nothing_else():
    chunks = [chunk("a", 100, 10), chunk("b", 200, 20), chunk("c", 400, 40)]
    event = activated(Scope("harold"), chunks, {"a", "c"}, "client")

    assert (event.chunks, event.message_tokens, event.tokens, event.by) == (2, 500, 50, "client")
    assert (event.resource, event.thread) == ("harold", None)
    assert b"private" not in msgspec.json.encode(event)


def test_the_end_of_a_thread_names_it():
    assert cleared(Scope("harold", "t-1"), 14, 7) == Event(
        kind="cleared", resource="harold", thread="t-1", messages=14, observations=7
    )


@pytest.mark.parametrize(
    "event",
    [
        activated(Scope("r", "t"), [chunk("a", 1, 1)], {"a"}, "worker"),
        cleared(Scope("r", "t"), 1, 1),
        forgotten("r", Observation(id="o-1", thread_id="t", text="a private word", tokens=7, message_ids=("m-1",))),
    ],
)
def test_an_event_carries_what_is_said_of_its_kind_and_no_more(event):
    carried = {name for name, value in msgspec.structs.asdict(event).items() if value is not None}

    assert carried == {"kind", "id", "at", "resource", *KINDS[event.kind]}


@pytest.mark.parametrize(
    ("kinds", "resources", "taken"),
    [
        ((), (), ["sealed harold", "failed harold", "sealed ada"]),
        ("sealed", (), ["sealed harold", "sealed ada"]),
        ((), "harold", ["sealed harold", "failed harold"]),
        (["sealed", "failed"], ["ada", "zoe"], ["sealed ada"]),
    ],
)
def test_one_name_or_several_may_be_wanted(kinds, resources, taken):
    told = [Event(kind="sealed", resource="harold"), Event(kind="failed", resource="harold")]
    told.append(Event(kind="sealed", resource="ada"))
    wanted = Wanted.of(kinds, resources)

    assert [f"{event.kind} {event.resource}" for event in told if wanted.takes(event)] == taken
