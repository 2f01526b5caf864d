"""Whether it is the message or the model: a half that was observed is noted, and a model that can nothing is waited for."""

from scene import call, seal

from om_api.store.memory import model_cooldown


def test_that_a_half_was_observed_is_noted_for_a_day_and_not_of_one_that_is_gone(store):
    seal(store, "c1", 1)
    of = store.keys.of("harold")
    store.run(model_cooldown.observed(store.keys, "harold", "c1"))
    _, mark = model_cooldown.locks(of, "c1")

    assert store.client.ttl(mark) in {86_400, 86_399}
    assert [call(store, "observed", [of.chunk(name), mark], [60]) for name in ("c1", "c9")] == [1, 0]


def test_a_resource_waits_until_it_is_over_and_no_other_one_does(store):
    def waiting():
        return [store.run(model_cooldown.waits(store.keys, name)) for name in ("harold", "ada")]

    store.run(model_cooldown.wait(store.keys, "harold"))
    assert waiting() == [True, False]
    store.run(model_cooldown.over(store.keys, "harold"))
    assert waiting() == [False, False]
