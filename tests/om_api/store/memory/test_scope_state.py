"""Looks at scopes: what a worker decides by, in a number of round trips that does not grow with them."""

from scene import push, ready, seal

from om_api.domain.values import Scope
from om_api.store.memory import scope_state


def test_looks_at_several_scopes_say_what_one_look_at_each_says(store):
    for n, thread in enumerate(("t1", "t2", "t3")):
        ready(store, f"d{n}", 60 + n, thread=thread, scope=Scope("harold", thread))
        seal(store, f"e{n}", 70 + n, thread=thread, scope=Scope("harold", thread))
    push(store, 80, thread="t3")
    scopes = [Scope("harold"), *(Scope("harold", thread) for thread in ("t1", "t2", "t3", "nobody"))]
    together = store.run(scope_state.looks(store.keys, scopes))
    apart = [store.run(scope_state.look(store.keys, scope)) for scope in scopes]

    assert [look._replace(now=0) for look in together] == [look._replace(now=0) for look in apart]
    assert [len(look.chunks) for look in together] == [0, 2, 2, 2, 0]


def test_what_is_about_to_be_sealed_is_read_whole_with_the_first_look_and_nothing_else_is(store):
    """Catches a paused or hardly filled memory whose raw messages are read at every push."""
    push(store, 70, 71, 72, thread="t1")

    def read(**options):
        return len(store.run(scope_state.meet(store.keys, Scope("harold"), **options)).raw["t1"].pairs)

    tokens = store.keys.of("harold").tokens
    assert (read(seals=True), read(), read(seals=True, threads=["t1"])) == (3, 1, 1)
    store.client.hset(tokens, "*wake", 31)
    assert read(seals=True) == 1
    store.client.hset(tokens, mapping={"*wake": 30, "*paused": 1})
    assert read(seals=True) == 1
