"""P2: an observation once stored is never dropped unless a committed reflection covers it, or its owner clears it."""

from world import World


def test_every_stored_observation_stays_until_a_generation_names_it(client, prefix):
    limits = {"message_threshold": "400", "observation_threshold": "150", "reflection__drain": "false"}
    world, stored = World(client, prefix, **limits), set()
    for n in range(40):
        world.say(f"message {n}")
        world.tick()
        live = {observation.id for observation in world.om.observations("harold")}
        reflected = {name for generation in world.om.generations("harold") for name in generation.observation_ids}
        stored |= live
        assert stored == live | (stored & reflected)
    assert len(world.om.generations("harold")) >= 2


def test_what_a_generation_replaced_can_still_be_read_with_its_sources(world):
    said = world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    world.reflect_now()
    (era,) = world.om.history("harold")
    assert era.generation.observation_ids == tuple(observation.id for observation in era.replaced)
    sources = [message.id for observation in era.replaced for message in world.om.sources(observation.id, "harold")]
    assert sources == said[: len(sources)]
