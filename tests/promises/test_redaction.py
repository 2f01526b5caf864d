"""Redacted is redacted: what was planted is found in no key, request, event, log or context, whatever way it came in."""

import json
import logging

import pytest
from world import World, contents

from om_api import InvalidInputError, ObservationalMemory, SettingsError
from om_api.domain.errors import ModelError, StoreError
from om_api.domain.values import Outcome
from om_api.store.backup import unused_values
from om_api.store.erasing.redacted import values
from om_workers.llm.scripted import Scripted

SECRETS = {
    "email": "harold.finch@ift-example.com",
    "phone": "+43 664 1234567",
    "card": "4111 1111 1111 1111",
    "iban": "AT61 1904 3002 3457 3201",
    "secret": "sk-proj-Zx81kqLm02PwVt7Ya93b",
}
ALL = "; ".join(SECRETS.values())
KEY = "a key of more than sixteen letters"
TEMPLATE = "- **Name**: what they are called\n- **Contact**: how to reach them"


def _world(client, prefix, model=None, **settings):
    named = {f"redaction__{name}": value for name, value in settings.items()}
    return World(client, prefix, model, working_memory__template=TEMPLATE, **{"redaction__before": "store", **named})


@pytest.fixture
def house(client, prefix):
    return _world(client, prefix)


def _leaks(*told):
    said = "\n".join(map(str, told))
    return [kind for kind, secret in SECRETS.items() if secret in said or secret.replace(" ", "") in said]


def _store(world):
    return repr(contents(world.client, f"{world.prefix}*"))


def _asked(world):
    return repr(world.model.requests)


def _observed(world):
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.om.force_reflect("harold")
    world.settle()


PARTS = [
    {"type": "text", "text": f"look: {ALL}"},
    {
        "type": "tool-call",
        "toolCallId": "c-1",
        "toolName": "send",
        "args": {"to": ALL, ALL: 1, "password": "swordfish"},
    },
]
RESULT = [
    {"type": "tool-result", "toolCallId": "c-1", "toolName": "send", "result": {"id": SECRETS["email"], "log": [ALL]}}
]


def _pushed(world):
    world.om.add_messages(
        [
            {"role": "user", "content": f"text {ALL}", "metadata": {"note": ALL, "token": "abcdef"}},
            {"role": "assistant", "content": PARTS},
            {"role": "tool", "content": RESULT},
        ],
        thread_id="t-1",
        resource_id="harold",
    )


def _synced(world):
    history = [{"role": "user", "content": f"one {ALL}"}, {"role": "assistant", "content": f"two {ALL}"}]
    assert world.om.sync(history, "harold", "t-1").added == 2
    again = world.om.sync([*history, {"role": "user", "content": "three"}], "harold", "t-1")
    assert (again.added, again.known, again.changed) == (1, 2, ())
    other = type(world).face(world.settings, client=world.client)  # who remembers nothing of it
    last = other.sync(
        [*history, {"role": "user", "content": "three"}, {"role": "assistant", "content": ALL}], "harold", "t-1"
    )
    assert (last.added, last.known, last.changed) == (1, 3, ())


def _written_by_plain_commands(world):
    key = f"{world.prefix}:{{harold}}:messages:t-1"
    world.client.zadd(key, {json.dumps({"id": "m-1", "role": "user", "content": f"plain {ALL}"}): 1_763_600_000_000})
    world.client.zadd(key, {json.dumps({"role": "nobody", "text": ALL}): 1_763_600_000_001})
    world.perform("adopt", key)
    assert len(world.om.rejected("harold")) == 1


def _by_hand(world):
    world.say("something")
    line = world.om.add_line(f"call {ALL}", "harold", thread_id="t-1")
    world.om.correct_line(line.now, f"* 🟡 write to {ALL}", "harold", observation_id=line.observation_id)
    world.om.update_working_memory({"Name": "Ada", "Contact": ALL}, "harold")
    world.om.set_thread("harold", "t-1", title=SECRETS["email"], metadata={"by": ALL})


def _told_by_a_model(world):
    said = f"<observations>\nDate: Dec 4, 2025\n* 🟡 (09:15) {ALL}\n</observations>\n<current-task>{ALL}</current-task>"
    world.model = Scripted.echo(answer=said)
    world.say("what do you know of me?")


def _pushed_by_who_knows_no_settings(world):
    _world(world.client, world.prefix, before="off").say(f"raw {ALL}", metadata={"also": ALL})


WAYS = [_pushed, _synced, _written_by_plain_commands, _by_hand, _told_by_a_model, _pushed_by_who_knows_no_settings]


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_what_was_planted_is_found_nowhere(client, prefix, way, key, monkeypatch, caplog, capsys):
    monkeypatch.setenv("A_KEY", KEY)
    world = _world(client, prefix, **({"key_env": "A_KEY"} if key else {}))
    with caplog.at_level(logging.DEBUG):
        way(world)
        _observed(world)
    context = world.context()

    assert _leaks(_store(world), _asked(world), caplog.text, *capsys.readouterr()) == []
    assert _leaks(context.text, context.as_openai(), context.as_anthropic(), context.as_gemini()) == []
    assert _leaks(world.om.events()) == []
    assert _leaks(b"".join(world.om.export_memory("harold")).decode()) == []
    assert "swordfish" not in _store(world)
    assert "[email" in _store(world)
    assert world.om.verify() == []


def test_without_the_setting_everything_stands_as_it_was_said(client, prefix):
    world = _world(client, prefix, before="off")
    world.say(ALL)
    assert len(_leaks(_store(world))) == len(SECRETS)
    assert not world.client.exists(f"{world.prefix}:{{harold}}:redacted")


def test_before_models_messages_are_kept_as_said_and_no_model_reads_them(client, prefix):
    world = _world(client, prefix, before="model")
    world.say(f"reach me: {ALL}")
    _observed(world)

    assert world.model.requests
    assert _leaks(_asked(world)) == []
    assert _leaks(*(each.text for each in world.om.observations("harold"))) == []
    recalled = world.om.recall("reach", "harold")
    assert len(_leaks(*(hit.text for hit in recalled.hits))) == len(SECRETS)


NAMED = ["swordfish", "abcdef", "geheimnis", "tokyo drift"]  # what only the names of their fields give away
CALL = {"password": NAMED[0], "deep": [{"token": NAMED[1]}]}
CALLED = [
    {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c-1", "toolName": "in", "args": CALL}]},
    {
        "role": "tool",
        "content": [
            {"type": "tool-result", "toolCallId": "c-1", "toolName": "in", "result": json.dumps({"secret": NAMED[2]})}
        ],
    },
    {"role": "user", "content": json.dumps({"api_key": NAMED[3]})},
]


@pytest.mark.parametrize("threads", [["t-1"], ["t-1", "t-2"]])
def test_no_request_holds_what_only_the_name_of_its_field_gives_away(client, prefix, threads):
    world = _world(client, prefix, before="model")
    for thread in threads:
        world.om.add_messages(CALLED, thread_id=thread, resource_id="harold")
        world.om.force_observe(thread, "harold")
    world.om.update_working_memory({"Contact": json.dumps({"password": NAMED[0]})}, "harold")
    world.settle()
    world.om.force_reflect("harold")
    world.settle()

    assert {each.purpose for each in world.model.requests} == {"observe", "reflect"}
    assert [word for word in NAMED if word in _asked(world)] == []
    assert NAMED[0] in _store(world)
    assert world.om.verify() == []


def test_with_a_key_two_addresses_are_told_apart_and_put_back_for_who_may_see_them(client, prefix, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    world = _world(client, prefix, key_env="A_KEY")
    world.say("I am ada@example.com & he is <bob@example.com>, not ada@example.com")
    said = world.context().text
    names = [word.strip("[,>&;") for word in said.replace("]", " ] ").split("[email ")[1:]]
    assert names[0].split()[0] == names[2].split()[0] != names[1].split()[0]

    reader = _world(client, prefix, key_env="A_KEY", reveal="true")
    context = reader.context()
    for told in (
        context.text,
        context.as_openai(),
        context.as_gemini(),
        context.messages,
        reader.om.recall("he", "harold"),
    ):
        assert "ada@example.com" in str(told)
        assert "bob@example.com" in str(told)
    assert context.only([m.id for m in context.messages]).text.count("@example.com") == 3
    _observed(world)
    assert "ada@example.com" in reader.context().system

    monkeypatch.setenv("A_KEY", "another key of sixteen letters")
    assert "@example.com" not in _world(client, prefix, key_env="A_KEY", reveal="true").context().text
    monkeypatch.delenv("A_KEY")
    assert "@example.com" not in _world(client, prefix, key_env="A_KEY", reveal="true").context().text


def test_a_memory_that_moves_takes_what_its_placeholders_stand_for_along(client, prefix, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    world = _world(client, prefix, key_env="A_KEY", reveal="true")
    world.say("mail ada@example.com")
    file = b"".join(world.om.export_memory("harold"))
    assert b"ada@example.com" not in file
    world.om.import_memory([file], "joss")
    assert "ada@example.com" in world.context(resource="joss").text

    world.om.clear("harold")
    assert not world.client.exists(f"{world.prefix}:{{harold}}:redacted")


def test_what_a_file_says_is_redacted_on_its_way_in(client, prefix):
    plain = _world(client, prefix, before="off")
    plain.say(f"old {ALL}", f"and more {ALL}")
    _observed(plain)
    plain.say(f"raw {ALL}")
    file = b"".join(plain.om.export_memory("harold"))
    plain.om.clear("harold")

    world = _world(client, prefix)
    world.om.import_memory([file], "joss")
    assert _leaks(_store(world)) == []
    assert world.om.verify() == []


def test_without_its_key_nothing_is_stored_and_no_model_is_asked(client, prefix, monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    world = _world(client, prefix, key_env="A_KEY")
    with pytest.raises(SettingsError, match=r"redaction\.key_env names A_KEY, which is not set"):
        world.say(ALL)
    assert _leaks(_store(world)) == []

    _world(client, prefix, before="off").say(ALL)
    model = _world(client, prefix, before="model", key_env="A_KEY")
    model.om.force_observe("t-1", "harold")
    with pytest.raises(ModelError, match="A_KEY"):
        model.settle()
    assert model.model.requests == []


def test_how_much_was_redacted_is_counted_by_kind_and_never_what(house):
    house.say("ada@example.com and bob@example.com", "+43 664 1234567")
    counted = house.client.hgetall(f"{house.prefix}:counted:harold")
    assert {name: int(n) for name, n in counted.items() if name.startswith(b"redacted")} == {
        b"redacted|email": 2,
        b"redacted|phone": 1,
    }


def test_a_pinned_line_is_found_by_the_words_that_were_redacted(house):
    house.say("something")
    line = house.om.add_line("write to ada@example.com", "harold", thread_id="t-1")
    assert line.now.endswith("write to [email]")
    assert house.om.pin("write to ada@example.com", "harold").outcome is Outcome.PINNED


def test_what_stood_there_before_is_redacted_in_every_tier(client, prefix):
    old = _world(client, prefix, before="off")
    _pushed(old)
    _observed(old)
    old.om.add_line(f"call {ALL}", "harold", thread_id="t-1")
    old.say(f"sealed {ALL}", f"and {ALL}")
    old.om.force_observe("t-1", "harold")
    old.settle()
    old.say(f"raw {ALL}")
    old.om.update_working_memory({"Contact": ALL}, "harold")
    old.om.set_thread("harold", "t-1", title="about ada@example.com")
    before = old.covering()

    world = _world(client, prefix)
    would = world.om.redact("harold", dry_run=True)
    assert len(_leaks(_store(world))) == len(SECRETS)
    done = world.om.redact("harold")

    assert {*done.places} >= {"messages", "observations", "sources", "fields"}
    assert (would.kinds, would.places) == (done.kinds, done.places)
    assert done.outcome is Outcome.CLEARED
    assert _leaks(_store(world), world.context().text) == []
    assert world.covering() == before
    assert world.om.redact("harold").outcome is Outcome.REST
    world.sweep()
    assert world.om.verify() == []
    assert world.om.recall("raw", "harold").hits[0].text.startswith("raw [email]")


def test_a_history_that_was_redacted_afterwards_is_recognised(client, prefix):
    history = [{"role": "user", "content": f"one {ALL}"}, {"role": "assistant", "content": "two"}]
    _world(client, prefix, before="off").om.sync(history, "harold", "t-1")
    world = _world(client, prefix)
    world.om.redact("harold")
    again = world.om.sync(history, "harold", "t-1")
    assert (again.added, again.changed) == (0, ())


HISTORY = [
    {"role": "user", "content": f"one {ALL}"},
    {"role": "assistant", "content": f"two {ALL}"},
    {"role": "user", "content": "three"},
    {"role": "assistant", "content": f"four {ALL}"},
]
MORE = [{"role": "user", "content": f"five {ALL}"}, {"role": "assistant", "content": "six"}]


def _with_ids(history):
    return [{**each, "id": f"m-{n}"} for n, each in enumerate(history)]


@pytest.mark.parametrize("named", [list, _with_ids])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"before": "off"}, {}),
        ({"before": "off"}, {"key_env": "A_KEY"}),
        ({"before": "model"}, {}),
        ({}, {"key_env": "A_KEY"}),
        ({"key_env": "A_KEY"}, {"key_env": "ANOTHER_KEY"}),
        ({"key_env": "A_KEY"}, {}),
    ],
)
@pytest.mark.parametrize("observed", [False, True])
def test_a_history_is_recognised_however_what_is_kept_of_it_was_redacted(
    client, prefix, monkeypatch, before, after, named, observed
):
    monkeypatch.setenv("A_KEY", KEY)
    monkeypatch.setenv("ANOTHER_KEY", KEY[::-1])
    old, history = _world(client, prefix, **before), named([*HISTORY, *MORE])
    ids = old.om.sync(history[:4], "harold", "t-1").ids
    if observed:
        old.om.force_observe("t-1", "harold")
        old.settle()

    world = _world(client, prefix, **after)
    for _ in range(2):
        again = world.om.sync(history[:4], "harold", "t-1")
        assert (again.added, again.known, again.changed, again.diverged_at, again.ids) == (0, 4, (), None, ids)
    more = world.om.sync(history, "harold", "t-1")
    assert (more.added, more.known, more.changed, more.ids[:4]) == (2, 4, (), ids)
    other = _world(client, prefix, **after).om.sync(
        history[2:], "harold", "t-1"
    )  # a window of it, by who remembers nothing
    assert (other.added, other.known, other.changed, other.ids) == (0, 4, (), more.ids[2:])
    assert world.om.verify() == []


def test_what_another_key_named_is_not_taken_for_what_is_new(client, prefix, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    world = _world(client, prefix, key_env="A_KEY")
    first = [{"role": "user", "content": "write to ada@example.com"}, {"role": "assistant", "content": "done"}]
    world.om.sync(first, "harold", "t-1")
    edited = [{"role": "user", "content": "write to bob@example.com"}, first[1]]
    assert len(_world(client, prefix, key_env="A_KEY").om.sync(edited, "harold", "t-1").changed) == 1
    new = [*first, edited[0]]
    assert _world(client, prefix, key_env="A_KEY").om.sync(new, "harold", "t-1").added == 1


def test_what_a_history_says_can_be_put_back(client, prefix, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    world = _world(client, prefix, key_env="A_KEY", reveal="true")
    world.om.sync([{"role": "user", "content": "write to ada@example.com"}], "harold", "t-1")

    assert "ada@example.com" not in _store(world)
    assert "write to ada@example.com" in world.context().text


def test_a_historys_ids_tell_nothing_of_what_was_redacted_and_it_goes_on_in_one_push(client, prefix, monkeypatch):
    world = _world(client, prefix)
    histories = [[{"role": "user", "content": f"write to {name}@example.com"}] for name in ("ada", "bob")]
    first, second = (world.om.sync(each, "harold", f"t-{n}").ids for n, each in enumerate(histories))
    assert first == second

    monkeypatch.setattr(world.om._core.syncing, "_compared", None)  # what compares with what is kept is not needed
    more = [*histories[0], {"role": "assistant", "content": "and to carl@example.com"}]
    assert world.om.sync(more, "harold", "t-0").added == 1


def test_old_text_is_redacted_only_where_the_setting_says_so(client, prefix):
    with pytest.raises(InvalidInputError, match=r"redaction\.before to store"):
        _world(client, prefix, before="model").om.redact("harold")


def test_with_a_key_a_value_is_found_and_erased_by_itself_and_nothing_of_it_stays(client, prefix, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    world = _world(client, prefix, key_env="A_KEY", reveal="true")
    world.say("mail ada@example.com please", "mail bob@example.com")

    assert next(hit.text for hit in world.om.recall("ada@example.com", "harold").hits) == "mail ada@example.com please"
    assert len(world.om.erase("harold", matching="ada@example.com").messages) == 1
    assert "bob@example.com" in world.context().text
    assert len(_values(world)) == 1


def _values(world):
    return values(world.client.hgetall(f"{world.prefix}:{{harold}}:redacted"))


@pytest.fixture
def keyed(client, prefix, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    return _world(client, prefix, key_env="A_KEY", reveal="true")


def _said_twice(world):
    """Each thread says a value of its own and one that both say; the first one's messages are observed."""
    ids = world.say("mail ada@example.com, cc both@example.com")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.say("mail bob@example.com, cc both@example.com", thread="t-2")
    assert len(_values(world)) == 3
    return ids


def _erased(world, ids):
    assert len(world.om.erase("harold", message_id=ids[0]).messages) == 1


def _forgotten(world, ids):
    world.om.forget(world.om.observations("harold")[0].id, "harold")


def _thread_cleared(world, ids):
    world.om.clear("harold", "t-1")


def _dies(*_):
    raise StoreError("away", stored=None)


REMOVALS = [_erased, _forgotten, _thread_cleared]


@pytest.mark.parametrize("remove", REMOVALS)
def test_what_is_removed_leaves_no_encrypted_value_and_what_others_say_stays(keyed, remove):
    remove(keyed, _said_twice(keyed))

    assert len(_values(keyed)) == 2
    said = keyed.context(thread="t-2").text
    assert "bob@example.com" in said
    assert "both@example.com" in said
    assert keyed.om.verify() == []


@pytest.mark.parametrize("remove", REMOVALS)
def test_whoever_dies_before_the_values_are_removed_leaves_them_to_the_sweep(keyed, remove, monkeypatch):
    ids = _said_twice(keyed)
    with monkeypatch.context() as dying, pytest.raises(StoreError):
        dying.setattr(unused_values, "drop", _dies)
        remove(keyed, ids)
    assert len(_values(keyed)) == 3

    keyed.sweep()
    assert len(_values(keyed)) == 3  # whoever removes it may live
    keyed.client.hset(f"{keyed.prefix}:{{harold}}:redacted", "~", 1)
    keyed.client.zadd(f"{keyed.prefix}:resources", {"harold": 1})
    keyed.sweep()
    assert len(_values(keyed)) == 2
    assert keyed.om.verify() == []


def test_a_removal_that_began_while_values_of_another_were_removed_is_left_to_the_sweep(keyed, monkeypatch):
    mine, others = _said_twice(keyed), keyed.say("mail cid@example.com", thread="t-3")
    late, looked, other = [], unused_values.texts, ObservationalMemory(keyed.settings, client=keyed.client)
    drop = unused_values.drop

    def texts(keys, resource):
        found = yield from looked(keys, resource)
        if not late:
            late.append(other)
            monkeypatch.setattr(unused_values, "drop", _dies)
            with pytest.raises(StoreError):
                other.erase("harold", message_id=others[0])
        return found

    monkeypatch.setattr(unused_values, "texts", texts)
    keyed.om.erase("harold", message_id=mine[0])
    monkeypatch.setattr(unused_values, "drop", drop)

    assert late
    assert len(_values(keyed)) == 3  # the other's value is there still
    assert int(keyed.client.hget(f"{keyed.prefix}:{{harold}}:redacted", "~"))


@pytest.mark.parametrize("remove", [_forgotten, _thread_cleared])
def test_what_a_model_is_about_to_note_can_be_put_back_though_something_is_removed_meanwhile(
    client, prefix, monkeypatch, remove
):
    monkeypatch.setenv("A_KEY", KEY)
    world = _world(client, prefix, before="model", key_env="A_KEY", reveal="true")
    ids = world.say("mail bob@example.com")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.say("mail ada@example.com", thread="t-2")
    completes, asked = world.model.complete, []

    def complete(request):
        if not asked:
            asked.append(remove(world, ids))
        return completes(request)

    monkeypatch.setattr(world.model, "complete", complete)
    world.om.force_observe("t-2", "harold")
    world.settle()

    assert asked
    assert len(_values(world)) == 1
    assert "mail ada@example.com" in world.context(thread="t-2").text


def test_a_value_that_is_said_again_while_its_last_message_is_erased_can_be_put_back(keyed, monkeypatch):
    ids = keyed.say("mail ada@example.com")
    said = {"role": "user", "content": "and again ada@example.com", "resource_id": "harold", "thread_id": "t-1"}
    late, looked, other = [], unused_values.texts, ObservationalMemory(keyed.settings, client=keyed.client)

    def texts(keys, resource):
        found = yield from looked(keys, resource)
        if not late:
            late.append(other.add_message(said))
        return found

    monkeypatch.setattr(unused_values, "texts", texts)
    keyed.om.erase("harold", message_id=ids[0])

    assert late
    assert "and again ada@example.com" in keyed.context().text
