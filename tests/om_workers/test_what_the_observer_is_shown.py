"""What the Observer is shown of earlier notes, and what becomes of a chunk in which nothing is worth noting."""

from world import World

from om_workers.llm.scripted import Scripted

NOTHING = "<observations>\n</observations>"


def note(number, mark="🟡"):
    return f"<observations>\nDate: Dec 4, 2025\n* {mark} (09:{number:02}) fact number {number}\n</observations>"


def shown(world):
    """What stands before the messages in the newest request."""
    return world.model.requests[-1].prompt.split("<messages>")[0]


def test_observations_in_force_and_chunks_that_wait_for_activation_are_shown(client, prefix):
    world = World(client, prefix)
    world.model = Scripted(*map(note, range(60)))
    for n in range(14):
        world.say(f"message {n}")
        world.settle()
    active, waiting = world.om.observations("harold"), world.om.stats("harold").ready_chunks

    assert active
    assert waiting
    assert all(f"fact number {n}\n" in shown(world) for n in range(len(active) + waiting - 1))


def test_of_many_notes_the_newest_are_shown_and_the_important_ones_before_them(client, prefix):
    world = World(client, prefix, observer__previous_tokens="80")
    world.model = Scripted(note(0, "🔴"), *map(note, range(1, 60)))
    for n in range(30):
        world.say(f"message {n}")
        world.settle()
    last = len(world.model.requests) - 1

    assert f"fact number {last - 1}" in shown(world)
    assert "🔴 (09:00) fact number 0" in shown(world)
    assert "observations truncated here]" in shown(world)
    assert "fact number 2\n" not in shown(world)


def test_nothing_worth_noting_covers_the_messages_and_nobody_is_asked_about_them_again(client, prefix):
    world = World(client, prefix)
    world.model = Scripted(*[NOTHING] * 9)
    ids = world.say("haha ok", "thanks!")
    world.om.force_observe(resource_id="harold")
    world.settle()
    asked = len(world.model.requests)
    world.settle()

    assert [name for each in world.om.observations("harold") for name in each.message_ids] == ids
    assert {each.text for each in world.om.observations("harold")} == {""}
    assert world.context().messages == []
    assert len(world.model.requests) == asked
