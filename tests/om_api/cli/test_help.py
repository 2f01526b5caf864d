"""Every command says what it does, with examples to copy."""

from __future__ import annotations

import pytest

from om_api.cli.group import PLACES

GROUPS = {"config": ("show", "check"), "rejected": ("list", "show", "retry", "drop")}
GROUPS["keys"] = ("create", "list", "revoke", "rotate")
COMMANDS = [(name,) for name in PLACES if name not in {"up", "demo", "bench"}]
COMMANDS += [(group, name) for group, names in GROUPS.items() for name in names]


@pytest.mark.parametrize("command", [(), *COMMANDS], ids=" ".join)
def test_every_help_text_has_examples_to_copy(bare, command):
    result = bare(*command, "--help")

    assert result.exit_code == 0
    assert "\n  Examples:\n    om " in result.stdout
    assert f"    om {' '.join(command)}" in result.stdout


def test_the_help_of_om_lists_every_command_and_every_exit_code(bare):
    text = bare("--help").stdout

    assert [name for (name, *_) in COMMANDS if f"  {name} " not in text] == []
    assert all(f"\n    {code} " in text for code in (0, 1, 2, 3, 130))
