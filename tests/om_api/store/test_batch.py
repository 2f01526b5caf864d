"""batch: what a MULTI would read, read by a script where a full server refuses to queue."""

from __future__ import annotations

from scene import call, push

from om_api.store.steps import Batch


def test_commands_are_answered_in_their_order(store):
    push(store, 1, 2)
    of = store.keys.of("harold")
    words = [2, "ZCARD", of.messages("t1"), 3, "HGET", of.tokens, "#t1", 2, "EXISTS", of.scope]

    assert call(store, "batch", [of.messages("t1"), of.tokens, of.scope], words) == [2, b"2", 0]


def test_a_slim_batch_reads_what_any_other_does(store):
    push(store, 1, 2)
    of = store.keys.of("harold")
    commands = [
        ("ZCARD", of.messages("t1")),
        ("HGET", of.tokens, "#none"),
        ("ZMSCORE", store.keys.due_observe, "harold"),
    ]

    def read(batch):
        return (yield batch)

    plain, slim = (store.run(read(Batch(commands, atomic=False, slim=slim))) for slim in (False, True))
    assert plain[:2] == slim[:2] == [2, None]
    assert [float(score) for score in slim[2]] == plain[2]
