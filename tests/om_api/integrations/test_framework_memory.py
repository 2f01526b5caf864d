"""What adapters have in common: everything is kept once, whichever ids a framework gives, and whoever is away."""

import asyncio
import traceback
from functools import partial

import pytest
import structlog
from ports import reserve_port
from servers import Server
from structlog.testing import capture_logs

from om_api import AsyncObservationalMemory, InvalidInputError, ObservationalMemory, load_settings
from om_api.integrations.framework_memory import FrameworkMemory, MemoryUnavailableError
from om_api.integrations.turn import AgentTurn, HeldItems, kept_as


def turn(*said, thread="t-1"):
    """A turn of (role, text, name)s."""
    return AgentTurn(
        "harold",
        thread,
        [HeldItems((text,), (kept_as({"role": role, "content": text}, name),)) for role, text, name in said],
    )


def render(found):
    return [each["content"] for each in found.as_openai()]


@pytest.fixture
def memory(server_client, prefix):
    return ObservationalMemory(load_settings(None, {"OM_PREFIX": prefix}), client=server_client)


def kept(memory):
    return [message.content for message in memory.messages("harold", "t-1")]


def test_what_has_an_id_is_kept_once_by_it(memory):
    adapter = FrameworkMemory(memory)
    first, more = [("user", "ok", "u1"), ("assistant", "fine", "a1")], [("user", "ok", "u2")]
    adapter.record(turn(*first[:1]))
    adapter.record(turn(*first))
    adapter.record(turn(*first, *more))
    FrameworkMemory(memory).record(turn(*first, *more))

    assert kept(memory) == ["ok", "fine", "ok"]


def test_a_history_under_new_ids_each_time_is_found_by_what_it_says(memory):
    talk = [("user", "hi"), ("assistant", "hello"), ("user", "ok"), ("assistant", "fine"), ("user", "ok")]
    adapter = FrameworkMemory(memory)
    for run, end in enumerate((1, 3, 5)):
        adapter.record(turn(*((role, text, f"r{run}-{n}") for n, (role, text) in enumerate(talk[:end]))))

    assert kept(memory) == [text for _, text in talk]


def test_a_history_of_which_one_id_is_known_is_known_by_its_ids(memory):
    old = [("user", "ok", "u1"), ("assistant", "fine", "a1")]
    FrameworkMemory(memory).record(turn(*old))
    FrameworkMemory(memory).record(turn(*old, ("user", "ok", "u2"), ("assistant", "fine", "a2")))

    assert kept(memory) == ["ok", "fine", "ok", "fine"]
    assert memory.known_ids(["u1", "u2", "nobody"], "harold", "t-1") == {"u1", "u2"}


def test_what_was_erased_does_not_come_back_with_the_history(memory):
    talk = [("user", "my secret is tulip", "u1"), ("assistant", "I see", "a1")]
    FrameworkMemory(memory).record(turn(*talk))
    memory.erase("harold", matching="tulip")
    view = FrameworkMemory(memory).view(turn(*talk, ("user", "go on", "u2")), render)

    assert not [item for item in view.items if "tulip" in item]
    assert not [text for text in kept(memory) if "tulip" in text]


def test_asyncio_has_the_same_in_whatever_loop(memory):
    adapter = FrameworkMemory(memory)
    asyncio.run(adapter.arecord(turn(("user", "hi", "u1"))))
    view = asyncio.run(adapter.aview(turn(("user", "hi", "u1"), ("assistant", "hello", "a1")), render))

    assert view.items[:2] == ["hi", "hello"]
    assert "hello" in asyncio.run(adapter.arecall({"query": "hello"}, "harold", "t-1"))


def test_another_kind_of_memory_is_refused_with_what_to_hand_over(server_client, prefix):
    other = AsyncObservationalMemory(load_settings(None, {"OM_PREFIX": prefix, "OM_REDIS_URL": "redis://127.0.0.1:1"}))
    with pytest.raises(InvalidInputError, match="hand over an ObservationalMemory"):
        FrameworkMemory(other)


def test_while_the_store_is_away_no_error_names_it_and_the_log_does():
    """Frameworks show an error's text as the assistant's answer."""
    address = f"127.0.0.1:{reserve_port()}"
    memory = FrameworkMemory(
        ObservationalMemory(load_settings(None, {"OM_REDIS_URL": f"redis://u:secret@{address}/0"}))
    )
    said = turn(("user", "hi", "m-1"))
    calls = [partial(memory.view, said, render), partial(memory.record, said), partial(memory.raw, "a", "t-1"),
        partial(memory.ask, memory.memory.recall, "seat", "a"),
        partial(memory.recall, {"query": "seat"}, "a", "t-1")]  # fmt: skip
    structlog.configure()
    with capture_logs() as lines:
        for call in calls:
            with pytest.raises(MemoryUnavailableError, match="could not be reached") as caught:
                call()
            shown = "".join(traceback.format_exception(caught.value, chain=True))
            assert address not in str(caught.value)
            assert "secret" not in shown
    structlog.reset_defaults()
    told = [line["error"] for line in lines if line["event"] == "memory_unavailable"]
    assert (len(told), all(address.split(":")[1] in each for each in told)) == (len(calls), True)


def test_while_the_store_is_away_what_is_new_waits_and_what_was_said_is_kept_once(tmp_path):
    talk = [("user", "hi", "u1"), ("assistant", "hello", "a1"), ("user", "ok", "u2"), ("assistant", "fine", "a2")]
    with Server(tmp_path, "--appendonly", "yes", "--appendfsync", "always") as server:
        settings = load_settings(None, {"OM_REDIS_URL": server.url})
        with ObservationalMemory(settings, fail_open=True, timeout=2) as memory:
            FrameworkMemory(memory).record(turn(*talk[:2]))
            server.kill()
            adapter = FrameworkMemory(memory)  # which knows nothing of the thread
            assert adapter.view(turn(*talk[:3]), render).items[:3] == ["hi", "hello", "ok"]
            assert adapter.view(turn(*talk), render).items[:4] == ["hi", "hello", "ok", "fine"]
            server.start()
            adapter.record(turn(*talk))

            assert kept(memory) == ["hi", "hello", "ok", "fine"]
