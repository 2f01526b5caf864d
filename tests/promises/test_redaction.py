"""Redacted is redacted: what was planted is found in no key, request, event, log or context, whatever way it came in."""

import json
import logging

import pytest
from planted import ALL, KEY, PASSWORD, SECRETS
from planted import leaks as _leaks
from scene import rewritten
from world import World, contents

from om_api import ObservationalMemory, SettingsError
from om_api.domain.errors import InvalidInputError, ModelError, StoreError
from om_api.domain.values import Outcome
from om_api.redaction.vault import Vault
from om_api.store.backup import unused_values
from om_api.store.erasing.redacted import values
from om_workers.llm.scripted import Scripted

TEMPLATE = "- **Name**: what they are called\n- **Contact**: how to reach them"


def _world(client, prefix, model=None, **settings):
    named = {f"redaction__{name}": value for name, value in settings.items()}
    return World(client, prefix, model, working_memory__template=TEMPLATE, **{"redaction__before": "store", **named})


def _store(world):
    return repr(contents(world.client, f"{world.prefix}*"))


def _asked(world):
    return repr(world.model.requests)


def _observed(world):
    world.observe_now()
    world.reflect_now()


PARTS = [
    {"type": "text", "text": f"look: {ALL}"},
    {"type": "tool-call", "toolCallId": "c-1", "toolName": "send", "args": {"to": ALL, ALL: 1, "password": PASSWORD}},
]
RESULT = [
    {"type": "tool-result", "toolCallId": "c-1", "toolName": "send", "result": {"id": SECRETS["email"], "log": [ALL]}}
]


def _pushed(world):
    world.om.add_messages([{"role": "user", "content": f"text {ALL}", "metadata": {"note": ALL, "token": "abcdef"}},
        {"role": "assistant", "content": PARTS}, {"role": "tool", "content": RESULT}], thread_id="t-1",
        resource_id="harold")  # fmt: skip


def _synced(world):
    history = [{"role": "user", "content": f"one {ALL}"}, {"role": "assistant", "content": f"two {ALL}"}]
    assert world.om.sync(history, "harold", "t-1").added == 2


def _written_by_plain_commands(world):
    key = f"{world.prefix}:{{harold}}:messages:t-1"
    world.client.zadd(key, {json.dumps({"id": "m-1", "role": "user", "content": f"plain {ALL}"}): 1_763_600_000_000})
    world.client.zadd(key, {json.dumps({"role": "nobody", "text": ALL}): 1_763_600_000_001})
    world.perform("adopt", key)
    assert len(world.om.rejected("harold")) == 1


def _told_by_a_model(world):
    said = f"<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) {ALL}\n</observations>\n<current-task>{ALL}</current-task>"
    world.model = Scripted.echo(answer=said)
    world.say("what do you know of me?")


def _pushed_by_who_knows_no_settings(world):
    _world(world.client, world.prefix, before="off").say(f"raw {ALL}", metadata={"also": ALL})


WAYS = [_pushed, _synced, _written_by_plain_commands, _told_by_a_model, _pushed_by_who_knows_no_settings]


def test_what_was_planted_is_found_nowhere(client, prefix_for, monkeypatch, caplog, capsys):
    monkeypatch.setenv("OM_SECRET_A", KEY)
    for n, way in enumerate(WAYS):
        world = _world(client, prefix_for(n), **({"key_env": "OM_SECRET_A"} if n % 2 else {}))
        with caplog.at_level(logging.DEBUG):
            way(world)
            _observed(world)
        context = world.context()
        assert _leaks(_store(world), _asked(world), caplog.text, *capsys.readouterr()) == [], way
        assert _leaks(context.text, context.as_openai(), context.as_anthropic(), context.as_gemini()) == [], way
        assert _leaks(world.om.events(), b"".join(world.om.export_memory("harold")).decode()) == [], way
        assert PASSWORD not in _store(world)
        assert "[email" in _store(world), way
        assert world.om.verify() == [], way


NAMED = ["swordfish", "abcdef", "geheimnis", "tokyo drift"]  # what only the names of their fields give away
CALL = {"password": NAMED[0], "deep": [{"token": NAMED[1]}]}
CALLED = [{"role": "assistant", "content": [
    {"type": "tool-call", "toolCallId": "c-1", "toolName": "in", "args": CALL}]},
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c-1", "toolName": "in",
    "result": json.dumps({"secret": NAMED[2]})}]},
    {"role": "user", "content": json.dumps({"api_key": NAMED[3]})}]  # fmt: skip


def test_no_request_holds_what_only_the_name_of_its_field_gives_away(client, prefix):
    world = _world(client, prefix, before="model")
    for thread in ("t-1", "t-2"):
        world.om.add_messages(CALLED, thread_id=thread, resource_id="harold")
        world.om.force_observe(thread, "harold")
    world.om.update_working_memory({"Contact": json.dumps({"password": NAMED[0]})}, "harold")
    world.settle()
    world.reflect_now()
    assert {each.purpose for each in world.model.requests} == {"observe", "reflect"}
    assert [word for word in NAMED if word in _asked(world)] == []
    assert NAMED[0] in _store(world)
    assert world.om.verify() == []


def test_with_a_key_two_addresses_are_told_apart_and_put_back_for_who_may_see_them(client, prefix, monkeypatch):
    monkeypatch.setenv("OM_SECRET_A", KEY)
    world = _world(client, prefix, key_env="OM_SECRET_A")
    world.say("I am ada@example.com & he is <bob@example.com>, not ada@example.com")
    said = world.context().text
    names = [word.strip("[,>&;") for word in said.replace("]", " ] ").split("[email ")[1:]]
    assert names[0].split()[0] == names[2].split()[0] != names[1].split()[0]
    reader = _world(client, prefix, key_env="OM_SECRET_A", reveal="true")
    context, found = reader.context(), reader.om.recall("he", "harold")
    for told in (context.text, context.as_openai(), context.as_gemini(), context.messages, found):
        assert "ada@example.com" in str(told)
        assert "bob@example.com" in str(told)
    assert context.only([m.id for m in context.messages]).text.count("@example.com") == 3
    _observed(world)
    assert "ada@example.com" in reader.context().system
    file = b"".join(world.om.export_memory("harold"))
    assert b"@example.com" not in file
    world.om.import_memory([file], "joss")
    assert "ada@example.com" in reader.context(resource="joss").text
    world.om.clear("joss")
    assert not client.exists(f"{prefix}:{{joss}}:redacted")
    monkeypatch.setenv("OM_SECRET_A", "another key of more than thirty letters")
    assert "@example.com" not in _world(client, prefix, key_env="OM_SECRET_A", reveal="true").context().text
    monkeypatch.delenv("OM_SECRET_A")
    assert "@example.com" not in _world(client, prefix, key_env="OM_SECRET_A", reveal="true").context().text


def test_what_a_file_says_is_redacted_on_its_way_in(client, prefix):
    plain = _world(client, prefix, before="off")
    plain.say(f"old {ALL}", f"and more {ALL}")
    _observed(plain)
    plain.say(f"raw {ALL}")
    file = b"".join(plain.om.export_memory("harold"))
    plain.om.clear("harold")
    world = _world(client, prefix)
    world.om.import_memory([file], "joss")
    assert (_leaks(_store(world)), world.om.verify()) == ([], [])


def test_without_its_key_nothing_is_stored_and_no_model_is_asked(client, prefix, monkeypatch):
    monkeypatch.delenv("OM_SECRET_A", raising=False)
    world = _world(client, prefix, key_env="OM_SECRET_A")
    with pytest.raises(SettingsError, match=r"redaction\.key_env names OM_SECRET_A, which is not set"):
        world.say(ALL)
    assert _leaks(_store(world)) == []
    _world(client, prefix, before="off").say(ALL)
    model = _world(client, prefix, before="model", key_env="OM_SECRET_A")
    model.om.force_observe("t-1", "harold")
    with pytest.raises(ModelError, match="OM_SECRET_A"):
        model.settle()
    assert model.model.requests == []


def test_what_stood_there_before_is_redacted_in_every_tier(client, prefix):
    old = _world(client, prefix, before="off")
    _pushed(old)
    _observed(old)
    old.om.add_line(f"call {ALL}", "harold", thread_id="t-1")
    old.say(f"sealed {ALL}", f"and {ALL}")
    old.observe_now()
    old.say(f"raw {ALL}")
    old.om.update_working_memory({"Contact": ALL}, "harold")
    old.om.set_thread("harold", "t-1", title="about ada@example.com")
    before = old.covering()
    world = _world(client, prefix)
    would = world.om.redact("harold", dry_run=True)
    assert _leaks(_store(world)) == sorted([*SECRETS, "password"])
    done = world.om.redact("harold")
    assert {*done.places} >= {"messages", "observations", "sources", "fields"}
    assert ((would.kinds, would.places), done.outcome) == ((done.kinds, done.places), Outcome.CLEARED)
    assert (_leaks(_store(world), world.context().text), world.covering()) == ([], before)
    assert world.om.redact("harold").outcome is Outcome.REST
    world.sweep()
    assert world.om.verify() == []
    assert world.om.recall("raw", "harold").hits[0].text.startswith("raw [email]")


HISTORY = [{"role": "user", "content": f"one {ALL}"}, {"role": "assistant", "content": f"two {ALL}"},
    {"role": "user", "content": "three"}, {"role": "assistant", "content": f"four {ALL}"}]  # fmt: skip
MORE = [{"role": "user", "content": f"five {ALL}"}, {"role": "assistant", "content": "six"}]


def _with_ids(history):
    return [{**each, "id": f"m-{n}"} for n, each in enumerate(history)]


def test_a_history_is_recognised_however_what_is_kept_of_it_was_redacted(client, prefix_for, monkeypatch):
    monkeypatch.setenv("OM_SECRET_A", KEY)
    monkeypatch.setenv("OM_SECRET_B", KEY[::-1])
    rows = [({"before": "off"}, {}, list, "observe"), ({"before": "off"}, {"key_env": "OM_SECRET_A"}, _with_ids, "redact"),
        ({"before": "model"}, {}, _with_ids, "observe"), ({}, {"key_env": "OM_SECRET_A"}, list, ""),
        ({"key_env": "OM_SECRET_A"}, {"key_env": "OM_SECRET_B"}, _with_ids, ""),
        ({"key_env": "OM_SECRET_A"}, {}, list, "observe")]  # fmt: skip
    for n, (before, after, named, then) in enumerate(rows):
        prefix, history = prefix_for(n), named([*HISTORY, *MORE])
        old, world = _world(client, prefix, **before), _world(client, prefix, **after)
        ids = old.om.sync(history[:4], "harold", "t-1").ids
        if then == "observe":
            old.observe_now()
        elif then == "redact":
            world.om.redact("harold")
        for _ in range(2):
            again = world.om.sync(history[:4], "harold", "t-1")
            assert (again.added, again.known, again.changed, again.diverged_at, again.ids) == (0, 4, (), None, ids), n
        more = world.om.sync(history, "harold", "t-1")
        assert (more.added, more.known, more.changed, more.ids[:4]) == (2, 4, (), ids), n
        # a window of it, by who remembers nothing
        other = _world(client, prefix, **after).om.sync(history[2:], "harold", "t-1")
        assert (other.added, other.known, other.changed, other.ids) == (0, 4, (), more.ids[2:]), n
        assert world.om.verify() == [], n


def _values(world):
    return values(world.client.hgetall(f"{world.prefix}:{{harold}}:redacted"))


@pytest.fixture
def keyed(client, prefix, monkeypatch):
    monkeypatch.setenv("OM_SECRET_A", KEY)
    return _world(client, prefix, key_env="OM_SECRET_A", reveal="true")


def _said_twice(world):
    """Each thread says a value of its own and one that both say; the first one's messages are observed."""
    ids = world.say("mail ada@example.com, cc both@example.com")
    world.observe_now()
    world.say("mail bob@example.com, cc both@example.com", thread="t-2")
    assert len(_values(world)) == 3
    return ids


def _dies(*_):
    raise StoreError("away", stored=None)


def test_what_is_removed_leaves_no_encrypted_value_and_what_others_say_stays(keyed):
    (said,) = _said_twice(keyed)
    assert len(keyed.om.erase("harold", message_id=said).messages) == 1
    assert len(_values(keyed)) == 2
    said = keyed.context(thread="t-2").text
    assert "bob@example.com" in said
    assert "both@example.com" in said
    assert keyed.om.verify() == []


@pytest.mark.one_server
def test_whoever_dies_before_the_values_are_removed_leaves_them_to_the_sweep(keyed, monkeypatch):
    (said,) = _said_twice(keyed)
    with monkeypatch.context() as dying, pytest.raises(StoreError):
        dying.setattr(unused_values, "drop", _dies)
        keyed.om.erase("harold", message_id=said)
    assert len(_values(keyed)) == 3
    keyed.sweep()
    assert len(_values(keyed)) == 3  # whoever removes it may live
    keyed.client.hset(f"{keyed.prefix}:{{harold}}:redacted", "~", 1)
    keyed.client.zadd(f"{keyed.prefix}:resources", {"harold": 1})
    keyed.sweep()
    assert (len(_values(keyed)), keyed.om.verify()) == (2, [])


def _while_texts_are_read(monkeypatch, meanwhile):
    """Has something happen, once, between the look at what is still said and the removal of what nobody says."""
    looked, late = unused_values.texts, [meanwhile]

    def texts(keys, resource):
        found = yield from looked(keys, resource)
        if late:
            late.pop()()
        return found

    monkeypatch.setattr(unused_values, "texts", texts)
    return late


def test_a_removal_that_began_while_values_of_another_were_removed_is_left_to_the_sweep(keyed, monkeypatch):
    (mine,), (others,) = _said_twice(keyed), keyed.say("mail cid@example.com", thread="t-3")
    other = ObservationalMemory(keyed.settings, client=keyed.client)

    def another_dies():
        with monkeypatch.context() as dying, pytest.raises(StoreError):
            dying.setattr(unused_values, "drop", _dies)
            other.erase("harold", message_id=others)

    late = _while_texts_are_read(monkeypatch, another_dies)
    keyed.om.erase("harold", message_id=mine)
    assert (late, len(_values(keyed))) == ([], 3)  # the other's value is there still
    assert int(keyed.client.hget(f"{keyed.prefix}:{{harold}}:redacted", "~"))


def test_a_value_that_is_said_again_while_its_last_message_is_erased_can_be_put_back(keyed, monkeypatch):
    (said,) = keyed.say("mail ada@example.com")
    again = {"role": "user", "content": "and again ada@example.com", "resource_id": "harold", "thread_id": "t-1"}
    other = ObservationalMemory(keyed.settings, client=keyed.client)
    late = _while_texts_are_read(monkeypatch, lambda: other.add_message(again))
    keyed.om.erase("harold", message_id=said)
    assert late == []
    assert "and again ada@example.com" in keyed.context().text


PHONE = "+49 170 5550123"


@pytest.fixture
def linked(client, prefix, monkeypatch, tmp_path):
    """Ali composes bob, who takes what ali shares; only one of them reveals, or both."""
    monkeypatch.setenv("OM_SECRET_A", KEY)
    text = "observational_memory: {min_recent_messages: 0, tokenizer: estimate, redaction: {before: store, key_env: OM_SECRET_A}}"
    (tmp_path / "observational-memory.yaml").write_text(text)
    links = {"ali": "compose: [bob]", "bob": "composed_by: [ali], shared_by: [ali]", "joss": "timezone: UTC"}

    def make(*reveal):
        for name, link in links.items():
            (tmp_path / "agents" / name).mkdir(parents=True, exist_ok=True)
            own = f"observational_memory: {{{link}, redaction: {{reveal: {str(name in reveal).lower()}}}}}"
            (tmp_path / "agents" / name / "memory.yaml").write_text(own)
        return World(client, prefix, config_dir=tmp_path)

    return make


def test_notes_of_another_memory_are_put_back_only_where_that_memory_reveals_them(linked, client, prefix):
    world = linked("ali")
    for resource in ("ali", "bob"):
        world.say(f"{resource} answers {PHONE}", resource=resource)
        world.observe_now("t-1", resource)
    of = {name: f"{prefix}:{{{name}}}:redacted" for name in ("ali", "bob")}
    ((name, sealed),) = values(client.hgetall(of["bob"])).items()
    assert name not in client.hgetall(of["ali"])  # a guess is not named as the value is in another memory
    imported = Vault(KEY, "ali").seal(name.decode(), PHONE)
    for n, planted in enumerate((None, sealed, imported, imported)):
        if planted:
            client.hset(of["ali"], name, planted)
        if n == 3:
            world.reflect_now("bob")
        shown = [world.context(resource="ali").text, str(world.om.recall("answers", "ali", also=["bob"]).hits)]
        for text in shown:
            assert f"ali answers {PHONE}" in text
            assert f"bob answers [{name.decode()}]" in text
    world = linked("bob")
    assert PHONE not in world.context(resource="ali").text
    world = linked("ali", "bob")
    world.say(f"bob also answers {PHONE}", resource="bob")
    world.observe_now("t-1", "bob")
    context, found = world.context(resource="ali"), world.om.recall("answers", "ali", also=["bob"])
    assert f"bob answers {PHONE}" in context.text
    for text in (context.text, str(context.composed), str(found.hits)):
        assert f"bob also answers {PHONE}" in text


def test_a_shared_value_is_not_named_as_it_is_in_the_memory_that_takes_it(linked, client, prefix):
    world = linked("bob")
    world.say(f"call {PHONE}", resource="bob")
    assert world.om.share_note(f"my number is {PHONE}", "ali", "bob") is Outcome.ADDED
    assert len(values(client.hgetall(f"{prefix}:{{bob}}:redacted"))) == 2
    assert f"my number is {PHONE}" in world.context(resource="bob").text


def test_an_imported_memory_reveals_its_values_unless_only_the_target_does(linked, client, prefix):
    world, history = (
        linked("joss"),
        [{"role": "user", "content": f"call {PHONE}"}, {"role": "assistant", "content": "ok"}],
    )
    ids = world.om.sync(history, "bob", "t-1").ids
    file = b"".join(world.om.export_memory("bob"))
    with pytest.raises(InvalidInputError, match="would be revealed in joss"):
        world.om.import_memory([file], "joss")
    forged = rewritten(
        file,
        lambda found: [{**x, "fields": {"PHONE 0123456789": "00"}} if x["kind"] == "redacted" else x for x in found],
    )
    world.om.import_memory([forged], "joss")  # a refusal would say what the settings of bob are
    world.om.clear("joss")
    world = linked()
    world.om.import_memory([file], "joss")
    assert (again := world.om.sync(history, "joss", "t-1")).ids == ids
    assert (again.added, again.changed) == (0, ())
    assert f"call {PHONE}" in linked("joss").context(resource="joss").text
