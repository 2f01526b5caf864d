"""Every agent's memory as it is right now, as a line and as a table, and what a demo says in the end."""

import re
from itertools import pairwise

import fakeredis
import pytest
from rich.console import Console

from om_api import Message, ObservationalMemory, load_settings
from om_api.cli.demo_screen import DemoPlayer, MemoryTable, Prefix, excerpt, report, shown


@pytest.fixture
def table(observed):
    """The table of two agents, of whom one has only begun."""
    observed.say("hello", resource="ada")
    return MemoryTable(observed.om, ["harold", "ada"])


def test_a_line_says_of_every_agent_what_its_stats_say(table, observed):
    now, told = observed.om.stats("harold"), observed.om.events("0", kinds="activated").events
    harold, ada = table.line().split("  ")

    assert harold.startswith(f"harold: raw {now.message_tokens + now.chunk_tokens:,}/1,000 obs ")
    assert harold.endswith(f" act {len(told)} gen 0")
    assert told
    assert ada == "ada: raw 100/1,000 obs 0/4,000 act 0 gen 0"


def test_a_table_has_a_row_for_each_agent_with_bars_as_full_as_its_tiers(table):
    console = Console(width=200, record=True)
    console.print(table)
    text = console.export_text()

    assert "100 / 1,000" in text
    assert "█" * 2 + "░" * 14 in text
    assert [row.split()[0] for row in text.splitlines() if "ready" in row] == ["harold", "ada"]


def test_a_table_looks_again_when_it_is_told_to_and_says_so_where_no_terminal_is(table, observed, capsys):
    observed.say("again", resource="ada")
    with shown(table) as look:
        look()

    assert "ada: raw 200/1,000" in capsys.readouterr().out


def test_nobody_is_met_before_a_worker_looked(world):
    assert not MemoryTable(world.om, ["harold"]).met()


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        (["abcd"], 0.0),
        (["abcd", "abcd"], 1.0),
        (["ab", "abcd"], 0.5),
        (["abcd", "xbcd"], 0.0),
        (["aaaa", "aaaa", "aabb"], 0.75),
        (["ä", "ö"], 0.5),
    ],
)
def test_the_stable_share_is_of_bytes_from_the_first_one_on(texts, share):
    prefix = Prefix()
    for text in texts:
        prefix.add("t-1", text)

    assert prefix.share == share
    assert prefix.compared == len(list(pairwise(texts)))


def test_each_thread_is_compared_with_itself():
    prefix = Prefix()
    prefix.add("t-1", "abcd")
    prefix.add("t-2", "wxyz")

    assert prefix.compared == 0


@pytest.fixture
def om():
    with fakeredis.FakeRedis(server=fakeredis.FakeServer()) as client:
        yield ObservationalMemory(load_settings(environ={}), client=client)


def say(om, *names):
    words = "one line\n" * 40
    om.add_messages(
        Message(id=name, role="user", content=words, thread_id="t-1", resource_id="harold") for name in names
    )


@pytest.mark.parametrize(("pushed", "right"), [(2, True), (3, False), (1, False)])
def test_what_is_covered_never_or_by_mistake_is_said(om, capsys, pushed, right):
    say(om, "a", "b")
    told = report(om, MemoryTable(om, ["harold"]), DemoPlayer(om), pushed, 1.0), capsys.readouterr().out

    assert told[0] is right
    assert ("all 2 messages are covered exactly once: 2 raw, 0 in observations" in told[1]) is right
    assert (f"BROKEN: of {pushed} messages 2 are kept" in told[1]) is not right


def test_what_is_broken_is_named(om, capsys):
    say(om, "a", "b")
    om._connection.client.set("cortex:om:nonsense", "1")
    right = report(om, MemoryTable(om, ["harold"]), DemoPlayer(om), 2, 1.0)
    output = capsys.readouterr().out

    assert not right
    assert "BROKEN: of 2 messages 2 are kept" in output
    assert "1 breaches of what the store promises" in output
    assert re.search("nonsense +is no name of ours", output)


def test_an_excerpt_is_short_and_says_what_it_leaves_out(om):
    say(om, "a", "b")
    lines = excerpt(om.get_context("t-1", "harold"))

    assert len(lines) < 30
    assert max(map(len, lines)) <= 110
    assert "more lines ..." in "".join(lines)
