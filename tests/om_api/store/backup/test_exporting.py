"""A memory is written in pieces: what lives as of one instant first, then what is behind it, as far as it still stands."""

import pytest
from scene import (
    HAROLD,
    activate,
    before_step,
    cleared,
    filled,
    import_,
    interrupted,
    lines,
    observed,
    push,
    record,
    reflect,
    seal,
)

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


def test_an_export_is_of_one_instant_whatever_is_sealed_while_it_reads(store):
    filled(store)
    steps = Outgoing(store.keys, "harold").more()
    piece = store.run(interrupted(steps, "TIME", lambda: seal(store, "c6", 60)))

    assert [line["kind"] for line in lines(piece) if line.get("chunk") == "c6"] == ["chunk", "message"]


@pytest.mark.parametrize("n", range(4))
@pytest.mark.parametrize(
    "life",
    [
        lambda store: push(store, 50, thread="t9"),
        lambda store: seal(store, "c9", 50, thread="t9"),
        lambda store: activate(store, "c4"),
        lambda store: reflect(store, "o2"),
        cleared,
    ],
    ids=["push", "seal", "activate", "reflect", "clear"],
)
def test_whatever_happens_while_a_memory_is_exported_the_file_holds_a_whole_one(store, life, n):
    filled(store)
    outgoing, pieces = Outgoing(store.keys, "harold"), []
    pieces.append(store.run(before_step(outgoing.more(), n, lambda: life(store))))
    while piece := store.run(outgoing.more()):
        pieces.append(piece)
    import_(store, b"".join(pieces), "albert")

    assert [breach for breach in store.run(verify(store.keys)) if "albert" in breach.where] == []
