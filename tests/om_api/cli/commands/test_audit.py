"""`om audit`: what was operated, by whatever door, and by whom; and that it can be read."""

import json
from urllib.parse import quote

import pytest

from om_api.cli.attempt import user
from om_api.client.memory import ObservationalMemory
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
    for since in ["yesterday", "-1h", "2026-13-01"]:
        refused = om("audit", "--since", since)
        assert refused.exit_code == 2, since
        assert "7d" in refused.stderr, since


def test_a_hostile_name_breaks_no_line_and_steers_no_terminal(om, add, client, prefix):
    add("paused", of="x\n2026-01-01  root  cli  erased  harold  done\x1b[2J\u202e")
    raw = {"did": "paused", "via": "cli", "who": "w\r\nroot", "label": "\u2028\x9b", "resource": "a\x00b"}
    client.xadd(f"{prefix}:audit", raw)
    shown = om("audit").stdout
    assert len(shown.splitlines()) == 2
    assert all(line.isprintable() for line in shown.split("\n"))
    assert r"x\n2026-01-01" in shown
    assert r"w\r\nroot" in shown


def told(world):
    return [(each.did, each.resource, each.thread, each.of, each.outcome, each.ended)
            for each in world.om.audit(count=1_000).entries[::-1]]  # fmt: skip


def test_everything_that_operates_is_told_with_who_typed_it(om, reflected, world):
    observed = reflected
    observed.say(*[f"message {n}" for n in range(20, 40)])
    observed.settle()
    (observation, *_) = world.om.observations("harold")
    exported = om("export", "harold").stdout_bytes
    for words in (*("pause harold", "resume harold", "observe harold --wait 0", "reflect harold t-1 --wait 0"),
                  *("restore harold 0", f"forget harold {observation.id} --yes", "erase harold --message m-none --yes"),
                  *("migrate-scope harold --to resource", "clear harold t-9 --yes", "clear harold --yes")):  # fmt: skip
        om(*words.split())
    om("import", "--as", "ada", stdin=exported)
    assert [(each.via, each.who) for each in world.om.audit().entries] == [("cli", user())] * 12
    assert told(world) == [("exported", "harold", "", "", "done", ""), ("paused", "harold", "", "", "done", ""),
                           ("resumed", "harold", "", "", "done", ""), ("forced", "harold", "", "observe", "done", ""),
                           ("forced", "harold", "t-1", "reflect", "done", ""),
                           ("restored", "harold", "", "0", "done", "restored"),
                           ("forgot", "harold", "", observation.id, "done", "cleared"),
                           ("erased", "harold", "", "message m-none", "failed", ""),
                           ("migrated", "harold", "", "resource", "done", "rest"),
                           ("cleared", "harold", "t-9", "", "done", "cleared"),
                           ("cleared", "harold", "", "", "done", "cleared"),
                           ("imported", "ada", "", "", "done", "")]  # fmt: skip


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
        ("key_created", "harold", key["id"]), ("key_rotated", "harold", key["id"]), ("key_revoked", "", key["id"]),
        ("webhook_added", "harold", hook["id"]), ("webhook_tried", "harold", hook["id"]),
        ("webhook_retried", "harold", hook["id"]), ("webhook_enabled", "harold", hook["id"]),
        ("webhook_removed", "harold", hook["id"])]  # fmt: skip
    secrets = (key["token"], turned["token"], hook["secret"])
    assert not [secret for secret in secrets if secret in repr(found)]


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


def test_follow_goes_on_behind_what_was_shown_until_it_is_interrupted(om, add, monkeypatch):
    asked, follow = [], ObservationalMemory.follow_audit

    def until_interrupted(self, after, **wanted):
        asked.append(wanted)
        add("resumed")
        yield next(follow(self, after, **wanted))
        raise KeyboardInterrupt

    monkeypatch.setattr(ObservationalMemory, "follow_audit", until_interrupted)
    add("paused")
    done = om("audit", "harold", "--who", "shop", "--follow", "--json")
    assert [json.loads(line)["did"] for line in done.stdout.splitlines()] == ["paused", "resumed"]
    assert ([(each["who"], each["resource_id"]) for each in asked], done.exit_code) == ([("shop", ("harold",))], 130)
