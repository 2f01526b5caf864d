"""Of many that are read at once the one that cannot be is left out, and nothing else is."""

import pytest

from om_api.domain.errors import StoreError
from om_api.store.driver.replies import as_int
from om_api.store.driver.tolerant_read import of_each, of_many


def test_a_store_that_is_away_is_asked_once(prefix):
    asked = []

    def read(names):
        asked.append(names)
        raise StoreError("the store did not answer")
        yield

    with pytest.raises(StoreError):
        next(of_each(read, ["harold", "ada"]))
    assert asked == [["harold", "ada"]]


def test_one_that_holds_what_is_not_ours_is_left_out_and_every_other_one_is_read(store):
    names = [f"{store.keys.prefix}:lock:{n}" for n in range(600)]
    for n, name in enumerate(names):
        store.client.set(name, n, ex=60)
    store.client.delete(names[300])
    store.client.hset(names[300], "a", 1)
    store.client.expire(names[300], 60)

    assert store.run(of_many(read_number, names)) == {name: n for n, name in enumerate(names) if n != 300}


def read_number(name):
    return as_int("GET", name)
