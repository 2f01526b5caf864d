"""What may be asked, and what is told of what may not."""

from datetime import UTC, date, datetime

import pytest

from om_api.client.recall.recall_query import (
    MOST_AROUND,
    MOST_HITS,
    MOST_OFFSET,
    RecallLimits,
    RecallQuery,
    recall_query,
    turns_beside,
)
from om_api.domain.errors import InvalidInputError

NO_DATES = ("2025-13-01", "2025-02-30", "2025.05.01", "10000-01-01", "soon")
USUAL = {
    "thread_id": None,
    "roles": (),
    "kinds": (),
    "after": None,
    "before": None,
    "limit": 10,
    "offset": 0,
    "around": 1,
    "max_tokens": None,
}


def asked(text="tea", timezone="UTC", **limits):
    return recall_query(text, timezone, RecallLimits(**{**USUAL, **limits}))


def test_without_limits_every_message_may_be_found():
    found = asked()

    assert found == RecallQuery(found.query)
    assert found.query.words == ("tea",)


def test_what_a_call_limits_stands_beside_what_its_query_does():
    found = asked("tea thread:t-2 role:user after:2025-05-01", thread_id="t-1", roles=("tool",), before="2025-06-01")

    assert (found.threads, found.roles, found.after, found.before) == ({"t-1"}, {"tool"}, None, 1_748_736_000_000)
    assert (found.query.threads, found.query.roles, found.query.after) == (("t-2",), ("user",), 1_746_057_600_000)


@pytest.mark.parametrize("before", ["2025-05-01", "2025-04-30"])
def test_times_between_which_nothing_lies_are_refused_with_what_to_do(before):
    with pytest.raises(InvalidInputError, match=rf"after is 2025-05-01.*before, {before}: exchange them"):
        asked(after="2025-05-01", before=before)


@pytest.mark.parametrize("text", ["tea thread:t-2", "tea role:user", "tea after:2025-05-01", "tea before:2025-06-01"])
def test_a_query_is_limited_by_what_it_says_or_by_its_call(text):
    assert asked(text).limited
    assert asked(after="2025-05-02").limited
    assert not asked().limited


@pytest.mark.parametrize(
    "given",
    [
        *("2025-05-01", "2025-05-01T00:00:00Z", 1_746_057_600, 1_746_057_600_000, "1746057600"),
        *(date(2025, 5, 1), datetime(2025, 5, 1, tzinfo=UTC)),
    ],
)
def test_a_time_is_a_date_or_a_moment(given):
    assert asked(after=given).after == asked(before=given).before == 1_746_057_600_000


@pytest.mark.parametrize(("given", "taken"), [("user", {"user"}), (["user", "tool"], {"user", "tool"}), ((), set())])
def test_roles_are_one_or_several(given, taken):
    assert asked(roles=given).roles == taken


def test_kinds_are_messages_unless_others_are_named():
    assert asked().kinds == {"message"}
    assert asked(kinds="observation").kinds == {"observation"}


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"text": 5}, "the query is '5': use a text"),
        ({"text": None}, "the query is 'None'"),
        ({"thread_id": "a b"}, "thread_id"),
        ({"thread_id": ""}, "thread_id"),
        ({"roles": ("actor",)}, "roles holds 'actor': use user, assistant, system, tool"),
        ({"roles": "x" * 100}, f"roles holds '{'x' * 40}'"),
        ({"kinds": ("notes",)}, "kinds holds 'notes': use message, observation, generation"),
        ({"after": "someday"}, "after is 'someday': use a date such as 2025-05-01"),
        ({"before": "2025-13-01"}, "before is '2025-13-01'"),
        ({"limit": 0}, "limit is '0': use a whole number from 1 to 100"),
        ({"limit": MOST_HITS + 1}, "limit is"),
        ({"limit": True}, "limit is 'True'"),
        ({"limit": "10"}, "limit is '10'"),
        ({"limit": 1.5}, "limit is '1.5'"),
        ({"offset": -1}, "offset is '-1': use a whole number from 0 to 10,000"),
        ({"offset": MOST_OFFSET + 1}, "offset is"),
        ({"around": -1}, "around is"),
        ({"around": MOST_AROUND + 1}, "around is"),
        ({"max_tokens": 0}, "max_tokens is '0': use a whole number from 1"),
        ({"text": "tea role:actor"}, "role:actor is none"),
        ({"text": "tea after:someday"}, "after:someday is no date"),
    ],
)
def test_what_cannot_be_asked_is_named_with_what_can(limits, told):
    with pytest.raises(InvalidInputError) as refused:
        asked(**limits)

    assert told in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", " ", "the of", "x" * 100_000, "a" + "\x00\x1b" * 50, 'an "open quote', "-", '"', "-tea"]
)
def test_whatever_is_typed_is_answered(text):
    found = asked(text).query

    assert found.words or found.reason
    assert len(found.text) <= 20_000


@pytest.mark.parametrize("given", [-1, 101, "5", None, True])
def test_so_many_turns_may_stand_beside_a_message(given):
    assert (turns_beside(0, "before"), turns_beside(100, "after")) == (0, 100)
    with pytest.raises(InvalidInputError, match=r"after is .*: use a whole number from 0 to 100"):
        turns_beside(given, "after")


def test_a_date_begins_where_the_agents_day_does_and_a_moment_is_itself():
    tokyo = asked("tea", "Asia/Tokyo", after="2025-05-01", before=date(2025, 5, 2))

    assert (tokyo.after, tokyo.before) == (1_746_025_200_000, 1_746_111_600_000)
    assert asked("tea", "Asia/Tokyo", after="2025-05-01T09:30:00Z").after == 1_746_091_800_000
    assert asked("tea after:2025-05-01T09:30:00Z", "Asia/Tokyo").query.after == 1_746_091_800_000


@pytest.mark.parametrize(
    "given",
    [
        *("9999-12-31", "1850-01-01", "0001-01-01", "2200-02-03", "20250501", "2025", "2025-05", "May 2025"),
        *("2025-05-01T09:30:00Z", "2025-05-01T09:30+02:00", *NO_DATES),
    ],
)
@pytest.mark.parametrize("timezone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_a_time_is_the_same_in_a_query_and_beside_it(given, timezone):
    """Breaks without: before:9999-12-31 was no date, and before="9999-12-31" was one."""

    def read(**how):
        try:
            found = asked(timezone=timezone, **how)
        except InvalidInputError:
            return "none"
        return found.before if found.query.before is None else found.query.before

    assert read(text=f'tea before:"{given}"') == read(before=given)
    assert (read(before=given) == "none") is (given in NO_DATES)
