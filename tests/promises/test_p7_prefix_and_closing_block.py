"""P7: the prefix is stable between activations, and what closes a prompt is true."""

import pytest
from world import World

from om_api import Message
from om_workers.llm.scripted import Scripted


def _memory(context):
    return [
        block for block in context.blocks if block.kind in {"preamble", "reflection", "observations", "continuation"}
    ]


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_stable_blocks_only_grow_at_their_end_and_are_byte_identical_between_activations(client, prefix, scope):
    world = World(client, prefix, scope=scope, message_threshold="500")
    before, prefix_text = [], ""
    for n in range(25):
        world.say(f"message {n}")
        memory, observed = _memory(world.context()), [each.id for each in world.om.observations("harold", "t-1")]
        world.tick()
        context = world.context()
        if [each.id for each in context.observations] == observed and memory:
            assert [block.hash for block in _memory(context)] == [block.hash for block in memory]
        now = [block.hash for block in context.blocks if block.kind == "observations"]
        assert now[: len(before)] == before
        message = context.as_openai()[0]
        system = message["content"] if message["role"] == "system" else ""
        assert system.startswith(prefix_text)
        before, prefix_text = now, system
    assert len(before) >= 3


@pytest.mark.parametrize(("messages", "tokens"), [(11, 100), (110, 10), (4, 275)])
def test_a_burst_changes_the_prefix_once(client, prefix, messages, tokens):
    world = World(client, prefix)
    world.say(*(f"message {n}" for n in range(messages)), tokens=tokens)
    seen = {tuple(block.hash for block in _memory(world.context()))}
    for _ in range(30):
        world.claim()
        while world.dispatch.queue:
            world.perform(*world.next_task())
            seen.add(tuple(block.hash for block in _memory(world.context())))
    assert (len({each.activation for each in world.om.observations("harold")}), len(seen)) == (1, 2)
    assert world.om.stats("harold").observed_tokens >= 800


def test_notes_of_small_threads_share_a_block_that_totals_weigh_and_that_stays_until_one_is_cleared(client, prefix):
    world = World(client, prefix, tokenizer="o200k_base")
    for some in (range(12), range(12, 20), [0]):  # an activation each
        for n in some:
            world.say(f"the key of room {n} is under the mat", thread=f"t-{n}", timestamp=1763600000000 + n)
        before = [block.text for block in world.context("none").blocks if block.kind == "observations"]
        world.observe_now(None)
        context = world.context("none")
        shown = [block.text for block in context.blocks if block.kind == "observations"]
        assert shown[:-1] == before
    sent, counted = sum(map(world.services.count, shown)), world.om.record("harold").observation_tokens
    assert abs(sent - counted) <= 0.02 * sent, (sent, counted)
    assert counted == sum(block.tokens for block in context.blocks if block.kind == "observations")
    assert ["<thread" in text for text in shown] == [False, False, True]
    assert (shown[0].count("Date: "), shown[0].count("\n[t-")) == (1, 12)
    assert world.om.verify() == []

    world.om.clear("harold", "t-0")
    left = [block.text for block in world.context("none").blocks if block.kind == "observations"]
    rest = shown[0].partition("[t-1]\n")[2]  # the date line stands above the next thread's label
    assert (left[0].split("[t-1]\n")[1], left[1:]) == (rest, shown[1:2])
    assert "room 0 " not in "".join(left)
    assert left[0].count("Date: ") == 1


def answer(task=None, suggested=None):
    """An Observer's reply; None leaves the section out."""
    sections = [("current-task", task), ("suggested-response", suggested)]
    return "\n".join(["<observations>\n* 🟡 noted\n</observations>",
        *(f"<{n}>\n{text}\n</{n}>" for n, text in sections if text is not None)])  # fmt: skip


@pytest.fixture
def house(client, prefix):
    def make(*replies, **settings):
        return World(client, prefix, Scripted(*replies), **settings)

    return make


def say(world, text, role="user", thread="t-1", **fields):
    world.om.add_message(Message(role=role, content=text, thread_id=thread, resource_id="harold", tokens=100, **fields))


def closing(world, thread="t-1"):
    return world.context(thread).blocks[-1].text


def test_a_task_that_is_done_is_gone(house):
    """Catches what was seen: "Fix bug 7" stood there after "Bug 7 fixed; nothing is pending"."""
    done = ["none", "Primary: none\nSecondary: waiting for the user"]
    cut = answer() + "\n<current-task>\nPrimary: dep"  # an answer that was cut off leaves the task that stood
    world = house(*(each for none in done for each in (answer("Primary: Fix bug 7", "Ask"), cut, answer(none, none))))
    for none in done:
        for text in ("Please fix bug 7", "And how are you?"):
            say(world, text)
            world.observe_now()
            assert "Primary: Fix bug 7" in closing(world), none
        say(world, "Bug 7 is fixed; nothing is pending.", "assistant")
        world.observe_now()
        assert "Fix bug 7" not in closing(world), none
        assert "<current-task" not in closing(world), none
        assert "<suggested-response" not in closing(world), none


def test_a_suggestion_holds_until_the_actor_has_spoken_and_never_again(house):
    world = house(answer("Primary: Fix bug 7", "Ask for the log"), answer())
    say(world, "Please fix bug 7")
    world.observe_now()
    say(world, "Are you there?")
    assert "Ask for the log" in closing(world)
    say(world, "Can I have the log?", "assistant")
    assert "Ask for the log" not in closing(world)
    world.observe_now()
    assert not world.context().messages
    assert "Ask for the log" not in closing(world)
    assert "Primary: Fix bug 7" in closing(world)


def test_a_task_says_how_old_it_is_once_something_newer_was_observed(house):
    world = house(answer("Primary: Fix bug 7", "Ask for the log"), answer())
    say(world, "Please fix bug 7", id="m-1", timestamp=1763600000000)
    world.observe_now()
    assert "<current-task>\n" in closing(world)
    (state,) = world.om.threads("harold")
    assert (state.current_task_at, state.current_task_from) == (1763600000000, "m-1")
    assert (state.suggested_response_at, state.suggested_response_from) == (1763600000000, "m-1")
    say(world, "Hello from elsewhere", thread="t-2")
    world.observe_now("t-2")
    assert '<current-task noted="' in closing(world)
    assert "ago" in closing(world).partition("<current-task noted=")[2].partition(">")[0]


def test_a_context_is_bounded_while_nothing_is_observed_and_the_memory_keeps_what_has_no_room(client, prefix):
    world = World(client, prefix)
    said = world.say(*[f"message {n}" for n in range(60)])
    context = world.context()
    assert 1_500 <= sum(block.tokens for block in context.blocks if block.kind == "message") <= 2_000
    assert [message.id for message in context.messages] == said[context.omitted :]
    assert f"\n{context.omitted} messages stand between your notes and the first message above" in closing(world)
    assert world.covering() == sorted(said)
    assert len(world.context(max_tokens=100_000).messages) == 60
    wide = World(client, prefix, context_max_tokens="3000")
    assert 29 <= len(wide.context().messages) <= 30
    index, now = world.services.keys.due_observe.of("harold"), world.client.time()[0] * 1000
    assert world.client.zscore(index, "harold") < now
    world.settle()  # once observing goes on everything is shown again
    assert (world.context().omitted, "messages stand between" in closing(world)) == (0, False)
