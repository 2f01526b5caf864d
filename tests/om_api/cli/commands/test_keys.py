"""`om keys`: a token is shown once, a key is listed without it, and ends when its owner says so."""

import re

import pytest
from key_ring import KeyRing

from om_api import load_settings
from om_api.domain.api_keys import Token

TOKEN = re.compile(r"om_[0-9a-f]{12}_[A-Za-z0-9_-]{43}")


@pytest.fixture
def ring(client, prefix):
    return KeyRing(load_settings(environ={"OM_PREFIX": prefix}), client=client)


def test_a_token_is_all_that_is_printed_and_it_opens_what_was_said(om, ring):
    made = om("keys", "create", "--resource", "harold", "--resource", "albert", "--role", "writer")
    key = ring.recognise(made.stdout.strip())

    assert TOKEN.fullmatch(made.stdout.strip())
    assert (key.role, key.resources) == ("writer", ("albert", "harold"))
    assert "only time it is shown" in made.stderr


def test_keys_are_listed_without_anything_that_opens(om, om_json, ring):
    token = om("keys", "create", "--resource", "*", "--role", "operator").stdout.strip()
    (listed,) = om_json("keys", "list")

    assert (listed["role"], listed["resources"]) == ("operator", ["*"])
    assert "operator" in om("keys", "list").stdout
    secret = Token.parse(token).secret
    hashes = [key.hash for key in ring.list()]
    assert not [word for word in (secret, *hashes) if word in str(listed) + om("keys", "list").output]


def test_a_key_is_listed_with_what_it_may_push(om, om_json, ring):
    limits = "--push-messages", "0.5", "--push-bytes", "100000"
    token = om("keys", "create", "--resource", "harold", "--role", "writer", *limits).stdout.strip()
    (listed,) = om_json("keys", "list")

    assert (listed["push_messages"], listed["push_bytes"]) == (0.5, 100_000)
    assert ring.recognise(token).pusher == (listed["id"], (0.5, 100_000))


def test_a_key_that_may_push_less_than_nothing_is_not_made(om, ring):
    refused = om("keys", "create", "--resource", "harold", "--role", "writer", "--push-messages", "-1")

    assert (refused.exit_code, "from 0 " in refused.stderr) == (2, True)
    assert ring.list() == []


def test_a_revoked_key_opens_nothing_and_cannot_be_revoked_again(om, om_json, ring):
    made = om_json("keys", "create", "--resource", "harold", "--role", "reader")

    assert om("keys", "revoke", made["id"]).stdout == "cleared\n"
    assert ring.recognise(made["token"]) is None
    again = om("keys", "revoke", made["id"])
    assert (again.exit_code, "om keys list" in again.stderr) == (1, True)


def test_a_key_that_nobody_knows_is_not_rotated(om):
    refused = om("keys", "rotate", "nobody")

    assert (refused.exit_code, "there is no key nobody" in refused.stderr) == (1, True)


@pytest.mark.parametrize(("grace", "known"), [((), False), (("--grace", "1h"), True)])
def test_a_rotated_key_has_another_token(om, om_json, ring, grace, known):
    made = om_json("keys", "create", "--resource", "harold", "--role", "reader")
    token = om("keys", "rotate", made["id"], *grace).stdout.strip()

    assert ring.recognise(token).id == made["id"]
    assert (ring.recognise(made["token"]) is not None) == known


@pytest.mark.parametrize(
    "args",
    [
        ("create", "--role", "reader"),
        ("create", "--resource", "harold", "--role", "king"),
        ("create", "--resource", "a b", "--role", "reader"),
        ("create", "--resource", "harold", "--role", "reader", "--expires", "soon"),
        ("create", "--resource", "harold", "--role", "reader", "--expires", "0.1s"),
        ("create", "--resource", "harold", "--role", "reader", "--rate", "often"),
        ("create", "--resource", "harold", "--role", "reader", "--label", "x" * 41),
        ("rotate", "nobody", "--grace", "soon"),
    ],
)
def test_what_no_key_can_be_is_refused(om, ring, args):
    assert om("keys", *args).exit_code == 2
    assert ring.list() == []


FULL = ("--label", "shop", "--expires", "30d", "--rate", "60/m")


def test_a_list_says_how_long_a_key_lasts_when_it_was_used_and_how_often_it_may_ask(om, om_json, ring):
    made = om_json("keys", "create", "--resource", "harold", "--role", "writer", *FULL)
    om_json("keys", "create", "--resource", "harold", "--role", "reader")
    ring.use(made["id"])
    second, first = sorted(om_json("keys", "list"), key=lambda key: key["label"])
    _, head, *rows = om("keys", "list").stdout.splitlines()
    (row,) = [row for row in rows if "shop" in row]

    assert (first["label"], first["rate"], first["expires"]) == ("shop", "60/m", made["expires"])
    assert first["last_used"]
    assert [second[name] for name in ("label", "rate", "expires", "last_used")] == ["", None, None, None]
    assert head.split() == ["id", "label", "role", "resources", "expires", "last", "used", "rate"]
    assert re.split(r"\s{2,}", row.strip())[1:4] == ["shop", "writer", "harold"]
    assert re.search(r"in \d+d +\d+s ago +60/m$", row.strip())


def test_the_list_fits_into_80_columns(om, om_json, ring):
    key = om_json("keys", "create", "--resource", "harold", "--role", "operator", *FULL, "--label", "assistant")
    ring.use(key["id"])

    assert max(map(len, om("keys", "list").stdout.splitlines())) <= 80


def test_what_is_made_rotated_and_revoked_can_be_read_by_a_program(om_json, ring):
    made = om_json("keys", "create", "--resource", "harold", "--role", "writer", *FULL)
    changed = om_json("keys", "rotate", made["id"])
    ended = om_json("keys", "revoke", made["id"])

    assert ring.recognise(changed["token"]) is None
    assert {**changed, "token": "", "rotated": None} == {**made, "token": ""}
    assert changed["token"] != made["token"]
    assert ended == {"id": made["id"], "outcome": "cleared"}
