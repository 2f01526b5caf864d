"""What is told of a command: its verb, what its arguments name, and who typed it."""

import getpass

import pytest

from om_api.cli.attempt import CommandAttempt, DeclinedError, changed_nothing, user, word_of
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.values import Outcome


@pytest.mark.parametrize(
    ("given", "resource", "of"),
    [
        ({"resource": "harold", "observation": "o-1"}, "harold", "o-1"),
        ({"resource": "harold", "generation": 0, "thread": None}, "harold", "0"),
        ({"resource": None, "as_json": True}, "", ""),
        ({"key": "3f1c20a9be77", "grace": 0.0}, "", "3f1c20a9be77"),
    ],
)
def test_it_is_told_what_the_arguments_name(given, resource, of):
    entry = CommandAttempt("restored", given).entry("done", "rest")

    assert (entry.did, entry.resource, entry.of, entry.ended) == ("restored", resource, of, "rest")
    assert (entry.via, entry.who, entry.thread) == ("cli", user(), "")


def test_a_command_that_only_looked_is_not_told():
    attempt = CommandAttempt("erased", {"resource": "harold"})
    attempt.add(did="")

    assert attempt.entry("done") is None


@pytest.mark.parametrize(
    ("error", "nothing"),
    [
        (DeclinedError("no"), True),
        (StoreError("away", stored=False), True),
        (StoreError("lost", stored=None), False),
        (StoreError("kept", stored=True), False),
        (InvalidInputError("wrong"), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_what_may_have_been_done_is_told(error, nothing):
    assert changed_nothing(error) is nothing


def test_the_word_is_that_of_an_outcome():
    assert (word_of(Outcome.RESTORED), word_of(None)) == ("restored", "")


def test_a_user_without_a_name_is_told_by_its_number(monkeypatch):
    def nameless():
        raise KeyError("getpwuid(): uid not found: 1000")

    monkeypatch.setattr(getpass, "getuser", nameless)

    assert user().partition("@")[0].isdecimal()
