"""What a client makes of a snapshot: when the Actor's prompt cache was used last, and for which model a thread is read."""

import pytest

from om_api import InvalidInputError, Message
from om_api.client.remembered.cache_use import check_model, last_use, turns
from om_api.domain.policy import Limits
from om_api.domain.snapshot import Snapshot
from om_api.domain.timing.prompt_cache import PromptCache
from om_api.domain.values import Record, Scope, ThreadState

AWARE = Limits(timing="cache", cache=PromptCache(lifetime_ms=300_000))


def said(role, at, n=0):
    return Message(role=role, content="x", thread_id="t", resource_id="r", id=f"m{n}", at=at)


def snapshot(*messages, others=None, epoch="e", now=1_000_000, **thread):
    return Snapshot(
        scope=Scope("r"),
        thread=ThreadState(id="t", **thread),
        record=Record(epoch=epoch),
        messages=list(messages),
        chunks=[],
        observations=[],
        others=others or {},
        now=now,
    )


@pytest.mark.parametrize(
    ("seen", "read_at", "expected"),
    [
        (snapshot(said("assistant", 500), said("user", 900)), 0, 500),
        (snapshot(said("assistant", 500), said("user", 900)), 700, 700),
        (snapshot(said("user", 900)), 0, 0),
        (snapshot(said("assistant", 500), others={"u": [said("user", 600), said("user", 800)]}), 0, 800),
        (snapshot(said("assistant", 2_000_000)), 0, 1_000_000),  # a clock that runs ahead
    ],
)
def test_the_cache_was_used_when_the_actor_last_spoke_or_was_last_read(seen, read_at, expected):
    assert last_use(seen, read_at) == expected


@pytest.mark.parametrize(
    ("seen", "model", "limits", "expected"),
    [
        (snapshot(), "a", AWARE, True),
        (snapshot(), None, AWARE, False),
        (snapshot(), "a", Limits(), False),
        (snapshot(epoch=""), "a", AWARE, False),
        (snapshot(model="a", model_at=999_999), "a", AWARE, False),
        (snapshot(model="a", model_at=999_999), "b", AWARE, True),
        (snapshot(model="a", model_before="b", model_at=999_999), "b", AWARE, False),
        (snapshot(model="a", model_before="b", model_at=700_000), "b", AWARE, True),
    ],
)
def test_a_thread_turns_to_another_model_but_not_to_one_whose_cache_is_warm(seen, model, limits, expected):
    assert turns(seen, model, limits) is expected


@pytest.mark.parametrize("model", ["", "two words", "x" * 201, 7])
def test_a_model_has_a_name(model):
    with pytest.raises(InvalidInputError, match="use the name of the agent's own model"):
        check_model(model)
