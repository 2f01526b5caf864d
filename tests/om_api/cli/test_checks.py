"""A resource that has nothing to show is told from one that nobody knows; nothing is removed for good without a yes."""

import click
import pytest
from click.testing import CliRunner

from om_api.cli.checks import be_sure
from om_api.domain.errors import InvalidInputError

LOOKS = [("stats",), ("stats", "harold"), ("threads", "harold"), ("observations", "harold"), ("history", "harold")]


@pytest.mark.parametrize("look", [*LOOKS[1:], ("context", "harold", "t-1")], ids=" ".join)
def test_a_resource_that_nobody_knows_is_said_not_to_be(om, observed, look):
    typo = [word.replace("harold", "harlod") for word in look]
    result = om(*typo)

    assert result.exit_code == 1
    assert result.stdout == ""
    assert "harlod is not known here" in result.stderr
    assert om(*look).exit_code == 0


def test_looking_at_an_empty_store_is_no_error(om):
    assert om("stats").exit_code == 0


@pytest.mark.parametrize("look", LOOKS, ids=" ".join)
def test_a_resource_that_has_only_begun_is_known(om, world, look):
    world.say("hello")

    assert om(*look).exit_code == 0


def test_a_message_that_nobody_adopted_yet_is_known(om, client, prefix):
    client.zadd(f"{prefix}:{{harold}}:messages:t-1", {'{"id":"m-1","role":"user","content":"hi"}': 1763600000000})

    assert om("context", "harold", "t-1").exit_code == 0


def asked(answer, *, yes=False):
    """What came of a question that was answered so, and what was said on stderr."""
    result = CliRunner().invoke(click.Command("remove", callback=lambda: be_sure("Remove it?", yes)), input=answer)
    return result.exception, result.stderr


@pytest.mark.parametrize("answer", ["y\n", "yes\n"])
def test_a_yes_is_enough(answer):
    refused, said = asked(answer)

    assert refused is None
    assert said.startswith("Remove it? This cannot be undone.")


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_whatever_else_is_answered_removes_nothing(answer):
    refused, _ = asked(answer)

    assert isinstance(refused, InvalidInputError)
    assert str(refused) == "nothing was removed: answer y, or pass --yes"


def test_who_said_yes_before_is_not_asked():
    assert asked("", yes=True) == (None, "")


@pytest.mark.parametrize("words", ["context t-1 harold", "observe t-1 harold", "reflect t-1 harold"])
def test_a_thread_that_is_named_before_its_resource_is_said_to_be(om, world, words):
    world.say("hello")
    result = om(*words.split())

    assert result.exit_code == 1
    assert "t-1 is not known here, but is a thread of harold: name the resource first, harold t-1" in result.stderr
