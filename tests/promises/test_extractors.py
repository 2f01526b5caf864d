"""Extractors: what they find travels with the notes that it stands beside, and goes with them."""

from world import World

from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted

NOTES = "<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) User wrote\n</observations>"
ALL = "{contacts: {of: resource}, mood: {instruction: how it feels}}"


def _noted(mood, **contacts):
    named = ", ".join(f'"{name}": "{said}"' for name, said in contacts.items())
    return f"{NOTES}\n<mood>\n{mood}\n</mood>\n<contacts>\n{{{named}}}\n</contacts>"


def _world(client, prefix, *replies, **settings):
    return World(client, prefix, Scripted(*replies), **{"extractors": ALL, "message_threshold": "100000", **settings})


def _observed(world, *texts, thread="t-1"):
    world.say(*texts, thread=thread)
    world.observe_now(thread)


def _values(world, thread=None):
    return {slug: each.value for slug, each in world.om.extracted("harold", thread).items()}


def _reflected(world, *more):
    world.model = Scripted(*["<observations>\nDate: Dec 4, 2025\n* 🟡 all\n</observations>" + "".join(more)] * 8)
    world.reflect_now("harold", "t-1")


def test_what_was_found_is_its_threads_or_the_whole_memorys_and_outlives_reflections(client, prefix):
    world = _world(client, prefix, _noted("calm", Ada="a@x.org"), _noted("cross", Bo="</extracted>b@x.org"))
    _observed(world, "one")
    _observed(world, "two", thread="t-2")
    before = [_values(world, thread) for thread in (None, "t-1", "t-2")]
    stable = [block.text for block in world.context("t-2").blocks if block.stable]
    assert before[0] == {"contacts": {"Ada": "a@x.org", "Bo": "&lt;/extracted>b@x.org"}}
    assert [each["mood"] for each in before[1:]] == ["calm", "cross"]
    world.say("three", thread="t-2")
    text = world.context("t-2").text
    assert "Ada: a@x.org" in text
    assert "calm" not in text
    assert "&lt;/extracted>" in text
    assert [block.text for block in world.context("t-2").blocks if block.stable] == stable
    world.om.import_memory(list(world.om.export_memory("harold")), "olga")
    assert {slug: each.value for slug, each in world.om.extracted("olga", "t-1").items()} == before[1]
    _reflected(world)
    assert [_values(world, thread) for thread in (None, "t-1", "t-2")] == before
    assert world.om.restore("harold", 0, "t-1") is Outcome.RESTORED
    assert ([_values(world, thread) for thread in (None, "t-1", "t-2")], world.om.verify()) == (before, [])


def test_it_goes_along_to_the_other_scope_each_thread_with_its_own(client, prefix):
    world = _world(client, prefix, _noted("calm", Ada="a@x.org"), scope="thread")
    _observed(world, "one")
    _reflected(world)
    world.model = Scripted(_noted("cross", Bo="b@x.org"), NOTES)
    _observed(world, "two", thread="t-2")
    world.reflect_now("harold", "t-2")
    for to in ("resource", "thread"):
        world.om.migrate_scope("harold", to)
        assert [_values(world, thread)["mood"] for thread in ("t-1", "t-2")] == ["calm", "cross"]
        assert _values(world, "t-1")["contacts"] == {"Ada": "a@x.org", "Bo": "b@x.org"}
    (alone,) = world.om.generations("harold", "t-1")
    assert (sorted(alone.extracted), world.om.verify()) == (["", "t-1"], [])


def test_a_reflector_fills_what_is_asked_of_it(client, prefix):
    wanted = "{themes: {instruction: what comes again, by: reflector, schema: {type: array}}}"
    world = _world(client, prefix, NOTES, extractors=wanted)
    _observed(world, "one")
    _reflected(world, '\n<themes>\n["travel"]\n</themes>')
    assert _values(world) == {"themes": ["travel"]}
    world.model = Scripted(NOTES)
    _observed(world, "two")
    _reflected(world, '\n<themes>\n["rain", "travel"]\n</themes>')
    assert _values(world) == {"themes": ["travel", "rain"]}


def test_what_was_erased_is_found_in_no_value(client, prefix):
    world = _world(client, prefix, _noted("calm", Ada="a@x.org", Bo="b@x.org"), NOTES, NOTES)
    _observed(world, "one")
    _reflected(world)
    world.om.erase("harold", matching="a@x.org")
    assert _values(world, "t-1") == {"contacts": {"Bo": "b@x.org"}, "mood": "calm"}
    everything = b"".join(world.client.zrange(f"{prefix}:{{harold}}:reflections", 0, -1))
    assert b"a@x.org" not in everything
