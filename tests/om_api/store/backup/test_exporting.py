"""Exports: pieces, the format of lines, staging, and the index of what arrives."""

import pytest
from scene import AT, HAROLD, activate, at_step, cleared, filled, import_, member, push, reflect, seal
from stores import fresh

from om_api.domain.errors import InvalidInputError
from om_api.store.audit.verify import verify
from om_api.store.backup import backup_format
from om_api.store.backup.arriving_segments import ArrivingSegments
from om_api.store.backup.backup_format import Encoded
from om_api.store.backup.exporting import Outgoing
from om_api.store.backup.old_text import _OldPlace, _write


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


def pair(n, thread="t1"):
    return member(n, thread), AT + n * 1000


def arrived(*lines):
    """Each line: chunk, thread, pair, and until when."""
    arriving = ArrivingSegments("harold")
    for chunk, thread, each, *until in lines:
        arriving.take(chunk, thread, each, *until)
    return {made.chunk: made for made in arriving.all()}


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
