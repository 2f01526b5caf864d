"""Every agent's memory as it is right now, as a line and as a table."""

from __future__ import annotations

import pytest
from rich.console import Console

from om_api.cli.demo_table import Board, shown


@pytest.fixture
def board(observed):
    """The board of two agents, of whom one has only begun."""
    observed.say("hello", resource="ada")
    return Board(observed.om, ["harold", "ada"])


def test_a_line_says_of_every_agent_what_its_stats_say(board, observed):
    now, told = observed.om.stats("harold"), observed.om.events("0", kinds="activated").events
    harold, ada = board.line().split("  ")

    assert harold.startswith(f"harold: raw {now.message_tokens + now.chunk_tokens:,}/1,000 obs ")
    assert harold.endswith(f" act {len(told)} gen 0")
    assert told
    assert ada == "ada: raw 100/1,000 obs 0/4,000 act 0 gen 0"


def test_a_table_has_a_row_for_each_agent_with_bars_as_full_as_its_tiers(board):
    console = Console(width=200, record=True)
    console.print(board)
    text = console.export_text()

    assert "100 / 1,000" in text
    assert "█" * 2 + "░" * 14 in text
    assert [row.split()[0] for row in text.splitlines() if "ready" in row] == ["harold", "ada"]


def test_a_board_looks_again_when_it_is_told_to_and_says_so_where_no_terminal_is(board, observed, capsys):
    observed.say("again", resource="ada")
    with shown(board) as look:
        look()

    assert "ada: raw 200/1,000" in capsys.readouterr().out


def test_nobody_is_met_before_a_worker_looked(world):
    assert not Board(world.om, ["harold"]).met()
