"""With redaction on, what was planted comes out nowhere: in no span, at no hook, from no error, by no way that text takes."""

import json
import logging

import pytest
from hook_house import hooked, hooks_installed
from planted import ALL, KEY, PASSWORD, as_json, leaks, store_bytes
from traced import traced
from world import World

from om_api.domain.errors import HookError, ModelError, OMError
from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted

TEMPLATE = "- **Name**: what they are called\n- **Password**: what opens their door\n- **Contact**: how to reach them"
NOTES = f"<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) {ALL}\n</observations>"


@pytest.fixture(params=["store", "model"])
def before(request):
    return request.param


def _world(client, prefix, model=None, **settings):
    usual = {"redaction__before": "store", "working_memory__template": TEMPLATE}
    return World(client, prefix, model, **{**usual, **settings})


def _observed(world, thread="t-1", resource="harold"):
    world.observe_now(thread, resource)
    world.reflect_now(resource)


def _nowhere(world, *more):
    told = store_bytes(world.client, world.prefix), as_json(world.om.events()), repr(world.model.requests)
    return leaks(*told, *more)


def test_nor_does_one_of_a_call_that_fails_with_what_it_was_asked(client, prefix, before, caplog, capsys):
    """A provider's error quotes what it was sent, and what it knows from elsewhere."""
    world = _world(client, prefix, redaction__before=before)
    answer = world.model.complete

    def refuse(request):
        if not any("call" in str(message.content) for message in request.messages):
            return answer(request)
        world.model.requests.append(request)
        raise ModelError(f"refused: {request.prompt[-200:]} {ALL} password={PASSWORD}", retryable=False)

    world.model.complete = refuse
    with traced() as spans, caplog.at_level(logging.DEBUG):
        world.say(f"call {ALL}")
        world.until_given_up()
    (entry,) = world.om.rejected("harold")
    assert "refused" in entry.reason
    assert leaks(spans.text(), caplog.text, *capsys.readouterr(), entry.reason) == []
    assert leaks(*(each.text for each in world.om.observations("harold"))) == []
    assert leaks(repr(world.model.requests), as_json(world.om.events())) == []
    assert before == "model" or leaks(store_bytes(client, prefix)) == []


def test_a_hook_is_given_nothing_of_it_and_cannot_tell_it(client, prefix_for, monkeypatch, caplog, capsys):
    given = []

    def quoting(asked):
        given.append(json.dumps(asked))
        raise ValueError(f"cannot read {asked}")

    points = ["before_observe", "after_observe", "before_reflect", "after_reflect", "before_context"]
    with hooks_installed(monkeypatch) as house, traced() as spans, caplog.at_level(logging.DEBUG):
        house.install(quoting=quoting)
        for n, point in enumerate(points):
            before, policy = ("store", "model")[n % 2], "skip" if n < 2 else "stop"
            hook = hooked(point, "quoting", on_failure=policy)
            world = _world(client, prefix_for(n), Scripted(*[NOTES] * 9), redaction__before=before, **hook)
            world.say(f"call {ALL}")
            if point == "before_context":
                with pytest.raises(HookError) as told:
                    world.context()
                given.append(str(told.value))
            world.om.add_line(f"by hand {ALL}", "harold", thread_id="t-1")
            world.om.force_observe("t-1", "harold")
            world.tick_forgiving()
            world.om.force_reflect("harold", None)
            world.tick_forgiving()
            assert given, point
            told = *given, spans.text(), caplog.text, *capsys.readouterr(), as_json(world.om.events())
            assert leaks(*told, repr(world.model.requests)) == [], point
            assert before == "model" or leaks(store_bytes(client, world.prefix)) == [], point
            given.clear()


def _zadd(world, thread, *texts):
    key = f"{world.prefix}:{{harold}}:messages:{thread}"
    for n, text in enumerate(texts):
        world.client.zadd(
            key, {json.dumps({"id": f"{thread}-{n}", "role": "user", "content": text}): 1_763_600_000_000 + n}
        )
    world.client.zadd(key, {json.dumps({"role": "nobody", "text": ALL, "password": PASSWORD}): 1_763_600_000_900})


def _by_an_alias_of_what_nobody_adopted(world):
    world.say("hello")
    _zadd(world, "t-2", f"plain {ALL}")
    world.om.alias_thread("t-2", "t-1", "harold")


def _left_when_something_is_erased(world):
    world.say("hello", "something else")
    _zadd(world, "t-1", f"plain {ALL}")
    world.om.erase("harold", matching="something else")


def _by_a_copy_of_a_thread_that_is_not_redacted(world):
    World(world.client, world.prefix, redaction__before="off").say(f"raw {ALL}", resource="joss")
    world.om.copy_thread("t-1", "t-1", "joss", to_resource="harold")
    world.om.clear("joss")


def _in_fields(world):
    world.say("hello")
    world.om.update_working_memory({"Name": ALL, "Password": PASSWORD, "Contact": ALL}, "harold")
    world.om.update_working_memory({"Name": "Ada"}, "harold")
    world.om.undo_working_memory("harold")
    world.om.set_thread("harold", "t-1", title="about +43 664 1234567", metadata={"password": PASSWORD, ALL: [ALL]})


def _by_hand(world):
    world.say("hello")
    line = world.om.add_line(f"call {ALL} password={PASSWORD}", "harold", thread_id="t-1")
    world.om.pin(f"call {ALL} password={PASSWORD}", "harold")
    world.om.correct_line(line.now, f"* 🟡 {ALL} and more", "harold", observation_id=line.observation_id)
    world.om.undo_line(line.observation_id, "harold")
    world.om.unpin(f"call {ALL} password={PASSWORD}", "harold")
    with pytest.raises(OMError) as told:
        world.om.unpin(f"call {ALL} password={PASSWORD}", "harold")
    assert leaks(told.value) == []


def _moved(world):
    world.say("hello")
    _zadd(world, "t-1", f"plain {ALL}")
    world.client.set(f"{world.prefix}:{{harold}}:scope", "resource")
    assert world.om.migrate_scope("harold", "thread") is Outcome.ACTIVATED


WAYS = [_by_an_alias_of_what_nobody_adopted, _left_when_something_is_erased,
    _by_a_copy_of_a_thread_that_is_not_redacted, _in_fields, _by_hand, _moved]  # fmt: skip


def test_by_no_way_does_it_come_to_stay(client, prefix_for, monkeypatch, caplog, capsys):
    monkeypatch.setenv("OM_SECRET_A", KEY)
    for n, way in enumerate(WAYS):
        world = _world(client, prefix_for(n), **({"redaction__key_env": "OM_SECRET_A"} if n % 2 else {}))
        with caplog.at_level(logging.DEBUG), traced() as spans:
            way(world)
            _observed(world)
            world.sweep()
            world.settle()
        context = world.context()
        shown = context.text, context.system, context.as_openai(), context.as_anthropic(), context.as_gemini()
        assert _nowhere(world, spans.text(), caplog.text, *capsys.readouterr()) == [], way
        assert leaks(*shown, b"".join(world.om.export_memory("harold"))) == [], way
        assert b"[email" in store_bytes(client, world.prefix), way


def test_what_extractors_find_holds_nothing_of_it(client, prefix):
    said = f'{NOTES}\n<contacts>\n{{"Ada": "{ALL}", "password": "{PASSWORD}"}}\n</contacts>\n<mood>\n{ALL}\n</mood>'
    extractors = "{contacts: {of: resource}, mood: {instruction: how it feels}}"
    world = _world(client, prefix, Scripted(*[said] * 9), extractors=extractors)
    world.say(f"call {ALL}")
    _observed(world)
    assert {*world.om.extracted("harold", "t-1")} == {"contacts", "mood"}
    assert _nowhere(world, as_json(world.om.extracted("harold", "t-1")), world.context().text) == []


def test_a_review_keeps_neither_what_was_said_to_it_nor_how_it_was_rewritten(client, prefix, monkeypatch):
    monkeypatch.setenv("OM_SECRET_A", KEY)
    model, told = Scripted(*[NOTES] * 40), f"{ALL} password={PASSWORD}"
    reviewed = _world(client, prefix, model, redaction__key_env="OM_SECRET_A", reflection__review="ask")
    reviewed.say(f"call {ALL}")
    _observed(reviewed)
    waiting = reviewed.om.proposal("harold")
    assert _nowhere(reviewed, as_json(waiting), as_json(reviewed.om.reviews())) == []
    reviewed.om.send_back("harold", comment=f"leave out {told}", proposal=waiting.id)
    reviewed.settle()
    waiting = reviewed.om.proposal("harold")
    assert reviewed.om.approve("harold", text=f"* 🟡 {told}", proposal=waiting.id) is Outcome.REFLECTED
    assert _nowhere(reviewed, as_json(reviewed.om.generations("harold")), reviewed.context().text) == []
    assert "[email" in reviewed.context().text
