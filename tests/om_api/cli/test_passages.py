"""Turns are shown so that the words stand out, and fit."""

import pytest

from om_api import Message
from om_api.cli.passages import Passages, print_hits
from om_api.recall.query import parse_query
from om_api.recall.recalled import Browsed, RecalledHit

AT = 1_795_167_000_000
QUERY = parse_query("passport number", AT, "UTC")


def turn(name, text, role="user"):
    return Message(role=role, content=text, id=name, thread_id="t-1", resource_id="harold", at=AT)


def hit(text, **said):
    found = {"kind": "message", "id": "m-1", "thread_id": "t-1", "role": "user", "message": turn("m-1", text), **said}
    return RecalledHit(at=AT, text=text, **found)


@pytest.fixture
def shown(capsys):
    def show(*hits):
        print_hits(hits, QUERY)
        return capsys.readouterr().out.splitlines()

    return show


def test_a_hit_stands_between_its_turns_with_its_words_marked(shown):
    beside = {"before": (turn("m-0", "Which one?", "assistant"),), "after": (turn("m-2", "Thank you.", "assistant"),)}

    assert shown(hit("My passport  number\nis X1.", covered_by="observation o-1", **beside)) == [
        "2026-11-20 09:30:00Z  t-1  user  m-1",
        "    in the notes as observation o-1",
        "    assistant: Which one?",
        "  > user: My «passport number» is X1.",
        "    assistant: Thank you.",
    ]


def test_of_a_note_the_lines_that_have_the_words_are_shown(shown):
    lines = "Date: today\n* a number\n* tea\n" + "* passport\n" * 6
    note = hit(lines, kind="observation", id="o-1", role="", message=None)

    assert shown(note) == [
        "2026-11-20 09:30:00Z  t-1  observation  o-1",
        "  > * a «number»",
        *["  > * «passport»"] * 4,
        "    and 2 more lines",
    ]


def test_hits_are_parted_and_one_of_all_threads_says_so(shown):
    generation = hit("* passport", kind="generation", id="1", role="", message=None, thread_id="")

    assert shown(hit("passport"), generation)[2:4] == ["", "2026-11-20 09:30:00Z  all threads  generation  1"]


def test_a_long_message_is_shown_where_its_words_are(shown):
    text = f"{'before ' * 500}the passport {'behind ' * 500}"
    [_, line] = shown(hit(text))

    assert "the «passport» behind" in line
    assert len(line) < 750


def test_lines_fit_and_all_begin_as_far_to_the_right(shown, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = shown(hit("the passport number is the one that was asked for yesterday, or the day before that"))[1:]

    assert max(map(len, lines)) <= 40
    assert len(lines) > 2
    assert all(line.startswith("    ") and line[4] != " " for line in lines[1:])


def test_no_control_character_of_a_message_is_printed(shown):
    assert shown(hit("\x1b[2J passport\x07"))[-1] == "  > user: \\x1b[2J «passport»\\x07"


def test_words_have_a_style_where_there_is_one(shown, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    lines = shown(hit("my passport", before=(turn("m-0", "Which passport?"),)))

    assert lines[1:] == ["    \x1b[2muser: Which passport?\x1b[0m", "  > user: my \x1b[1;7mpassport\x1b[0m"]


def test_turns_are_shown_whole_with_their_ids(capsys):
    own = turn("m-1", "one\ntwo")
    Passages().turns(Browsed(message=own, before=(turn("m-0", "zero", "assistant"),)))

    assert capsys.readouterr().out.splitlines() == [
        "  2026-11-20 09:30:00Z  assistant  m-0",
        "    zero",
        "> 2026-11-20 09:30:00Z  user  m-1",
        "    one",
        "    two",
    ]
