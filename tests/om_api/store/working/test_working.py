"""Working memories in the store: who may write, and how many former versions are kept."""

from scene import HAROLD, aliased, keeps, push

from om_api.domain.values import Outcome
from om_api.store.working import working


def numbers(store):
    return [each.version for each in store.run(working.versions(store.keys, "harold", ""))]


def test_stale_writers_are_refused_and_a_repeated_change_is_written_once(store):
    """Time 0: two read version 0. Time 1: one writes, twice, since the reply was lost. Time 2: the other writes."""

    def writes(was, city, change):
        return store.run(working.update(store.keys, HAROLD, "t2", was, {"city": [city, 1]}, "lotte", 5, change))

    read = working.read(store.keys, "harold", "t2")
    was = store.run(read)
    done = [writes(was, *each) for each in [("Graz", "one"), ("Graz", "one"), ("Rome", "two")]]
    assert done == [Outcome.UPDATED, Outcome.UPDATED, Outcome.SUPERSEDED]
    assert (store.run(read).version, store.run(read).value["city"][0]) == (1, "Graz")

    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    assert writes(store.run(read), "Oslo", "three") is Outcome.SUPERSEDED


def test_fewer_are_kept_once_fewer_are_wanted(store):
    for n in range(6):
        keeps(store, 5, name=f"Ada {n}")
    keeps(store, 2, name="Bo")

    assert numbers(store) == [5, 6]


def test_what_an_erase_leaves_out_keeps_no_older_one(store):
    for n in range(5):
        keeps(store, 3, name=f"Ada {n}", city="Graz" if n == 4 else "")
    store.run(working.erase(store.keys, "harold", lambda text: "Graz" in text))
    for n in range(4):
        keeps(store, 3, name=f"Bo {n}")

    assert len(numbers(store)) == 3
