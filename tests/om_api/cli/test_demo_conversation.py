"""The demo conversation has the shape that what is shown with it relies on."""

import gzip
import json
from collections import Counter
from datetime import datetime
from itertools import accumulate, pairwise

from om_api.cli.demo import RECORDING
from om_api.cli.replay import read_messages
from om_api.domain.message_tokens import count_message
from om_api.domain.tokens import counter
from om_api.domain.values import to_ms
from om_api.domain.wire import parse_member

LINES = gzip.decompress(RECORDING.read_bytes()).decode().splitlines()
FIELDS = [json.loads(line) for line in LINES]
FIRST = list({fields["id"]: fields for fields in FIELDS}.values())
THREADS = {
    "harold": {"harold-release", "harold-incident", "harold-team"},
    "albert": {"albert-forecast", "albert-refunds", "albert-weekly"},
    "codie": {"codie-checkout", "codie-search", "codie-migration", "codie-flaky"},
}


def time_of(fields):
    return datetime.fromisoformat(fields["timestamp"])


def parts(kind):
    """Every part of a kind with its message, in the order things happened."""
    messages = sorted(FIRST, key=time_of)
    return [
        (m, part) for m in messages if isinstance(m["content"], list) for part in m["content"] if part["type"] == kind
    ]


def test_every_line_is_a_message_of_the_wire_format():
    for line in LINES:
        fields = json.loads(line)
        message = parse_member(line.encode(), fields["thread_id"], fields["resource_id"], to_ms(fields["timestamp"]))

        assert (message.id, message.role, message.timestamp) == (fields["id"], fields["role"], fields["timestamp"])
        assert message.content


def test_replaying_it_needs_no_arguments():
    messages = list(read_messages(LINES, resource=None, thread=None))

    assert [message.id for message in messages] == [fields["id"] for fields in FIELDS]


def test_three_agents_talk_in_two_to_four_threads_each():
    found = {agent: {each["thread_id"] for each in FIELDS if each["resource_id"] == agent} for agent in THREADS}

    assert found == THREADS
    assert {each["resource_id"] for each in FIELDS} == set(THREADS)
    assert min(Counter(each["thread_id"] for each in FIRST).values()) >= 10


def test_it_has_about_250_messages_of_a_natural_length():
    tokens = [count_message(message, counter("o200k_base")) for message in read_messages(LINES, resource="", thread="")]

    assert 240 <= len(LINES) <= 270
    assert 18_000 <= sum(tokens) <= 24_000
    assert max(tokens) < 400


def test_it_spans_about_four_weeks_with_the_threads_interleaved():
    times = sorted(time_of(fields) for fields in FIELDS)
    changes = sum(a["thread_id"] != b["thread_id"] for a, b in pairwise(FIELDS))

    assert 24 <= (times[-1] - times[0]).days <= 30
    assert changes >= 50
    assert {time.utcoffset().total_seconds() / 3600 for time in times} == {1, 2}


def test_three_messages_are_written_twice():
    copies = [line for line, count in Counter(LINES).items() if count > 1]

    assert len(LINES) - len(FIRST) == len(copies) == 3


def test_fifteen_messages_are_written_late():
    times = [time_of(fields) for fields in FIRST]

    assert sum(time < newest for time, newest in zip(times, accumulate(times, max), strict=True)) == 15


def test_two_messages_share_an_instant():
    counts = Counter(time_of(fields) for fields in FIRST)

    assert [count for count in counts.values() if count > 1] == [2]


def test_at_least_forty_messages_use_tools_and_some_tools_fail():
    results = parts("tool-result")

    assert len({m["id"] for m, _ in parts("tool-call") + results}) >= 40
    assert len(results) >= 20
    assert sum(part["is_error"] for _, part in results) >= 8
    assert len({part["name"] for _, part in results}) >= 10


def test_every_call_is_answered_once_by_the_tool_it_named():
    calls = {(m["thread_id"], part["tool_call_id"], part["name"]) for m, part in parts("tool-call")}
    results = [(m["thread_id"], part["tool_call_id"], part["name"]) for m, part in parts("tool-result")]

    assert sorted(calls) == sorted(results)


def test_every_result_comes_after_its_call():
    called = {part["tool_call_id"]: time_of(message) for message, part in parts("tool-call")}

    assert all(called[part["tool_call_id"]] < time_of(message) for message, part in parts("tool-result"))
