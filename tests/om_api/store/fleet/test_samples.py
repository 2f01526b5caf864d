"""Samples are taken once in a step, kept in bounds, and of an agent only where something changed."""

from om_api.store.fleet import samples
from om_api.store.fleet.samples import HOUR, TEN_MINUTES, Sampled, TierSample

NOW = 1_790_000_123_456
SLOT = NOW // 600_000 * 600_000
ONE, TWO = TierSample(messages=1), TierSample(messages=2, micros=7)


def add(store, now, taken, steps=(TEN_MINUTES,)):
    store.run(samples.add(store.keys, steps, now, taken))


def between(store, since, resource=None, step=TEN_MINUTES):
    return store.run(samples.between(store.keys, step, resource, since))


def test_of_several_who_would_take_a_sample_in_a_step_one_does(store):
    hour = NOW // 3_600_000 * 3_600_000
    assert store.run(samples.due(store.keys, hour)) == (TEN_MINUTES, HOUR)
    assert store.run(samples.due(store.keys, hour + 599_999)) == ()
    assert store.run(samples.due(store.keys, hour + 600_000)) == (TEN_MINUTES,)


def test_of_an_agent_only_changes_are_written_and_of_all_together_every_step(store):
    for n, sample in enumerate((ONE, ONE, TWO, TWO)):
        add(store, NOW + 600_000 * n, {None: ONE, "harold": sample})

    assert [each.at for each in between(store, 0)] == [SLOT + 600_000 * n for n in range(4)]
    assert between(store, 0, "harold") == [Sampled(SLOT, ONE), Sampled(SLOT + 1_200_000, TWO)]


def test_a_stream_holds_so_many_samples_and_ends(store, monkeypatch):
    monkeypatch.setitem(samples.KEPT, TEN_MINUTES, 100)
    for n in range(350):
        add(store, NOW + 600_000 * n, {None: ONE})

    assert 100 <= store.client.xlen(store.keys.series(TEN_MINUTES)) < 250
    assert store.client.ttl(store.keys.series(TEN_MINUTES)) > 0


def test_a_sample_is_read_by_the_beginning_of_its_step_and_foreign_entries_are_passed_over(store):
    key = store.keys.series(TEN_MINUTES)
    store.client.xadd(key, {"messages": "many"}, id="5-0")
    store.client.xadd(key, {b"\xff": 1}, id="6-0")
    store.client.expire(key, 60)
    add(store, NOW, {None: TWO, "harold": ONE}, (TEN_MINUTES, HOUR))

    assert between(store, 0) == between(store, 1) == [Sampled(SLOT, TWO)]
    assert between(store, 0, "harold") == [Sampled(SLOT, ONE)]
    assert between(store, 0, "harold", HOUR) == [Sampled(NOW // 3_600_000 * 3_600_000, ONE)]
    assert between(store, 0, "nobody") == []
