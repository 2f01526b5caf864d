"""P7, the closing block: a task and a suggestion stand there while they hold, and what has no room is owned up to."""

import pytest
from world import World

from om_api import Message
from om_workers.llm.scripted import Scripted


def answer(task=None, suggested=None):
    """An Observer's reply; None leaves the section out."""
    sections = [("current-task", task), ("suggested-response", suggested)]
    return "\n".join(
        [
            "<observations>\n* 🟡 noted\n</observations>",
            *(f"<{n}>\n{text}\n</{n}>" for n, text in sections if text is not None),
        ]
    )


@pytest.fixture
def house(client, prefix):
    def make(*replies, **settings):
        return World(client, prefix, Scripted(*replies), **settings)

    return make


def say(world, text, role="user", thread="t-1", **fields):
    world.om.add_message(Message(role=role, content=text, thread_id=thread, resource_id="harold", tokens=100, **fields))


def observe(world, thread="t-1"):
    world.om.force_observe(thread, "harold")
    world.settle()


def closing(world, thread="t-1"):
    return world.context(thread).blocks[-1].text


@pytest.mark.parametrize("none", ["none", "", "n/a", "Primary: none\nSecondary: waiting for the user"])
def test_a_task_that_is_done_is_gone(house, none):
    """Catches what was seen: "Fix bug 7" stood there after "Bug 7 fixed; nothing is pending"."""
    world = house(answer("Primary: Fix bug 7", "Ask for the log"), answer(none, none))
    say(world, "Please fix bug 7")
    observe(world)
    assert "Fix bug 7" in closing(world)

    say(world, "Bug 7 is fixed; nothing is pending.", "assistant")
    observe(world)
    assert "Fix bug 7" not in closing(world)
    assert "<current-task" not in closing(world)
    assert "<suggested-response" not in closing(world)


def test_an_answer_that_was_cut_off_leaves_the_task_that_stood(house):
    world = house(answer("Primary: Fix bug 7"), answer() + "\n<current-task>\nPrimary: dep")
    say(world, "Please fix bug 7")
    observe(world)
    say(world, "And how are you?")
    observe(world)

    assert "Primary: Fix bug 7" in closing(world)


def test_a_suggestion_holds_until_the_actor_has_spoken_and_never_again(house):
    world = house(answer("Primary: Fix bug 7", "Ask for the log"), answer())
    say(world, "Please fix bug 7")
    observe(world)
    say(world, "Are you there?")
    assert "Ask for the log" in closing(world)

    say(world, "Can I have the log?", "assistant")
    assert "Ask for the log" not in closing(world)
    observe(world)
    assert not world.context().messages
    assert "Ask for the log" not in closing(world)
    assert "Primary: Fix bug 7" in closing(world)


def test_what_was_observed_ahead_of_need_suggests_nothing(house):
    """The chunks of a full window were noted while the talk went on: what they suggest was for an earlier turn."""
    world = house(*[answer(f"Primary: step {n}", f"Say {n}") for n in range(20)])
    for n in range(10):
        say(world, f"message {n}")
        world.tick()
    context = world.context()

    assert context.observations
    assert context.messages
    assert "Primary: step" in closing(world)
    assert "<suggested-response" not in closing(world)


def test_a_task_says_how_old_it_is_once_something_newer_was_observed(house):
    world = house(answer("Primary: Fix bug 7"), answer())
    say(world, "Please fix bug 7", timestamp=1763600000000)
    observe(world)
    assert "<current-task>\n" in closing(world)

    say(world, "Hello from elsewhere", thread="t-2")
    observe(world, "t-2")
    assert '<current-task noted="' in closing(world)
    assert "ago" in closing(world).partition("<current-task noted=")[2].partition(">")[0]


def test_a_task_and_a_suggestion_name_the_message_they_were_noted_from(house):
    world = house(answer("Primary: Fix bug 7", "Ask for the log"))
    say(world, "Please fix bug 7", id="m-1", timestamp=1763600000000)
    observe(world)
    (state,) = world.om.threads("harold")

    assert (state.current_task_at, state.current_task_from) == (1763600000000, "m-1")
    assert (state.suggested_response_at, state.suggested_response_from) == (1763600000000, "m-1")


def test_a_context_is_bounded_while_nothing_is_observed_and_the_memory_keeps_what_has_no_room(house):
    world = house()
    said = world.say(*[f"message {n}" for n in range(60)])
    context = world.context()

    assert 1_500 <= sum(block.tokens for block in context.blocks if block.kind == "message") <= 2_000
    assert [message.id for message in context.messages] == said[context.omitted :]
    assert f"\n{context.omitted} messages stand between your notes and the first message above" in closing(world)
    assert world.covering() == sorted(said)
    assert len(world.context(max_tokens=100_000).messages) == 60
    index, now = world.services.keys.due_observe.of("harold"), world.client.time()[0] * 1000
    urgent = world.client.zscore(index, "harold")
    assert urgent < now


@pytest.mark.parametrize(("setting", "shown"), [("null", 60), ("3000", 30), ("auto", 20)])
def test_how_much_a_context_may_hold_is_a_setting(house, setting, shown):
    world = house(context_max_tokens=setting)
    world.say(*[f"message {n}" for n in range(60)])

    assert shown - 1 <= len(world.context().messages) <= shown


def test_a_shared_budget_gives_raw_messages_twice_the_room_it_gives_them(house):
    world = house(share_token_budget="true")  # of 1,000 and 4,000 tokens
    world.say(*[f"message {n}" for n in range(100)])

    assert world.context().omitted == 0
    world.say(*[f"more {n}" for n in range(10)])
    assert world.context().omitted > 0


def test_what_is_shown_begins_with_the_same_message_for_many_turns(house):
    world = house()
    world.say(*[f"message {n}" for n in range(30)])
    begins = []
    for n in range(20):
        world.say(f"more {n}")
        begins.append(world.context().messages[0].content)

    assert len(set(begins)) <= 5


def test_once_observing_goes_on_everything_is_shown_again(client, prefix):
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(60)])
    assert world.context().omitted

    world.settle()
    context = world.context()
    assert context.omitted == 0
    assert "messages stand between" not in closing(world)
    assert sorted({name for one in context.observations for name in one.message_ids}) == sorted(
        set(world.covering()) - {message.id for message in context.messages}
    )
