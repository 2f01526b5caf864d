"""What may be asked, and what is told of what may not."""

import pytest
from scene import HAROLD, at_step, filled, reflect

from om_api.client.recall.recall_notes import noted_parts
from om_api.client.recall.recall_query import MOST_AROUND, MOST_HITS, RecallLimits, recall_query
from om_api.domain.errors import InvalidInputError

NO_DATES = ("2025-13-01", "2025-02-30", "2025.05.01", "10000-01-01", "soon")
USUAL = {"thread_id": None, "roles": (), "kinds": (), "after": None, "before": None, "max_tokens": None}


def asked(text="tea", timezone="UTC", **limits):
    return recall_query(text, timezone, RecallLimits(**{**USUAL, "limit": 10, "offset": 0, "around": 1, **limits}))


def test_what_cannot_be_asked_is_named_with_what_can():
    for limits, told in [
        ({"text": 5}, "the query is '5': use a text"), ({"thread_id": "a b"}, "thread_id"),
        ({"roles": ("actor",)}, "roles holds 'actor': use user, assistant, system, tool"),
        ({"kinds": ("notes",)}, "kinds holds 'notes': use message, observation, generation"),
        ({"after": "2025-05-01", "before": "2025-05-01"}, "after is 2025-05-01"),
        ({"after": "2025-05-01", "before": "2025-04-30"}, "before, 2025-04-30: exchange them"),
        ({"after": "someday"}, "after is 'someday': use a date such as 2025-05-01"),
        ({"limit": 0}, "limit is '0': use a whole number from 1 to 100"),
        ({"limit": MOST_HITS + 1}, "limit is"), ({"limit": True}, "limit is 'True'"),
        ({"limit": "10"}, "limit is '10'"),
        ({"offset": -1}, "offset is '-1': use a whole number from 0 to 10,000"),
        ({"around": MOST_AROUND + 1}, "around is"),
        ({"max_tokens": 0}, "max_tokens is '0': use a whole number from 1"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError) as refused:
            asked(**limits)
        assert told in str(refused.value), limits


def test_a_time_is_the_same_in_a_query_and_beside_it():
    """Breaks without: before:9999-12-31 was no date, and before="9999-12-31" was one."""

    def read(timezone, **how):
        try:
            found = asked(timezone=timezone, **how)
        except InvalidInputError:
            return "none"
        return found.before if found.query.before is None else found.query.before

    dates = ("9999-12-31", "0001-01-01", "20250501", "2025", "2025-05", "May 2025", "2025-05-01T09:30+02:00")
    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        for given in (*dates, *NO_DATES):
            assert read(zone, text=f'tea before:"{given}"') == read(zone, before=given), (given, zone)
            assert (read(zone, before=given) == "none") is (given in NO_DATES), (given, zone)


def test_one_that_is_replaced_between_two_reads_is_one_too(store):
    """Time 0: what is in force is read. Time 1: a reflection replaces it. Time 2: what was replaced is read."""
    filled(store)
    steps = noted_parts(store.keys, [HAROLD], ["observation"], "auto")
    parts = store.run(at_step(steps, 1, lambda: reflect(store, "o2", "o3")))

    assert sorted(hit.id for part in parts for hit in part.hits) == ["o1", "o2", "o3"]
