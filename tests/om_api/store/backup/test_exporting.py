"""A memory is written in pieces: what lives as of one instant first, then what is behind it, as far as it still stands."""

from __future__ import annotations

from scene import HAROLD, cleared, filled, import_, lines, observed, push, record

from om_api.store.audit.verify import verify
from om_api.store.backup.exporting import Outgoing
from om_api.store.memory import clear, reading


def test_sources_that_are_removed_before_their_turn_are_left_out(store):
    filled(store)
    outgoing = Outgoing(store.keys, "harold")
    first = store.run(outgoing.more())
    (o2,) = (s for s in store.run(reading.observations(store.keys, HAROLD)) if s.observation.id == "o2")
    store.run(clear.forget(store.keys, HAROLD, record(store).epoch, o2))
    rest = store.run(outgoing.more()) + store.run(outgoing.more())

    kinds = [(line["kind"], line.get("observation")) for line in lines(first + rest) if line["kind"] == "source"]
    assert kinds == [("source", "o1"), ("source", "o3")]
    cleared(store)
    import_(store, first + rest)
    assert store.run(verify(store.keys)) == []


def test_a_large_memory_comes_in_small_pieces(store):
    push(store, *range(1, 500))
    for n in range(30):
        observed(store, f"o{n}", *range(1000 + 10 * n, 1005 + 10 * n))
    outgoing, sizes = Outgoing(store.keys, "harold"), []
    while piece := store.run(outgoing.more()):
        sizes.append(piece.count(b"\n"))

    assert len(sizes) > 4
    assert max(sizes) <= 500


def test_a_generation_that_never_was_makes_nobody_read_or_clear_without_end(store):
    push(store, 1)
    store.client.hset(store.keys.of("harold").record(HAROLD), mapping={"generation": 10**15, "epoch": "e"})
    outgoing = Outgoing(store.keys, "harold")

    assert store.run(outgoing.more()).startswith(b'{"kind":"memory"')
    cleared(store)
    assert not store.client.exists(store.keys.of("harold").messages("t1"))
