"""A resource is read at one instant: whatever happens while it is, the file holds a whole memory."""

from __future__ import annotations

import pytest
from scene import activate, before_step, cleared, filled, import_, interrupted, lines, push, reflect, seal

from om_api.store.audit.verify import verify
from om_api.store.backup.exporting import Outgoing

on_a_server = pytest.mark.parametrize("client", ["server"], indirect=True)  # many cases of what scripts have no part in


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
@on_a_server
def test_whatever_happens_while_a_memory_is_exported_the_file_holds_a_whole_one(store, life, n):
    filled(store)
    outgoing, pieces = Outgoing(store.keys, "harold"), []
    pieces.append(store.run(before_step(outgoing.more(), n, lambda: life(store))))
    while piece := store.run(outgoing.more()):
        pieces.append(piece)
    import_(store, b"".join(pieces), "albert")

    assert [breach for breach in store.run(verify(store.keys)) if "albert" in breach.where] == []
