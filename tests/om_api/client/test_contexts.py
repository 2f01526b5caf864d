"""A context's pressure is what a client sees of it, and without a store it is made of what was read last."""

import msgspec
import pytest
from world import SMALL, World

from om_api import InvalidInputError, Message, load_settings
from om_api.client.contexts import pressure_of
from om_api.client.core import Core
from om_api.domain.snapshot import Snapshot
from om_api.domain.values import Record, Scope, ThreadState

NOTHING = {"record": Record(), "messages": [], "chunks": [], "observations": []}


@pytest.fixture
def contexts():
    return Core(load_settings(None, SMALL), len, fails_open=True).contexts


def said(text, thread="t-1", name="m-1"):
    return Message(role="user", content=text, id=name, thread_id=thread, resource_id="harold", timestamp=1.7e12, at=1)


@pytest.mark.parametrize(("own", "seen"), [(None, {"t-1": (10, 1), "t-2": (20, 2)}), ("t-2", {"t-2": (20, 2)})])
def test_in_thread_scope_only_what_the_thread_holds_presses(own, seen):
    unsealed = {"t-1": (10, 1), "t-2": (20, 2)}
    snapshot = Snapshot(scope=Scope("harold", own), thread=ThreadState(id="t-2"), unsealed=unsealed, **NOTHING)

    assert pressure_of(snapshot).unsealed == seen


def test_without_a_store_a_context_shows_what_waits_for_its_thread_and_says_so(contexts):
    waiting = [said("hello"), said("elsewhere", "t-2", "m-2")]
    found = contexts.without_store("harold", "t-1", waiting, None)

    assert found.unavailable
    assert [message.content for message in found.messages] == ["hello"]


def test_what_was_read_last_is_shown_with_it_once(contexts):
    reader = contexts._readers.of("harold", "t-1")
    reader.snapshot = Snapshot(
        scope=Scope("harold"), thread=ThreadState(id="t-1"), **{**NOTHING, "messages": [said("read")]}
    )
    contexts._readers.keep("harold", "t-1", reader)
    found = contexts.without_store("harold", "t-1", [said("read"), said("new", name="m-2")], None)

    assert [message.content for message in found.messages] == ["read", "new"]


def test_without_a_store_a_context_is_bounded_as_well(contexts):
    waiting = [Message(**{**msgspec.structs.asdict(said("x", name=f"m-{n}")), "tokens": 100}) for n in range(30)]
    found = contexts.without_store("harold", "t-1", waiting, None)

    assert (found.omitted, len(found.messages)) == (10, 20)
    assert contexts.without_store("harold", "t-1", waiting, 100_000).omitted == 0


@pytest.mark.parametrize("given", ["auto", 1.5, "1000"])
def test_what_is_no_number_of_tokens_is_refused(client, prefix, given):
    """Catches a TypeError of ours for the word that the setting takes."""
    with pytest.raises(InvalidInputError, match=r"max_tokens is .*: use a number of tokens, or None"):
        World(client, prefix).om.get_context("t-1", "harold", max_tokens=given)
