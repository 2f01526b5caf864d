"""The page of recall: its programs run, and print what it says; its numbers and lists are those of the code."""

import inspect
import re
from collections import defaultdict
from datetime import UTC, datetime

import pytest
from pages import ROOT, blocks, section, table

from om_api import ObservationalMemory, load_settings
from om_api.cli.demo import recording
from om_api.client.recall import recall_query
from om_api.domain.values import to_ms
from om_api.recall import query, searching
from om_api.recall.query import parse_query
from om_api.recall.recalled import RecalledHit
from om_api.recall.said import said
from om_api.recall.segment import Findable, encode
from om_api.recall.stemming import LANGUAGES
from om_api.recall.wording import pieces

PAGE = (ROOT / "docs" / "recall.md").read_text()
ASK, TOOL, RANKER = blocks(PAGE, "python")
NOW = 1_795_167_000_000


@pytest.fixture
def printed(own_store, capsys):
    """What a program of the page prints, by lines."""

    def run(code):
        exec(compile(code, "docs/recall.md", "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out.splitlines()

    return run


def test_asking_finds_the_message_and_browsing_its_turns(printed):
    assert printed(ASK) == [
        "thread-1 user My passport number is X1234567. read as it was said",
        "None ",
        "['Which number do you mean?', 'My passport number is X1234567.', 'Noted.'] False False",
    ]


def test_the_tool_answers_the_models_of_three_providers(printed):
    answers = "\n".join(printed(TOOL)).split("I looked it up: ")[1:]

    assert len(answers) == 3
    assert all("Thread t-1, message " in each and "user: My passport number is X1234567." in each for each in answers)


def test_a_ranker_orders_what_words_found(printed):
    assert printed(RANKER) == ["['My passport expired.', 'A passport, a map and a tent for the journey to Oslo.']"]


def test_a_ranker_decides_even_against_the_words(own_store):
    class Shortest:
        pool = 50

        def scores(self, _, texts):
            return [-len(text) for text in texts]

    where = {"thread_id": "t-1", "resource_id": "harold"}
    with ObservationalMemory(ranker=Shortest()) as memory:
        memory.add_messages(
            [{"role": "user", "content": text} for text in ("the blue passport and the blue drawer", "a drawer")],
            **where,
        )

        assert next(hit.text for hit in memory.recall("blue drawer", "harold").hits) == "a drawer"


def test_every_parameter_of_recall_has_a_row():
    told = {name for row in table(section(PAGE, "Asking")) for name in row.replace("`", "").split(", ")}

    assert set(inspect.signature(ObservationalMemory.recall).parameters) - {"self", "query", "resource_id"} <= told


def test_every_field_of_a_hit_is_told():
    assert {name for name in RecalledHit.__struct_fields__ if f"`{name}`" not in PAGE} <= {"kind", "id"}


_WRITTEN = re.findall(r"^\| (`.+?`) \|", section(PAGE, "The query"), re.MULTILINE)


@pytest.mark.parametrize("written", re.findall(r"`([^`]+)`", " ".join(_WRITTEN)))
def test_what_the_table_of_the_query_writes_is_read_so(written):
    read = parse_query(f"{written} passport", NOW, "UTC")
    fields = [read.phrases, read.excluded, read.excluded_phrases, read.threads, read.roles, read.periods]

    if written != "passport number":
        assert any(fields) or (read.after, read.before) != (None, None)


def test_its_languages_are_those_of_the_code():
    told = re.search(r"or\s+one\s+of:\s([\w,\s]+)\.", PAGE)[1]

    assert [name.strip() for name in told.split(",")] == list(LANGUAGES)


@pytest.mark.parametrize(
    ("word", "parts"),
    [("user_id", "user id"), ("src/app.py", "app.py app"), ("ABC-123", "123"), ("3,120", "3120")],
)
def test_what_is_found_by_its_parts_is(word, parts):
    assert f"`{word}`" in PAGE
    assert set(parts.split()) <= set(pieces(word))


def test_its_numbers_are_those_of_the_code():
    settings = load_settings(environ={}).memory.recall
    told = (ROOT / "docs" / "recall.md").read_text().replace("\n", " ")

    assert f"(`recall.tokens`** ({settings.tokens:,}".removeprefix("(") in told
    assert settings.auto
    assert f"At most {recall_query.MOST_HITS} hits an answer, {recall_query.MOST_AROUND} turns" in told
    assert f"an offset of {recall_query.MOST_OFFSET:,}" in told
    assert f"the first {query.MOST_WORDS} words count" in told
    assert f"hits of a `certainty` of {searching.SURE} and more" in told
    assert f"({inspect.signature(ObservationalMemory.answer_recall).parameters['max_tokens'].default:,})" in told


def test_a_segment_is_of_the_size_it_says():
    threads = defaultdict(dict)
    for message in recording(datetime.now(UTC)):
        found = Findable(message.id, message.role, to_ms(message.timestamp), said(message))
        threads[message.resource_id, message.thread_id][message.id] = found
    every = [list(each.values()) for each in threads.values()]
    count = sum(map(len, every))
    size = sum(len(encode("t-1", each)) for each in every) / count
    text = sum(len(each.text.encode()) for some in every for each in some) / count
    told = re.search(r"takes (\d+) bytes a message.+? have (\d+) bytes of text", PAGE)

    assert size == pytest.approx(int(told[1]), rel=0.1)
    assert text == pytest.approx(int(told[2]), rel=0.02)
