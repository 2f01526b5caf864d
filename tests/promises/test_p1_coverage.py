"""P1: at every instant every accepted message is covered exactly once, raw or through exactly one observation."""


def test_every_message_is_covered_exactly_once_at_every_look(world):
    said = []
    for n in range(30):
        said += world.say(f"message {n}")
        assert world.covering() == sorted(said)
        world.tick()
        assert world.covering() == sorted(said)
        context = world.context()
        text, raw = context.text, [message.id for message in context.messages]
        assert all((name in raw) + text.count(f"[{name}]") == 1 for name in said)
    assert len(world.om.observations("harold")) > 3
