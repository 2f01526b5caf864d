"""No text of anybody steers who shows it, and cells read well."""

import pytest

from om_api.cli.output import as_time, cell, print_table, typed, width


def test_no_control_character_of_a_message_reaches_a_table(om, world):
    world.say("\x1b[2Jgone\x07\u2028", *[f"message {n}" for n in range(12)])
    world.settle()
    output = om("sources", "harold", world.om.observations("harold")[0].id).stdout

    assert "\\x1b[2Jgone\\x07\\u2028" in output
    assert not {"\x1b", "\u2028"} & set(output)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        ("", "-"),
        (0, "0"),
        (12_345, "12,345"),
        (True, "yes"),
        (False, "no"),
        (0.5, "0.5"),
        ("a\x1bb", "a\\x1bb"),
    ],
)
def test_a_cell_reads_well(value, shown):
    assert cell(value) == shown


def test_a_time_is_of_utc_and_none_is_none():
    assert (as_time(1_795_167_000_000), as_time(0)) == ("2026-11-20 09:30:00Z", None)


def test_nothing_is_folded_where_no_terminal_is(capsys):
    print_table(["name", "text"], [["a", "x " * 500]])

    assert "x " * 499 in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "found", "line"),
    [
        ("/usr/local/bin/om", "/usr/local/bin/om", "om up"),
        (".venv/bin/om", None, ".venv/bin/om up"),
        (".venv/bin/om", "/usr/local/bin/om", ".venv/bin/om up"),
        ("/somewhere/pytest", None, "om up"),
    ],
)
def test_a_command_is_printed_as_it_can_be_typed(monkeypatch, argv, found, line):
    """Catches `make demo`, after which the shell did not know the `om` that it was told to type."""
    monkeypatch.setattr("sys.argv", [argv])
    monkeypatch.setattr("om_api.cli.output.which", lambda _: found)

    assert typed("om up") == line


@pytest.mark.parametrize(("said", "columns"), [("80", 80), ("0", 10_000), ("wide", 10_000), ("", 10_000)])
def test_what_is_read_by_no_terminal_is_as_wide_as_columns_says(monkeypatch, said, columns):
    monkeypatch.setenv("COLUMNS", said)

    assert width() == columns


def test_what_had_no_room_is_named(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_table(["name", "middle", "text"], [["a" * 30, "b" * 30, "c" * 30]], least=["middle"])
    printed = capsys.readouterr()

    assert "b" * 30 not in printed.out
    assert printed.err == "no room for: middle; a wider terminal shows them, and --json\n"
