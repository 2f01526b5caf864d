"""Which resources are looked at, and when; and since when nothing can be archived."""

from om_api.store.archiving import archivable


def test_what_is_due_comes_first_the_longest(store):
    store.run(archivable.expect(store.keys, ["late"], 20))
    store.run(archivable.expect(store.keys, ["early", "later"], 10))
    store.run(archivable.expect(store.keys, ["never"], 10**15))

    assert store.run(archivable.due(store.keys, 30, 2)) == ["early", "later"]
    assert store.run(archivable.due(store.keys, 30, 9)) == ["early", "later", "late"]


def test_who_is_expected_already_is_not_put_off(store):
    store.run(archivable.expect(store.keys, ["harold"], 10))
    store.run(archivable.expect(store.keys, ["harold"], 99))
    store.run(archivable.expect(store.keys, [], 99))

    assert store.run(archivable.due(store.keys, 10, 9)) == ["harold"]


def test_who_was_looked_at_comes_again_when_it_was_said_or_never(store):
    store.run(archivable.expect(store.keys, ["harold", "albert"], 10))
    store.run(archivable.looked(store.keys, {"harold": 50, "albert": None}))

    assert store.run(archivable.due(store.keys, 49, 9)) == []
    assert store.run(archivable.due(store.keys, 50, 9)) == ["harold"]
    assert not store.client.zscore(store.keys.archivable, "albert")


def test_a_fault_is_told_since_it_began_until_it_is_over(store):
    store.run(archivable.failed(store.keys, "the disk is full"))
    since = store.run(archivable.fault(store.keys)).since
    store.run(archivable.failed(store.keys, "it cannot be reached"))
    found = store.run(archivable.backlog(store.keys)).fault

    assert (found.since, found.why) == (since, "it cannot be reached")
    store.run(archivable.recovered(store.keys))
    assert store.run(archivable.fault(store.keys)) is None


def test_how_far_archiving_is_behind(store):
    assert store.run(archivable.backlog(store.keys)) == archivable.ArchiveBacklog(0, 0, None)

    now = int(store.client.time()[0]) * 1000
    store.run(archivable.expect(store.keys, ["harold"], now - 60_000))
    store.run(archivable.expect(store.keys, ["albert"], now + 3_600_000))
    found = store.run(archivable.backlog(store.keys))

    assert found.due == 1
    assert 60_000 <= found.behind_ms < 120_000
