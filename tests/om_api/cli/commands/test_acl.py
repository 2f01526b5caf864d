"""`om acl`: prints what it would set, sets it, shows a password once, lists and ends users."""

import re
import shlex
from urllib.parse import quote

import pytest
import redis

from om_api.store.fleet import acl as rules
from om_api.store.memory.keys import Keys

WORD = re.compile(r"[A-Za-z0-9_-]{43}")
CHOSEN = "a password of sixteen and more"


@pytest.fixture(autouse=True)
def nobody_stays(client, prefix):
    """Users outlive keys: this test's are ended."""
    yield
    for name in client.acl_users():
        if name.startswith(f"{prefix}/"):
            client.execute_command("ACL", "DELUSER", name)


def test_every_way_of_it_prints_json(om_json, log_in, prefix):
    """Catches `om acl --json` that printed a line of Redis' own."""
    name = f"{prefix}/harold/writer"
    printed = om_json("acl", "harold")
    applied = om_json("acl", "harold", "--apply", "--generate")

    assert printed["user"] == applied["user"] == name
    assert printed["command"].startswith(f"ACL SETUSER {name} ")
    assert "password" not in printed
    assert log_in(applied["password"])
    assert {"saved", "open_door"} <= applied.keys()
    revoked = om_json("acl", "harold", "--revoke")
    assert (revoked["outcome"], revoked["users"]) == ("cleared", 1)


@pytest.fixture
def log_in(server_url, prefix):
    """Whether a password lets a user in."""

    def try_(password, name="harold/writer"):
        user = f"{quote(f'{prefix}/{name}', safe='')}:{quote(password)}"
        with redis.Redis.from_url(server_url.replace("://", f"://{user}@")) as own:
            try:
                return own.ping()
            except redis.AuthenticationError:
                return False

    return try_


def test_what_is_printed_makes_the_user_when_redis_is_told_so(om, client, log_in, prefix, monkeypatch):
    monkeypatch.setenv("HAROLD_PASSWORD", CHOSEN)
    printed = om("acl", "harold", "--password-env", "HAROLD_PASSWORD")
    assert f"{prefix}/harold/writer" not in client.acl_users()
    client.execute_command(*shlex.split(printed.stdout))

    assert printed.stdout.startswith(f"ACL SETUSER {prefix}/harold/writer reset on #")
    assert CHOSEN not in printed.output
    assert log_in(CHOSEN)


def test_what_is_printed_without_a_password_lets_nobody_in_and_says_so(om, client, log_in):
    printed = om("acl", "harold")
    client.execute_command(*shlex.split(printed.stdout))

    assert "no password yet" in printed.stderr
    assert not log_in("")


def test_a_password_that_was_made_is_all_that_is_printed_and_is_printed_once(om, log_in, prefix):
    made = om("acl", "harold", "--apply", "--generate")

    assert WORD.fullmatch(made.stdout.strip())
    assert log_in(made.stdout.strip())
    assert quote(f"{prefix}/harold/writer", safe="") in made.stderr
    for later in (("--list",), ("harold",), ("harold", "--apply")):
        assert made.stdout.strip() not in om("acl", *later).output


def test_who_applies_is_told_that_the_server_forgets_users_and_that_nobody_needs_one(om):
    said = om("acl", "harold", "--apply", "--generate").stderr

    assert "forgets them when it starts again" in said
    assert "switch the user default off" in said


@pytest.mark.parametrize("given", ["file", "stdin", "env"])
def test_a_password_is_read_from_where_no_other_process_sees_it(om, log_in, tmp_path, monkeypatch, given):
    (tmp_path / "password").write_text(f"{CHOSEN}\n")
    monkeypatch.setenv("HAROLD_PASSWORD", CHOSEN)
    named = {
        "file": ("--password-file", str(tmp_path / "password")),
        "stdin": ("--password-file", "-"),
        "env": ("--password-env", "HAROLD_PASSWORD"),
    }
    done = om("acl", "harold", "--apply", *named[given], stdin=f"{CHOSEN}\n" if given == "stdin" else None)

    assert (done.exit_code, done.stdout) == (0, "")
    assert CHOSEN not in done.output
    assert log_in(CHOSEN)


def test_a_new_password_is_a_second_one_until_the_older_are_reset(om, log_in):
    words = [om("acl", "harold", "--apply", "--generate").stdout.strip() for _ in range(2)]
    both = [log_in(word) for word in words]
    last = om("acl", "harold", "--apply", "--generate", "--reset").stdout.strip()

    assert both == [True, True]
    assert [log_in(word) for word in (*words, last)] == [False, False, True]


def test_users_are_listed_and_ended_by_role_or_all_of_a_resource(om, om_json, prefix):
    for words in (("harold",), ("harold", "--role", "reader"), ("albert",), ("--workers",)):
        assert om("acl", *words, "--apply", "--generate").exit_code == 0

    names = [user["name"].removeprefix(f"{prefix}/") for user in om_json("acl", "--list")]
    assert names == ["albert/writer", "harold/reader", "harold/writer", "workers"]
    assert "harold/reader" in om("acl", "--list").stdout
    for words, left in (
        (("harold", "--role", "reader"), ["albert/writer", "harold/writer", "workers"]),
        (("harold",), ["albert/writer", "workers"]),
        (("--workers",), ["albert/writer"]),
    ):
        assert om("acl", *words, "--revoke").stdout == "cleared\n"
        assert [user["name"].removeprefix(f"{prefix}/") for user in om_json("acl", "--list")] == left


def test_the_user_of_the_workers_is_printed_too(om, prefix):
    line = om("acl", "--workers").stdout.strip()

    assert line == rules.workers(Keys(prefix)).line()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "name a resource, or --workers"),
        (("harold", "--workers"), "and not both"),
        (("har*ld",), "is not an id"),
        (("harold", "--apply"), "would have no password"),
        (("harold", "--apply", "--reset"), "would have no password"),
        (("harold", "--apply", "--revoke"), "three things"),
        (("harold", "--apply", "--generate", "--password-file", "x"), "use one of them"),
        (("harold", "--apply", "--password-file", "not-there"), "not-there cannot be read"),
        (("harold", "--apply", "--password-env", "NOT_THERE"), "NOT_THERE is not set"),
        (("harold", "--role", "operator"), "operator"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_set(om, om_json, args, says):
    refused = om("acl", *args)

    assert (refused.exit_code, says in refused.stderr) == (2, True)
    assert om_json("acl", "--list") == []


def test_a_user_that_is_not_there_is_told_apart(om):
    refused = om("acl", "harold", "--revoke")

    assert (refused.exit_code, "om acl --list" in refused.stderr) == (1, True)


def test_whoever_may_not_make_users_is_told_so(om, bare, server_url, prefix):
    password = om("acl", "harold", "--apply", "--generate").stdout.strip()
    url = server_url.replace("://", f"://{quote(f'{prefix}/harold/writer', safe='')}:{password}@")
    refused = bare("--url", url, "acl", "albert", "--apply", "--generate")

    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "this ACL user may not do that" in refused.stderr
    assert password not in refused.output
