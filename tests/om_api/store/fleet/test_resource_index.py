"""Who is known: whoever anything is kept of, wherever it stands."""

import pytest
from scene import push

from om_api.store.fleet import resource_index
from om_api.store.memory import due, requests


def is_known(store, *thread):
    return store.run(resource_index.is_known(store.keys, "harold", *thread))


def listed(store):
    return store.client.zrange(store.keys.resources, 0, -1)


KEPT = {
    "a message": lambda store: push(store, 1),
    "a quarantine": lambda store: store.client.rpush(store.keys.of("harold").rejected, "{}"),
    "a pause": lambda store: store.run(requests.pause(store.keys, "harold", on=True)),
    "a hint": lambda store: store.client.zadd(store.keys.adopt, {store.keys.of("harold").messages("t1"): 0}),
}


@pytest.mark.parametrize("kept", KEPT)
def test_a_resource_of_which_anything_is_kept_is_known(store, kept):
    assert not is_known(store)
    KEPT[kept](store)

    assert is_known(store)


def test_what_nobody_was_told_of_is_found_where_its_thread_is_named(store):
    store.client.zadd(store.keys.of("harold").messages("t1"), {b"anything": 1})

    assert (is_known(store), is_known(store, "t1"), is_known(store, "t2")) == (False, True, False)


def test_who_holds_nothing_is_let_go_and_who_holds_anything_stays(store):
    store.client.zadd(store.keys.resources, {"harold": 1, "albert": 1})
    push(store, 1)

    assert not store.run(resource_index.let_go(store.keys, "harold"))
    assert store.run(resource_index.let_go(store.keys, "albert"))
    assert listed(store) == [b"harold"]


def test_what_comes_while_a_name_is_let_go_lists_it_again(store):
    """Plays the race: adoption lists the name, and rejects what came, after the first look."""
    steps = _coming(store, resource_index.let_go(store.keys, "harold"))

    assert store.run(steps) is False
    assert listed(store) == [b"harold"]


def _coming(store, steps):
    """The same steps; before what they write, a quarantine comes."""
    step = next(steps)
    while True:
        if step.commands[0][0] == "ZREM":
            store.run(due.looked(store.keys, "harold", 1))
            store.client.rpush(store.keys.of("harold").rejected, "{}")
        said = yield step
        try:
            step = steps.send(said)
        except StopIteration as end:
            return end.value
