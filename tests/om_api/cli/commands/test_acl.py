"""`om acl`: prints what it would set, sets it, shows a password once, lists and ends users."""

import re
import shlex
from urllib.parse import quote

import pytest
import redis

WORD = re.compile(r"[A-Za-z0-9_-]{43}")
CHOSEN = "a password of sixteen and more"


@pytest.fixture(autouse=True)
def nobody_stays(client, prefix):
    yield
    for name in client.acl_users():
        if name.startswith(f"{prefix}/"):
            client.execute_command("ACL", "DELUSER", name)


@pytest.fixture
def log_in(server_url, prefix):
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


def test_a_password_that_was_made_is_all_that_is_printed_and_is_printed_once(om, log_in, prefix):
    made = om("acl", "harold", "--apply", "--generate")
    assert WORD.fullmatch(made.stdout.strip())
    assert log_in(made.stdout.strip())
    assert quote(f"{prefix}/harold/writer", safe="") in made.stderr
    for later in (("--list",), ("harold",), ("harold", "--apply")):
        assert made.stdout.strip() not in om("acl", *later).output


def test_a_password_is_read_from_where_no_other_process_sees_it(om, log_in, tmp_path, monkeypatch):
    (tmp_path / "password").write_text(f"{CHOSEN}\n")
    monkeypatch.setenv("HAROLD_PASSWORD", CHOSEN)
    for named in ("--password-file password", "--password-file -", "--password-env HAROLD_PASSWORD"):
        done = om("acl", "harold", "--apply", *named.split(), stdin=f"{CHOSEN}\n")
        assert (done.exit_code, done.stdout, CHOSEN in done.output) == (0, "", False), named
        assert log_in(CHOSEN), named


def test_users_are_listed_and_ended_by_role_or_all_of_a_resource(om, om_json, prefix):
    for words in (("harold",), ("harold", "--role", "reader"), ("albert",), ("--workers",)):
        assert om("acl", *words, "--apply", "--generate").exit_code == 0
    names = [user["name"].removeprefix(f"{prefix}/") for user in om_json("acl", "--list")]
    assert names == ["albert/writer", "harold/reader", "harold/writer", "workers"]
    assert "harold/reader" in om("acl", "--list").stdout
    for words, left in ((("harold", "--role", "reader"), ["albert/writer", "harold/writer", "workers"]),
                        (("harold",), ["albert/writer", "workers"]), (("--workers",), ["albert/writer"])):  # fmt: skip
        assert om("acl", *words, "--revoke").stdout == "cleared\n"
        assert [user["name"].removeprefix(f"{prefix}/") for user in om_json("acl", "--list")] == left


def test_what_cannot_be_meant_is_refused_and_nothing_is_set(om, om_json):
    for words, says in {"": "name a resource, or --workers", "harold --workers": "and not both",
                        "har*ld": "write har+_2Ald", "harold --apply --reset": "would have no password",
                        "harold --apply --revoke": "three things",
                        "harold --apply --generate --password-file x": "use one of them",
                        "harold --apply --password-file not-there": "not-there cannot be read",
                        "harold --apply --password-env NOT_THERE": "NOT_THERE is not set",
                        "harold --role operator": "operator"}.items():  # fmt: skip
        refused = om("acl", *words.split())
        assert (refused.exit_code, says in refused.stderr) == (2, True), words
    assert om_json("acl", "--list") == []
