"""Values, events, keys and messages as they are made, written and read."""

import random
import subprocess
import sys

import msgspec
import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.events import KINDS, Event, Wanted, activated, cleared, forgotten
from om_api.domain.values import Chunk, Observation, Scope, check_id, is_id, made_at, new_id, to_ms, traceparent
from om_api.domain.wire import message_of, parse_member


def test_ids_and_scopes_are_read_as_they_were_written_and_nothing_else_is_one():
    for name in ("c-1", "", "g" * 32, "é" * 32):
        assert made_at(name) is None, name
        assert made_at(new_id(1_763_600_000_000)) == 1_763_600_000_000, name
    names = [new_id(ms) for ms in (1_000, 1_000, 1_000, 1_001)]
    assert names == sorted(names)
    assert len(set(names)) == 4
    assert all(is_id(name) for name in names)
    for value in ("", "a b", "a/b", "a{b", ".", "..", "x" * 201, "ä", "a\n", None, 7, b"harold"):
        assert not is_id(value), value
        with pytest.raises(InvalidInputError, match=r"thread_id .* is not an id"):
            check_id(value, "thread_id")
    for scope in (Scope("harold"), Scope("harold", "t-1")):
        assert Scope.parse(str(scope)) == scope, scope
        assert Scope.is_one(str(scope)), scope
    for text in ("", "|t-1", "harold|", "a b", "harold|t-1|x"):
        assert not Scope.is_one(text), text


def test_a_time_is_read_in_whatever_unit_it_was_written():
    for value, ms in [
        ("2026-11-20T09:30:00Z", 1_795_167_000_000), ("2026-11-20T10:30:00+01:00", 1_795_167_000_000),
        ("2026-11-20 09:30", 1_795_167_000_000), (1_795_167_000, 1_795_167_000_000),
        (1_795_167_000_000, 1_795_167_000_000), (1_795_167_000_000_000, 1_795_167_000_000),
        (1_795_167_000_000_000_000, 1_795_167_000_000), ("1795167000.5", 1_795_167_000_500), ("soon", None),
        (True, None), (0, None), (float("nan"), None), (None, None),
    ]:  # fmt: skip
        assert to_ms(value) == ms, (value, ms)


FORKED = r"""
import os
from om_api.domain.values import new_id

new_id(1)
child = os.fork()
os.write(1, f"{new_id(1)}\n".encode())
if child:
    os.waitpid(child, 0)
"""


@pytest.mark.nightly
def test_a_process_and_its_fork_make_no_id_twice():
    done = subprocess.run([sys.executable, "-c", FORKED], check=True, capture_output=True, text=True)
    assert len({*done.stdout.split()}) == 2


_NAME = f"00-{7:032x}-{9:016x}-01"


def test_a_traceparent_is_taken_and_kept_out_of_the_metadata():
    assert traceparent(_NAME) == _NAME
    for said in [
        "", None, 7, f"00-{255:032X}-{9:016x}-01", f"{_NAME}\n", f"01{_NAME[2:]}", f"00-{0:032x}-{9:016x}-01",
        f"00-{7:032x}-{0:016x}-01",
    ]:  # fmt: skip
        assert traceparent(said) == "", said
    written = b'{"role":"user","content":"one","traceparent":"%s"}' % _NAME.encode()
    message = parse_member(written, "t", "r", 1)
    assert (message.traceparent, message.metadata) == (_NAME, None)
    assert message_of({"role": "user", "content": "one", "traceparent": "nonsense"}).traceparent == ""


def test_a_program_that_seeds_its_own_neither_repeats_our_ids_nor_loses_its_numbers():
    random.seed(7)
    first, expected = new_id(1), random.random()
    random.seed(7)
    second = new_id(1)
    assert random.random() == expected
    assert first[-12:] != second[-12:]


def chunk(name, tokens, observed):
    told = Observation(id=name, thread_id="t-1", text="a private word", tokens=observed)
    return Chunk(id=name, thread="t-1", seq=1, tokens=tokens, messages=1, observation=msgspec.json.encode(told))


def test_an_activation_adds_up_what_was_chosen_and_nothing_else():
    chunks = [chunk("a", 100, 10), chunk("b", 200, 20), chunk("c", 400, 40)]
    event = activated(Scope("harold"), chunks, {"a", "c"}, "client")
    assert (event.chunks, event.message_tokens, event.tokens, event.by) == (2, 500, 50, "client")
    assert (event.resource, event.thread) == ("harold", None)
    assert b"private" not in msgspec.json.encode(event)


def test_an_event_carries_what_is_said_of_its_kind_and_no_more_and_one_name_or_several_may_be_wanted():
    for event in [
        activated(Scope("r", "t"), [chunk("a", 1, 1)], {"a"}, "worker"), cleared(Scope("r", "t"), 1, 1),
        forgotten("r", Observation(id="o-1", thread_id="t", text="a private word", tokens=7, message_ids=("m-1",))),
    ]:  # fmt: skip
        carried = {name for name, value in msgspec.structs.asdict(event).items() if value is not None}
        assert carried == {"kind", "id", "at", "resource", *KINDS[event.kind]}, event
    for kinds, resources, taken in [
        ((), (), ["sealed harold", "failed harold", "sealed ada"]), ("sealed", (), ["sealed harold", "sealed ada"]),
        ((), "harold", ["sealed harold", "failed harold"]), (["sealed", "failed"], ["ada", "zoe"], ["sealed ada"]),
    ]:  # fmt: skip
        told = [Event(kind="sealed", resource="harold"), Event(kind="failed", resource="harold")]
        told.append(Event(kind="sealed", resource="ada"))
        wanted = Wanted.of(kinds, resources)
        assert [f"{event.kind} {event.resource}" for event in told if wanted.takes(event)] == taken, kinds
