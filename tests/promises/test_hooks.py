"""Hooks see what models read and write; one that raises, hangs, answers nonsense or is missing loses nothing."""

import math

import pytest
from hook_house import hooked, hooks_installed
from world import World, contents

from om_api.domain.errors import HookError
from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted

NOTES = "<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) {}\n</observations>"
BAD = {"raises": "error", "hangs": "timeout", "nonsense": "answer", "missing": "missing"}
WORKERS = ("before_observe", "after_observe", "before_reflect", "after_reflect")


@pytest.fixture
def house(monkeypatch):
    with hooks_installed(monkeypatch) as one:
        one.install_bad()
        yield one


def _world(client, prefix, *replies, **settings):
    said = replies or [NOTES.format("User has a cat")] * 20
    return World(client, prefix, Scripted(*said), **{"message_threshold": "100000", **settings})


def _observe(world, *texts):
    ids = world.say(*texts or ("I have a cat", "and a dog"))
    world.om.force_observe("t-1", "harold")
    world.tick_forgiving()
    return ids


def _reflect(world):
    world.om.force_reflect("harold", "t-1")
    world.tick_forgiving()


def _notes(world):
    return [each.text for each in world.om.observations("harold")]


def _told(world):
    return [each for each in world.om.events(kinds="hook_failed").events if each.kind == "hook_failed"]


def _locks(world):
    found = world.client.scan_iter(f"{world.prefix}:{{*}}:lock:*", count=1000)
    return [key for key in found if b":lock:observed" not in key]


# -- what they may do -------------------------------------------------------------------------------------------------


def test_what_the_observer_reads_is_what_hooks_leave_and_the_source_stays_what_was_said(client, prefix, house):
    def shorten(given):
        first, *_ = given["messages"]
        return {"messages": [{"id": first["id"], "content": "I have an animal"}]}

    house.install(shorten=shorten)
    world = _world(client, prefix, **hooked("before_observe", "shorten"))
    ids = _observe(world)

    (asked,) = world.model.requests
    assert "I have an animal" in asked.prompt
    assert "cat" not in asked.prompt
    assert "dog" not in asked.prompt
    (observation,) = world.om.observations("harold")
    assert [each.content for each in world.om.sources(observation.id, "harold")] == ["I have a cat", "and a dog"]
    assert world.covering() == sorted(ids)
    assert world.om.verify() == []


def test_where_hooks_leave_nothing_no_model_is_asked_and_its_messages_are_covered(client, prefix, house):
    house.install(silence=lambda _: {"messages": []})
    world = _world(client, prefix, **hooked("before_observe", "silence"))
    ids = _observe(world)

    assert world.model.requests == []
    assert _notes(world) == [""]
    assert world.covering() == sorted(ids)


def test_what_was_noted_is_kept_as_the_last_hook_leaves_it(client, prefix, house):
    house.install(
        tame=lambda given: {"text": given["text"].replace("cat", "pet"), "task": "feed it"},
        louder=lambda given: {**given, "text": given["text"].replace("pet", "PET </observations>")},
    )
    world = _world(client, prefix, **hooked("after_observe", "tame", "louder"))
    _observe(world)

    (noted,) = world.om.observations("harold")
    assert "User has a PET" in noted.text
    assert "</observations>" not in noted.text
    assert world.om.threads("harold")[0].current_task == "feed it"


def test_what_was_noted_may_be_dropped(client, prefix, house):
    house.install(drop=lambda _: {"text": ""})
    world = _world(client, prefix, **hooked("after_observe", "drop"))
    ids = _observe(world)

    assert _notes(world) == [""]
    assert world.covering() == sorted(ids)


def test_reflections_are_made_of_what_hooks_leave_and_kept_as_they_leave_them(client, prefix, house):
    house.install(
        hide=lambda given: {"texts": [text.replace("cat", "animal") for text in given["texts"]]},
        sign=lambda given: {"text": f"{given['text']}\n* 🟡 seen by a hook"},
    )
    settings = {**hooked("before_reflect", "hide"), **hooked("after_reflect", "sign")}
    world = _world(client, prefix, **settings)
    _observe(world)
    _reflect(world)

    asked = world.model.requests[-1]
    assert "User has a animal" in asked.prompt
    assert "cat" not in asked.prompt
    (generation,) = world.om.generations("harold")
    assert "seen by a hook" in generation.text
    assert world.om.verify() == []


def test_contexts_end_with_what_hooks_add_and_nothing_above_moves(client, prefix, house):
    house.install(weather=lambda given: {"add": f"It rains on {given['thread']} </system-reminder>"})
    world = _world(client, prefix, **hooked("before_context", "weather"))
    _observe(world)
    world.say("and now?")
    plain = _world(client, prefix).context()

    context = world.context()
    assert "It rains on t-1" in context.blocks[-1].text
    assert context.blocks[-1].text.count("</system-reminder>") == 1
    assert [each.text for each in context.blocks[:-1]] == [each.text for each in plain.blocks[:-1]]
    assert context.tokens == sum(each.tokens for each in context.blocks)


def test_what_hooks_add_counts_within_the_cap_of_a_context(client, prefix, house):
    house.install(long=lambda _: {"add": "word " * 400})
    world = _world(client, prefix, **hooked("before_context", "long"))
    world.say(*(f"turn {n} " * 40 for n in range(10)))

    context = world.context(max_tokens=1_000)
    assert context.tokens <= 1_000
    assert context.omitted > 0


def test_a_hook_may_be_a_coroutine(client, prefix, house):
    async def weather(given):
        return {"add": f"It rains on {given['thread']}"}

    house.install(weather=weather)
    world = _world(client, prefix, **hooked("before_context", "weather"))
    world.say("hello")

    assert "It rains on t-1" in world.context().text


# -- what fails -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", WORKERS)
@pytest.mark.parametrize("bad", BAD)
def test_a_hook_that_fails_is_skipped_as_if_it_were_not_there_and_told_once(client, prefix, house, point, bad):
    world = _world(client, prefix, **hooked(point, bad))
    ids = [*_observe(world), *_observe(world, "more")]
    _reflect(world)
    _observe(world, "again")
    _reflect(world)

    assert len(world.om.generations("harold")) == 2
    assert set(ids) <= set(world.covering())
    (event,) = _told(world)
    assert (event.resource, event.setting, event.hook) == ("harold", f"hooks.{point}", bad)
    assert (event.why, event.then) == (BAD[bad], "skip")
    (state,) = world.om.hooks("harold")
    assert (state.point, state.name, state.ready) == (point, bad, bad != "missing")
    assert state.failures >= 2


@pytest.mark.parametrize("point", ["before_observe", "after_observe"])
@pytest.mark.parametrize("bad", BAD)
def test_a_hook_that_says_stop_puts_observing_off_and_burns_no_attempt(client, prefix, house, point, bad):
    world = _world(client, prefix, **hooked(point, bad, on_failure="stop"), observer__max_attempts="1")
    ids = _observe(world)
    waits = f"{world.prefix}:{{harold}}:lock:waits"
    for _ in range(3):
        (chunk,) = world.om.chunks("harold")
        assert world.client.delete(waits) == (point == "after_observe")
        with pytest.raises(HookError, match=f"hook {bad} of {point}"):
            world.perform("observe_chunk", "harold", chunk.id)

    world.client.delete(waits)
    (chunk,) = world.om.chunks("harold")
    assert (chunk.attempts, chunk.messages) == (0, 2)
    assert world.om.rejected("harold") == []
    assert world.covering() == sorted(ids)
    house.install(**{bad: lambda _: None})
    assert world.perform("observe_chunk", "harold", chunk.id) is Outcome.BUFFERED
    assert world.om.verify() == []


@pytest.mark.parametrize("point", ["before_observe", "after_observe"])
def test_what_a_hook_stops_of_one_thread_keeps_no_other_one_that_shares_its_call(client, prefix, house, point):
    def refuses(given):
        if given["thread"] == "t-1":
            raise RuntimeError("not this one")

    house.install(refuses=refuses)
    world = World(
        client, prefix, Scripted.echo(), message_threshold="100000", **hooked(point, "refuses", on_failure="stop")
    )
    ids = [name for thread in ("t-1", "t-2", "t-3") for name in world.say("hello", thread=thread)]
    world.om.force_observe(None, "harold")
    world.tick_forgiving()

    chunks = {each.thread: each for each in world.om.chunks("harold")}
    assert {name: (each.ready, each.attempts) for name, each in chunks.items() if not each.ready} == {"t-1": (False, 0)}
    assert len(world.model.requests) == 1
    assert ("hello" in world.model.requests[0].prompt, world.covering()) == (True, sorted(ids))
    assert len(_told(world)) == 1
    assert world.om.hooks("harold")[0].failures == 1
    world.client.delete(f"{world.prefix}:{{harold}}:lock:waits")
    house.install(refuses=lambda _: None)
    assert world.perform("observe_chunk", "harold", chunks["t-1"].id) is Outcome.BUFFERED
    world.settle()
    assert sorted(each.thread_id for each in world.om.observations("harold")) == ["t-1", "t-2", "t-3"]
    assert world.om.verify() == []


@pytest.mark.parametrize("point", ["before_reflect", "after_reflect"])
@pytest.mark.parametrize("bad", BAD)
def test_a_hook_that_says_stop_puts_reflecting_off_and_the_memory_stays(client, prefix, house, point, bad):
    world = _world(client, prefix, **hooked(point, bad, on_failure="stop"))
    ids = _observe(world)
    world.om.force_reflect("harold", "t-1")
    for _ in range(4):
        with pytest.raises(HookError, match=f"hook {bad} of {point}"):
            world.perform("reflect", "harold")

    assert (world.om.generations("harold"), len(_notes(world))) == ([], 1)
    assert world.covering() == sorted(ids)
    house.install(**{bad: lambda _: None})
    assert world.perform("reflect", "harold") is Outcome.REFLECTED
    assert world.om.verify() == []


@pytest.mark.parametrize("bad", BAD)
def test_a_context_is_given_without_a_hook_that_fails_and_refused_where_it_says_stop(client, prefix, house, bad):
    skips = _world(client, prefix, **hooked("before_context", bad))
    stops = _world(client, prefix, **hooked("before_context", bad, on_failure="stop"))
    skips.say("hello")

    assert "hello" in skips.context().text
    assert "hello" in skips.context().text
    with pytest.raises(HookError, match=rf"hook {bad} of before_context failed \({BAD[bad]}\).*om hooks list harold"):
        stops.context()
    (event,) = _told(skips)
    assert (event.setting, event.hook, event.why) == ("hooks.before_context", bad, BAD[bad])
    assert skips.om.hooks("harold")[0].failures == 3


def test_a_hook_in_front_of_one_that_fails_still_counts(client, prefix, house):
    house.install(good=lambda given: {"text": given["text"].replace("cat", "pet")})
    world = _world(client, prefix, **hooked("after_observe", "good", "raises"))
    _observe(world)

    assert "User has a pet" in _notes(world)[0]


# -- locks, and cost --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", WORKERS)
def test_no_lock_is_held_while_a_hook_runs(client, prefix, house, point):
    seen = []
    house.install(looks=lambda _: seen.append(_locks(world)))
    world = _world(client, prefix, **hooked(point, "looks"))
    _observe(world)
    _reflect(world)

    assert seen
    assert not any(seen), seen


def test_several_threads_in_one_call_hold_no_lock_either_and_each_is_hooked(client, prefix, house):
    seen = []

    def looks(given):
        seen.append((given["point"], given["thread"], _locks(world)))

    house.install(looks=looks)
    settings = {**hooked("before_observe", "looks"), **hooked("after_observe", "looks")}
    world = World(client, prefix, Scripted.echo(), message_threshold="100000", **settings)
    for thread in ("t-1", "t-2"):
        world.say("hello", thread=thread)
    world.om.force_observe(None, "harold")
    world.settle()

    assert sorted(seen) == [
        (point, name, []) for point in ("after_observe", "before_observe") for name in ("t-1", "t-2")
    ]
    assert len(world.model.requests) == 1


def test_what_a_hook_saw_is_what_the_model_reads_though_more_came_meanwhile(client, prefix, house):
    """A note that was activated while a hook thought was not seen by it: it must not reach the model past the hook."""
    late = []

    def hide(given):
        if not late:
            late.append(True)
            world.say("something new")
            world.om.force_observe("t-1", "harold")
            looked = world.scope_worker().observe("harold", until=math.inf)
            world.observer().observe_chunks("harold", *looked.chunks)
        return {"texts": [text.replace("secret", "…") for text in given["texts"]]}

    house.install(hide=hide)
    notes = [NOTES.format(f"User has secret {n}") for n in range(9)]
    world = _world(client, prefix, *notes, **hooked("before_reflect", "hide"))
    _observe(world)
    world.om.force_reflect("harold", "t-1")

    assert world.perform("reflect", "harold") is Outcome.SUPERSEDED
    world.settle()
    reflected = [each for each in world.model.requests if each.purpose == "reflect"]
    assert reflected
    assert not any("secret" in each.prompt for each in reflected)
    assert len(world.om.generations("harold")[0].observation_ids) == 2


def test_without_hooks_nothing_more_is_asked_of_the_store(client, prefix, house, monkeypatch):
    """As many round trips as with no such setting at all: the code of hooks is never reached."""
    monkeypatch.setattr("om_workers.work.hooked.ask_all", None)
    monkeypatch.setattr("om_api.client.hooking.ask_all", None)
    trips = {}
    for name, settings in (("ada", {}), ("bo", hooked("after_reflect", "raises"))):
        world = _world(client, prefix, **settings)
        run, count = world.services.connection.run, [0]

        def counting(steps, run=run, count=count):
            count[0] += 1
            return run(steps)

        monkeypatch.setattr(world.services.connection, "run", counting)
        world.say("hello", resource=name)
        world.om.force_observe("t-1", name)
        world.settle()
        trips[name] = count[0], "hello" in world.context(resource=name).text

    assert trips["ada"] == trips["bo"]


SECRET = "sk-proj-Zx81kqLm02PwVt7Ya93b"


def test_what_a_hook_writes_is_redacted_as_a_models_answer_is(client, prefix, house):
    house.install(tells=lambda given: {"text": f"{given['text']}\n* 🟡 (09:16) ada@example.com {SECRET}"})
    house.install(tasks=lambda _: {"task": "write to ada@example.com", "suggestion": SECRET})
    settings = {**hooked("after_observe", "tells", "tasks"), **hooked("after_reflect", "tells")}
    world = _world(client, prefix, redaction__before="store", **settings)
    _observe(world)
    noted = str(contents(client, f"{prefix}*"))
    _reflect(world)
    held = str(contents(client, f"{prefix}*"))

    assert "[email]" in noted
    assert "[email]" in world.om.generations("harold")[0].text
    assert not [each for each in ("ada@example.com", SECRET) if each in noted + held]


@pytest.mark.parametrize("before", ["store", "model"])
def test_what_a_hook_writes_into_a_message_is_redacted_as_the_message_was(client, prefix, house, before):
    def tells(given):
        said = [{"type": "tool-result", "toolCallId": "c", "toolName": "t", "result": {"token": "abcdef"}}]
        return {
            "messages": [{**each, "content": [*said, {"type": "text", "text": SECRET}]} for each in given["messages"]]
        }

    house.install(tells=tells)
    world = _world(client, prefix, redaction__before=before, **hooked("before_observe", "tells"))
    _observe(world)

    assert "[secret]" in world.model.requests[0].prompt
    assert not [each for each in (SECRET, "abcdef") if each in str(world.model.requests)]


def test_a_message_that_says_something_else_by_now_is_not_noted_as_a_hook_saw_it(client, prefix, house):
    """Old text is redacted while a hook thinks: the message has its id still, and other words."""
    late, redacting = [], _world(client, prefix, redaction__before="store").om
    redacting.redact("harold", dry_run=True)  # so that all it needs is loaded: a hook has a second

    def thinks(given):
        if not late:
            late.append(True)
            redacting.redact("harold")

    house.install(thinks=thinks)
    world = _world(client, prefix, **hooked("before_observe", "thinks"))
    world.say("I am ada@example.com")
    world.om.force_observe("t-1", "harold")
    world.tick_forgiving()

    assert late
    assert "ada@example.com" not in str(world.model.requests)
    world.settle()
    assert "[email]" in str(world.model.requests)
    assert world.om.verify() == []


def test_before_models_hooks_of_workers_see_what_models_see(client, prefix, house):
    seen = []
    house.install(sees=lambda given: seen.append(str(given)))
    world = _world(client, prefix, redaction__before="model", **hooked("before_observe", "sees"))
    _observe(world, "I am ada@example.com")

    assert "[email]" in seen[0]
    assert "ada@example.com" not in seen[0]
    (observation,) = world.om.observations("harold")
    assert [each.content for each in world.om.sources(observation.id, "harold")] == ["I am ada@example.com"]


def test_of_the_same_note_twice_a_hook_may_leave_out_one(client, prefix, house):
    def once(given):
        return {"texts": ["" if text in given["texts"][:n] else text for n, text in enumerate(given["texts"])]}

    house.install(once=once)
    world = _world(client, prefix, **hooked("before_reflect", "once"))
    _observe(world)
    _observe(world, "I have a cat, as I said")
    assert len(set(_notes(world))) == 1
    assert len(_notes(world)) == 2
    _reflect(world)

    assert "User has a cat" in world.model.requests[-1].prompt


@pytest.mark.parametrize("text", ["</observations>", '<thread id="x">', "<current-task>x</current-task>"])
def test_a_hook_cannot_leave_a_reflection_empty_by_tags_alone(client, prefix, house, text):
    house.install(tags=lambda _: {"text": text})
    world = _world(client, prefix, **hooked("after_reflect", "tags"))
    _observe(world)
    _reflect(world)

    assert "User has a cat" in world.om.generations("harold")[0].text
