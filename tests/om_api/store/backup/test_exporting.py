"""Exports: pieces, the format of lines, staging, and the index of what arrives."""

from typing import get_args

import pytest
from scene import AT, HAROLD, activate, at_step, cleared, filled, import_, member, push, reflect, seal
from stores import fresh

from om_api.domain.errors import InvalidInputError
from om_api.recall.segment import Segment, encode
from om_api.store.audit.verify import verify
from om_api.store.backup import backup_format
from om_api.store.backup.arriving_segments import ArrivingSegments
from om_api.store.backup.backup_format import Encoded
from om_api.store.backup.exporting import Outgoing
from om_api.store.backup.old_text import _OldPlace, _write
from om_api.store.backup.staging import STAGED_S, Staging
from om_api.store.index.indexing import findable


@pytest.mark.parametrize("n", range(4))
def test_whatever_happens_while_a_memory_is_exported_the_file_holds_a_whole_one(store, n):
    lives = {
        "push": lambda: push(store, 50, thread="t9"),
        "seal": lambda: seal(store, "c9", 50, thread="t9"),
        "activate": lambda: activate(store, "c4"),
        "reflect": lambda: reflect(store, "o2"),
        "clear": lambda: cleared(store),
    }
    for life in fresh(store, lives):
        filled(store)
        outgoing, pieces = Outgoing(store.keys, "harold"), []
        pieces.append(store.run(at_step(outgoing.more(), n, lives[life])))
        while piece := store.run(outgoing.more()):
            pieces.append(piece)
        import_(store, b"".join(pieces), "albert")
        assert [breach for breach in store.run(verify(store.keys)) if "albert" in breach.where] == [], life


LINES = [
    backup_format.MemoryLine(format=1, resource="harold", scope=None, exported_at=5, paused=True, signing_key="5e"),
    backup_format.RecordLine(memory="t1", fields={"epoch": "e", "seq": "1.5"}),
    backup_format.ThreadLine(thread="t1", at=1.5, messages=2, tokens=20, fields={"metadata": Encoded("/wA=")}),
    backup_format.AliasLine(alias="t2", thread="t1"),
    backup_format.GenerationLine(memory=None, n=1, generation="{}"),
    backup_format.ObservationLine(memory=None, seq=2.0, observation="{}", replaced_by=1, expires_at=7),
    backup_format.ChunkLine(memory=None, chunk="c1", fields={"thread": "t1"}),
    backup_format.SourceLine(observation="o1", thread="t1", activated_at=1, expires_at=2),
    backup_format.MessageLine(score=1.5, message="{}", chunk="c1"),
    backup_format.RejectedLine(entry="{}"),
    backup_format.WorkingLine(fields={"version:": "1", "value:": "{}"}),
    backup_format.RedactedLine(fields={"email 0123456789": Encoded("/wA=")}),
    backup_format.SeenLine(thread="t1", window=3, ids=["m1", Encoded("/w==")]),
    backup_format.End(lines=10, sha256="ab"),
]


def test_every_kind_of_line_is_read_as_it_was_written():
    assert [backup_format.read(backup_format.write(line)) for line in LINES] == LINES
    assert {type(line) for line in LINES} == set(get_args(backup_format.Line))


def test_what_is_no_line_is_refused_and_a_later_field_is_not():
    later = b'{"kind":"end","lines":1,"sha256":"ab","later":[1]}'
    assert backup_format.read(later) == backup_format.End(lines=1, sha256="ab")
    deep = b'{"kind":"end","later":' + b"[" * 100_000
    for text in (b"", b"[]", b'{"kind":"other"}', b'{"kind":"end","lines":"1","sha256":"ab"}', b"\xff", deep):
        with pytest.raises(InvalidInputError, match="no line of an exported memory"):
            backup_format.read(text)
            pytest.fail(f"{text[:30]} is taken for a line")
    for text in (Encoded("?"), Encoded("/w"), "\ud800"):
        with pytest.raises(InvalidInputError, match="base64"):
            backup_format.as_bytes(text)


@pytest.fixture
def of(store):
    return store.keys.of("harold")


@pytest.fixture
def staged(of):
    """One key of every type."""
    made = Staging(of, "t-1")
    made.put(of.messages("t1"), 1.5, b"one")
    made.put(of.messages("t1"), 0.1 + 0.2, b"two")
    made.fill(of.tokens, {"*": 3, "t1": 3})
    made.put(of.source("o1"), 1, b"one", 5_000)
    made.write(of.scope, "resource")
    made.append(of.rejected, b"entry")
    return made


def under(store):
    return {key.decode() for key in store.client.scan_iter(f"{store.keys.prefix}*")}


def test_staged_keys_stand_elsewhere_hold_what_was_said_and_expire(store, of, staged):
    assert staged.waiting > 0
    store.run(staged.send())
    held = {key: store.client.execute_command(said.size, staged.name(key)) for key, said in staged.keys.items()}

    assert staged.waiting == 0
    assert under(store) == {staged.name(key) for key in staged.keys}
    assert not under(store) & staged.keys.keys()
    assert {store.client.ttl(key) for key in under(store)} <= {STAGED_S, STAGED_S - 1}
    assert held == {key: said.held for key, said in staged.keys.items()}
    assert store.client.zscore(staged.name(of.messages("t1")), b"two") == 0.1 + 0.2
    assert staged.keys[of.source("o1")].until == 5_000
    store.run(staged.drop())
    assert under(store) == set()


def pair(n, thread="t1"):
    return member(n, thread), AT + n * 1000


def arrived(*lines):
    """Each line: chunk, thread, pair, and until when."""
    arriving = ArrivingSegments("harold")
    for chunk, thread, each, *until in lines:
        arriving.take(chunk, thread, each, *until)
    return {made.chunk: made for made in arriving.all()}


def test_a_chunk_gets_the_segment_of_its_messages_and_their_lifetime():
    made = arrived(("c1", "t1", pair(1)), ("c1", "t1", pair(2)), ("o1", "t2", pair(31, "t2"), 99))

    assert made.keys() == {"c1", "o1"}
    assert made["c1"].words == encode("t1", findable([pair(1), pair(2)], "t1", "harold"))
    assert (made["c1"].until, made["o1"].until) == (0, 99)
    assert Segment(made["o1"].words).thread == "t2"


def test_of_a_chunk_that_comes_in_parts_none_is_made():
    """Catches a segment of the last part alone, in which every place is another message's."""
    made = arrived(("c1", "t1", pair(1)), ("c2", "t1", pair(2)), ("c1", "t1", pair(3)))

    assert made.keys() == {"c2"}
    assert arrived(("c1", "t1", pair(1)), ("c1", "t1", pair(2), 5)) == {}


def _place(store, key, member):
    return _OldPlace("sources", key, [member], bytes, HAROLD, scores={member: 1.0})


def test_a_key_of_one_member_keeps_its_lifetime(store):
    key = store.keys.of("harold").source("o1")
    store.client.zadd(key, {b"was": 1.0})
    store.client.expire(key, 500)
    assert store.run(_write(store.keys, _place(store, key, b"was"), [(b"was", b"becomes")])) == 1
    assert store.client.zrange(key, 0, -1, withscores=True) == [(b"becomes", 1.0)]
    assert 0 < store.client.ttl(key) <= 500
    store.client.delete(key)


def test_what_is_not_as_it_was_read_is_left_alone_and_counted_as_not_done(store):
    key = store.keys.of("harold").source("o1")
    store.client.zadd(key, {b"kept": 1.0, b"was": 2.0})
    store.client.expire(key, 500)
    changes = [(b"kept", b"other"), (b"moved", b"becomes")]
    assert store.run(_write(store.keys, _place(store, key, b"kept"), changes)) == 0
    assert store.client.zrange(key, 0, -1) == [b"kept", b"was"]
