"""batch: what a MULTI would read, read by a script where a full server refuses to queue."""

from __future__ import annotations

from scene import call, push


def test_commands_are_answered_in_their_order(store):
    push(store, 1, 2)
    of = store.keys.of("harold")
    words = [2, "ZCARD", of.messages("t1"), 3, "HGET", of.tokens, "#t1", 2, "EXISTS", of.scope]

    assert call(store, "batch", [of.messages("t1"), of.tokens, of.scope], words) == [2, b"2", 0]
