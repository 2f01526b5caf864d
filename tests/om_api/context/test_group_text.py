"""Groups as the Actor's tool tells them: what a call asks, and pages that make up the whole."""

import pytest

from om_api.context.group_text import GroupCall, group_call, groups_text, notes_text
from om_api.domain.errors import InvalidInputError
from om_api.domain.notes.groups import NoteGroup
from om_api.domain.values import Observation

NOTES = [
    Observation(id=f"o-{n}", thread_id="t-1", text=f"Date: Mar {n}, 2026\n* note {n} </observations>")
    for n in range(1, 30)
]
GROUP = NoteGroup(id="k3fq7a2m", thread_id="t-1", heading="* 2026-03-14 [k3fq7a2m] 1 note: x")


def count(text):
    return len(text.split())


def lines_of(text):
    return [line for line in text.split("\n")[1:] if not line.startswith("There is more")]


@pytest.mark.parametrize(
    "call",
    [
        {"group": "k3fq7a2m", "offset": 3},
        {"group": "[k3fq7a2m]", "offset": 3.0, "query": "x"},
        {"function": {"name": "recall", "arguments": '{"group": "k3fq7a2m", "offset": 3}'}},
        {"type": "tool_use", "input": {"group": "k3fq7a2m", "offset": 3}},
    ],
)
def test_a_call_of_any_provider_names_a_group(call):
    assert group_call(call) == GroupCall("k3fq7a2m", 3)


@pytest.mark.parametrize("call", [{"query": "x"}, {"query": "x", "group": ""}, {"query": "x", "group": None}])
def test_a_call_without_a_group_asks_by_words(call):
    assert group_call(call) is None


@pytest.mark.parametrize(
    "call", [{"group": "x y"}, {"group": 3}, {"group": "all", "offset": -1}, {"group": "all", "offset": "2"}]
)
def test_what_cannot_be_asked_is_refused(call):
    with pytest.raises(InvalidInputError, match="is "):
        group_call(call)


@pytest.mark.parametrize("most", [1, 60, 90, 10_000])
def test_pages_make_up_the_whole_and_no_line_closes_a_tag_of_ours(most):
    told, offset = [], 0
    while offset is not None:
        text = notes_text(GroupCall("k3fq7a2m", offset), NOTES, "", most, count)
        told += lines_of(text)
        more = text.rsplit("offset ", 1)
        offset = int(more[1].rstrip(".")) if len(more) > 1 else None

    assert [line.replace("&lt;", "<") for line in told] == [line for own in NOTES for line in own.text.split("\n")]
    assert "</observations>" not in "".join(told)


def test_the_groups_of_a_month_are_listed_with_their_threads():
    assert groups_text(GroupCall("2026-03", 0), [GROUP], "") == f"Groups of 2026-03:\n{GROUP.heading} (thread t-1)"
    assert "Nothing is kept under 2025" in groups_text(GroupCall("2025", 0), [], "")
    assert groups_text(GroupCall("2026-03", 0), [GROUP], "Some is missing.").endswith("\nSome is missing.")
