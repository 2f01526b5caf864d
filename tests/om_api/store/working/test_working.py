"""Working memories in the store: how many former versions are kept."""

from scene import keeps

from om_api.store.working import working


def numbers(store):
    return [each.version for each in store.run(working.versions(store.keys, "harold", ""))]


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
