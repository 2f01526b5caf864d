"""What an owner asks of the workers stands in the memory until it is done, and moves with it to another scope."""

import pytest
from scene import HAROLD, push

from om_api.domain.values import Scope
from om_api.store.memory import requests

T1, T2 = Scope("harold", "t1"), Scope("harold", "t2")


def asked(store, scope):
    return store.run(requests.requests(store.keys, scope))


@pytest.mark.parametrize(
    ("scope", "field", "meant", "found"),
    [
        (HAROLD, "force", [T1, T2], [{"force"}, {"force"}]),
        (HAROLD, "force:t1", [T1, T2], [{"force"}, set()]),
        (T1, "force", [HAROLD], [{"force:t1"}]),
    ],
    ids=["all into threads", "one thread's", "a thread's into the pool"],
)
def test_a_request_is_handed_on_to_whom_it_means_and_stands_no_longer_where_it_was(store, scope, field, meant, found):
    store.run(requests.force(store.keys, scope, field))
    store.run(requests.hand_on(store.keys, scope, asked(store, scope), meant))

    assert [set(asked(store, each)) for each in meant] == found
    assert asked(store, scope) == {}


def test_a_pause_is_for_a_whole_resource_until_it_is_ended(store):
    push(store, 1)
    tokens = store.keys.of("harold").tokens
    before = store.client.hgetall(tokens)
    for on in (True, False):
        assert [store.run(requests.pause(store.keys, "harold", on=on)) for _ in range(2)] == [True, False], on
        assert store.client.hget(tokens, "*paused") == (b"1" if on else None)
    assert store.client.hgetall(tokens) == before
