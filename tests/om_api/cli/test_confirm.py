"""Nothing is removed for good without a yes."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from om_api.cli.confirm import be_sure
from om_api.domain.errors import InvalidInputError


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
