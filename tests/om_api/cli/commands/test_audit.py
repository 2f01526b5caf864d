"""`om audit`: what was operated, by whatever door, and by whom; and that it can be read."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from processes import started
from world import wait_until

from om_api.cli.attempt import user
from om_api.domain.audit.audit_entry import AuditEntry


@pytest.fixture
def add(world):
    def tell(*verbs, **said):
        for verb in verbs:
            entry = {"via": "http", "who": "3f1c20a9be77", "label": "shop", "resource": "harold", **said}
            world.om.add_audit(AuditEntry(did=verb, **entry))

    return tell


def verbs(result):
    return [line.split("  ")[3] for line in result.stdout.splitlines()]


def test_an_entry_is_a_line_that_says_when_who_how_what_whose_and_how_it_ended(om, add):
    add("restored", thread="t-1", of="3", ended="restored", status=200)
    add("key_created", via="cli", who="anna@ops", label="", resource="")
    restored, created = om("audit").stdout.splitlines()

    rest = "thread=t-1  of=3  ended=restored  status=200"
    assert restored.split("  ", 1)[1] == f"3f1c20a9be77 (shop)  http  restored  harold  done  {rest}"
    assert created.split("  ", 1)[1] == "anna@ops  cli  key_created  (all)  done"
    assert restored[:2] == "20"


def test_the_newest_are_shown_the_oldest_of_them_first(om, add):
    add("paused", "resumed", "cleared", "imported")

    assert verbs(om("audit", "--count", "2")) == ["cleared", "imported"]


def test_entries_are_picked_by_whose_who_what_and_when(om, add):
    add("paused")
    add("paused", "resumed", resource="ada", label="desk")
    add("erased", who="anna@ops", label="")

    assert verbs(om("audit", "ada")) == ["paused", "resumed"]
    assert verbs(om("audit", "--who", "shop")) == ["paused"]
    assert verbs(om("audit", "--who", "anna@ops")) == ["erased"]
    assert verbs(om("audit", "--did", "resumed", "--did", "erased")) == ["resumed", "erased"]
    assert len(verbs(om("audit", "--since", "1h"))) == 4
    assert verbs(om("audit", "--since", "2020-01-01")) == verbs(om("audit"))
    assert "no such entry" in om("audit", "--since", "2999-01-01T10:00+02:00").stderr


@pytest.mark.parametrize("since", ["yesterday", "-1h", "2026-13-01"])
def test_what_is_no_time_is_refused_with_what_would_be_one(om, since):
    refused = om("audit", "--since", since)

    assert refused.exit_code == 2
    assert "7d" in refused.stderr


def test_what_is_wanted_is_found_behind_ten_thousand_others(om, add, client, prefix):
    add("erased")
    pipeline = client.pipeline(transaction=False)
    for _ in range(10_500):
        pipeline.xadd(f"{prefix}:audit", {"did": "paused", "via": "cli", "who": "w"})
    pipeline.execute()

    assert verbs(om("audit", "--did", "erased")) == ["erased"]


def test_as_json_each_is_one_line(om, add):
    add("paused", "resumed", of="a\nb")
    lines = [json.loads(line) for line in om("audit", "--json").stdout.splitlines()]

    assert [(line["did"], line["of"], line["label"]) for line in lines] == [
        ("paused", r"a\nb", "shop"),
        ("resumed", r"a\nb", "shop"),
    ]


def test_a_hostile_name_breaks_no_line_and_steers_no_terminal(om, add, client, prefix):
    add("paused", of="x\n2026-01-01  root  cli  erased  harold  done\x1b[2J\u202e")
    raw = {"did": "paused", "via": "cli", "who": "w\r\nroot", "label": "\u2028\x9b", "resource": "a\x00b"}
    client.xadd(f"{prefix}:audit", raw)
    shown = om("audit").stdout

    assert len(shown.splitlines()) == 2
    assert all(line.isprintable() for line in shown.split("\n"))
    assert r"x\n2026-01-01" in shown
    assert r"w\r\nroot" in shown


def test_what_comes_is_followed(om, add, server_url):
    add("paused")
    words = [Path(sys.executable).with_name("om"), "--url", server_url, "audit", "--follow", "--json"]
    with started(words, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        first = json.loads(process.stdout.readline())
        add("resumed")
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        wait_until(lambda: process.poll() is not None, "the end of om audit --follow")

    assert (first["did"], second["did"]) == ("paused", "resumed")
    assert process.returncode == 130


def told(world):
    return [
        (each.did, each.resource, each.thread, each.of, each.outcome, each.ended)
        for each in world.om.audit(count=1_000).entries[::-1]
    ]


def test_everything_that_operates_is_told_with_who_typed_it(om, reflected, world):
    observed = reflected
    observed.say(*[f"message {n}" for n in range(20, 40)])
    observed.settle()
    (observation, *_) = world.om.observations("harold")
    exported = om("export", "harold").stdout_bytes
    for words in (
        "pause harold",
        "resume harold",
        "observe harold --wait 0",
        "reflect harold t-1 --wait 0",
        "restore harold 0",
        f"forget harold {observation.id} --yes",
        "erase harold --message m-none --yes",
        "migrate-scope harold --to resource",
        "clear harold t-9 --yes",
        "clear harold --yes",
    ):
        om(*words.split())
    om("import", "--as", "ada", stdin=exported)

    assert [(each.via, each.who) for each in world.om.audit().entries] == [("cli", user())] * 12
    assert told(world) == [
        ("exported", "harold", "", "", "done", ""),
        ("paused", "harold", "", "", "done", ""),
        ("resumed", "harold", "", "", "done", ""),
        ("forced", "harold", "", "observe", "done", ""),
        ("forced", "harold", "t-1", "reflect", "done", ""),
        ("restored", "harold", "", "0", "done", "restored"),
        ("forgot", "harold", "", observation.id, "done", "cleared"),
        ("erased", "harold", "", "message m-none", "failed", ""),
        ("migrated", "harold", "", "resource", "done", "rest"),
        ("cleared", "harold", "t-9", "", "done", "cleared"),
        ("cleared", "harold", "", "", "done", "cleared"),
        ("imported", "ada", "", "", "done", ""),
    ]


def test_of_what_was_erased_no_word_is_told_and_of_a_look_at_it_nothing(om, world):
    world.say("hunter2 is the word")
    om("erase", "harold", "--matching", "hunter2", "--dry-run")
    om("erase", "harold", "--matching", "hunter2", "--yes")

    assert told(world) == [("erased", "harold", "", "a text", "done", "cleared")]


def test_keys_and_webhooks_are_told_of_by_their_ids_and_never_with_a_secret(om, om_json, world):
    key = om_json("keys", "create", "--resource", "harold", "--role", "reader")
    turned = om_json("keys", "rotate", key["id"])
    om("keys", "revoke", key["id"])
    om("keys", "create", "--resource", "*", "--role", "operator")
    hook = om_json("webhooks", "add", "https://example.org/om", "--resource", "harold")
    om("webhooks", "test", hook["id"], "--wait", "0")
    om("webhooks", "retry", hook["id"])
    om("webhooks", "enable", hook["id"])
    om("webhooks", "remove", hook["id"])

    found = world.om.audit(count=1_000).entries[::-1]
    assert [(each.did, each.resource, each.of) for each in found if each.did != "key_created" or each.resource] == [
        ("key_created", "harold", key["id"]),
        ("key_rotated", "harold", key["id"]),
        ("key_revoked", "", key["id"]),
        ("webhook_added", "harold", hook["id"]),
        ("webhook_tried", "harold", hook["id"]),
        ("webhook_retried", "harold", hook["id"]),
        ("webhook_enabled", "harold", hook["id"]),
        ("webhook_removed", "harold", hook["id"]),
    ]
    secrets = (key["token"], turned["token"], hook["secret"])
    assert not [secret for secret in secrets if secret in repr(found)]


def test_what_only_looks_is_not_told(om, reflected, world):
    for words in (
        "stats",
        "acl harold",
        "acl --list",
        "partitions",
        "verify",
        "keys list",
        "webhooks list",
        "context harold t-1",
    ):
        om(*words.split())
    om("push", "harold", "t-1", "hello")

    assert told(world) == []


def test_a_user_of_redis_that_was_made_or_ended_is_told_by_its_name(om, world, prefix, client):
    try:
        om("acl", "harold", "--apply", "--generate")
        om("acl", "harold", "--revoke")
        om("acl", "harold", "--revoke", "--apply")
    finally:
        client.execute_command("ACL", "DELUSER", f"{prefix}/harold/writer")

    name = f"{prefix}/harold/writer"
    assert [(did, of, outcome) for did, _, _, of, outcome, _ in told(world)] == [
        ("user_set", name, "done"),
        ("user_revoked", f"{prefix}/harold/reader, {name}", "done"),
        ("user_revoked", "", "failed"),
    ]


def test_an_agents_user_does_what_it_may_and_is_told_that_the_trail_does_not_have_it(
    om, bare, observed, world, prefix, client, server_url
):
    name = f"{prefix}/harold/writer"
    try:
        password = om("acl", "harold", "--apply", "--generate").stdout.strip()
        url = server_url.replace("://", f"://{quote(name, safe='')}:{password}@")
        done = bare("--url", url, "pause", "harold")
    finally:
        client.execute_command("ACL", "DELUSER", name)

    assert (done.exit_code, done.stdout) == (0, "paused\n")
    assert "this is not in the audit trail (om audit)" in done.stderr
    assert password not in done.stderr
    assert [did for did, *_ in told(world)] == ["user_set"]


def test_who_says_no_has_done_nothing(om, observed, world):
    om("clear", "harold", stdin="n\n")

    assert told(world) == []


def test_an_action_that_is_not_taken_into_the_trail_is_done_and_says_so(om, observed, world, client, prefix):
    client.set(f"{prefix}:audit", "no stream", ex=60)
    done = om("pause", "harold")

    assert (done.exit_code, done.stdout) == (0, "paused\n")
    assert "this is not in the audit trail (om audit)" in done.stderr
