"""Messages in a spool outlive their process, are stored once, and are removed only then."""

import sqlite3

import pytest
from structlog.testing import capture_logs
from world import World

from om_api import InvalidInputError, ObservationalMemory, SettingsError, StoreError
from om_api.client.remembered.spool import Spool
from om_api.store.threads import describing


def _away(batch):
    raise StoreError("away", stored=False)


def rows(file):
    with sqlite3.connect(file) as database:
        return database.execute("SELECT count(*) FROM held").fetchone()[0]


@pytest.fixture
def opened(world, tmp_path):
    def opened():
        return ObservationalMemory(world.settings, client=world.client, fail_open=True, spool=tmp_path / "spool.db")

    return opened


def test_messages_in_a_spool_outlive_the_process_and_are_stored_once(world, opened, tmp_path, monkeypatch):
    first, place, file = opened(), {"thread_id": "t-1", "resource_id": "harold"}, tmp_path / "spool.db"
    monkeypatch.setattr(first._connection._endpoint, "ask", _away)
    with capture_logs() as lines:
        receipt = first.add_messages(
            [{"id": f"m-{n}", "role": "user", "content": f"turn {n}"} for n in range(3)], **place, memory="off"
        )
        first.close()
    assert (receipt.held, rows(file), file.stat().st_mode & 0o777) == (("m-0", "m-1", "m-2"), 3, 0o600)
    assert "unsent_dropped" not in [line["event"] for line in lines]
    second, third = opened(), opened()  # which share the file
    for memory in (second, third):
        monkeypatch.setattr(memory._connection._endpoint, "ask", first._connection._endpoint.ask)
        assert [each.content for each in memory.get_context(**place).messages] == ["turn 0", "turn 1", "turn 2"]
    monkeypatch.undo()
    for memory in (second, third):
        assert [each.id for each in memory.get_context(**place).messages] == ["m-0", "m-1", "m-2"]
        memory.close()
    assert (rows(file), len(world.covering())) == (0, 3)
    assert world.om.threads("harold")[0].memory == "off"


def test_a_spool_holds_redacted_text_and_encrypted_values_that_the_next_process_stores(
    client, prefix, tmp_path, monkeypatch
):
    monkeypatch.setenv("OM_SECRET_A", "0123456789abcdef" * 2)
    named = {"before": "store", "key_env": "OM_SECRET_A", "reveal": "true"}
    redaction = {f"redaction__{name}": value for name, value in named.items()}
    world = World(client, prefix, spool=str(tmp_path / "spool.db"), **redaction)
    place, given = {"thread_id": "t-1", "resource_id": "harold"}, {"client": world.client, "fail_open": True}
    first = ObservationalMemory(world.settings, **given)
    with pytest.raises(InvalidInputError, match="fail_open=True"):
        ObservationalMemory(world.settings, client=world.client, spool="spool.db")
    with monkeypatch.context() as away:
        away.setattr(first._connection._endpoint, "ask", _away)
        assert first.add_message({"id": "m-1", "role": "user", "content": "to ada@example.com"}, **place).held
        first.close()
    assert b"ada@example" not in b"".join(file.read_bytes() for file in tmp_path.glob("spool.db*"))
    with ObservationalMemory(world.settings, **given) as second:
        assert [each.content for each in second.get_context(**place).messages] == ["to ada@example.com"]


def test_a_row_that_cannot_be_read_stays_and_is_logged(opened, tmp_path):
    opened().close()
    with sqlite3.connect(tmp_path / "spool.db") as database:
        store = Spool(tmp_path / "spool.db", "other")._store
        database.execute("INSERT INTO held VALUES (7, ?, 'harold', 't-1', 0, x'7b', x'7b7d', NULL)", (store,))
    spool = Spool(tmp_path / "spool.db", "other")
    with capture_logs() as lines:
        assert [*spool.read(10)] == []
    assert [(line["event"], line["row"]) for line in lines] == [("spool_row_unreadable", 7)]
    assert rows(tmp_path / "spool.db") == 1


def test_a_spool_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="cannot open the spool"):
        Spool(tmp_path / "nowhere" / "spool.db", "here")


def test_a_waiting_message_whose_memory_mode_is_refused_holds_up_no_other(world, opened, tmp_path, monkeypatch):
    """Sent without its mode it would leave memory; raised from every later call, the error would stop all threads."""
    memory, place = opened(), {"resource_id": "harold", "thread_id": "private"}
    with monkeypatch.context() as away:
        away.setattr(memory._connection._endpoint, "ask", _away)
        memory.add_message({"id": "m-1", "role": "user", "content": "between us"}, **place, memory="off")
    with monkeypatch.context() as full:
        full.setattr(describing, "MOST_WITHOUT_MESSAGES", 0)
        with capture_logs() as lines:
            receipt = memory.add_message(
                {"id": "m-2", "role": "user", "content": "hello"}, **place | {"thread_id": "t"}
            )
        assert (receipt.ids, receipt.held, rows(tmp_path / "spool.db")) == (("m-2",), (), 1)
        assert [line["event"] for line in lines] == ["memory_mode_refused"]
    assert [message.id for message in world.om.messages("harold", "t")] == ["m-2"]
    memory.get_context("private", "harold")
    assert [message.id for message in world.om.messages("harold", "private")] == ["m-1"]
    memory.close()
