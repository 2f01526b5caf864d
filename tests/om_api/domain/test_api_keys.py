"""What a key may do, to whose memories, and how it is recognised without being kept."""

import itertools

import pytest

from om_api.domain.api_keys import (
    EVERY,
    LONGEST_LABEL,
    NOBODY,
    ApiKey,
    Proof,
    Role,
    Token,
    check_label,
    check_resources,
    hashed,
    new_key_id,
    new_secret,
)
from om_api.domain.errors import InvalidInputError


def test_roles_are_three_and_each_includes_the_one_before():
    order = list(Role)

    assert [str(role) for role in order] == ["reader", "writer", "operator"]
    for (a, one), (b, other) in itertools.product(enumerate(order), repeat=2):
        assert one.includes(other) == (a >= b)


def test_a_token_is_read_as_it_was_written_and_nothing_else_is_one():
    token = Token(new_key_id(), new_secret())

    assert Token.parse(str(token)) == token
    assert [Token.parse(text) for text in ("", str(token)[:-1], f"{token}x", str(token).upper(), f" {token}")] == [
        None
    ] * 5


def test_a_secret_fits_the_key_that_keeps_its_hash_and_the_one_before_until_it_ends():
    secret, before = new_secret(), new_secret()
    key = ApiKey(
        id="k",
        role=Role.READER,
        resources=("harold",),
        hash=hashed(secret),
        created_at=0,
        previous=hashed(before),
        previous_until=1_000,
    )

    given = [(secret, 5_000), (before, 999), (before, 1_000), ("", 0)]

    assert [key.fits(hashed(each), now) for each, now in given] == [True, True, False, False]
    assert not key.fits("", 0)
    assert not NOBODY.fits(hashed(""), 0)


def test_a_key_covers_what_it_is_bound_to():
    names = check_resources(("harold", "ada", "harold"))
    key = ApiKey(id="k", role=Role.READER, resources=names, hash="", created_at=0)

    assert names == ("ada", "harold")
    assert [key.covers(name) for name in ("ada", "harold", "zoe")] == [True, True, False]
    assert ApiKey(id="k", role=Role.READER, resources=(EVERY,), hash="", created_at=0).covers("zoe")


@pytest.mark.parametrize("names", [(), ("a b",), ("har*",), ("harold", "")])
def test_what_names_nobody_is_refused(names):
    with pytest.raises(InvalidInputError):
        check_resources(names)


def test_what_is_kept_of_a_token_is_no_secret():
    token = Token("0123456789ab", "s" * 43)

    assert token.proof == Proof("0123456789ab", hashed("s" * 43))


def test_a_key_expires_at_its_end_and_not_before():
    key = ApiKey(id="k", role=Role.READER, resources=(EVERY,), hash="", created_at=0, expires_at=1_000)
    lasting = ApiKey(id="k", role=Role.READER, resources=(EVERY,), hash="", created_at=0)

    assert [key.has_expired(now) for now in (999, 1_000)] == [False, True]
    assert not lasting.has_expired(10**15)
    assert [key.changes_with_time, lasting.changes_with_time] == [True, False]


def test_a_label_is_a_short_line():
    assert [check_label(text) for text in ("", " shop ", "Büro 1", "x" * LONGEST_LABEL)] == [
        "",
        "shop",
        "Büro 1",
        "x" * 40,
    ]


@pytest.mark.parametrize("text", ["x" * 41, "a\nb", "a\x1b[1m", "a\u2028b"])
def test_what_is_no_label_is_refused(text):
    with pytest.raises(InvalidInputError, match="one line of at most 40"):
        check_label(text)
