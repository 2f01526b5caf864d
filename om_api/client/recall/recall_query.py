"""What is asked of recall: a query, and what its hits are limited to; checked before anything is looked up."""

import time
from collections.abc import Collection
from datetime import date, datetime
from typing import Any, NamedTuple

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import ROLES
from om_api.domain.values import check_id, shown, to_ms
from om_api.recall.days import moment_of
from om_api.recall.query import Query, parse_query
from om_api.recall.recalled import HITS, KINDS

MOST_HITS, MOST_AROUND, MOST_OFFSET = 100, 20, 10_000
MOST_TOKENS, MOST_BESIDE = 10_000_000, 100


class RecallQuery(NamedTuple):
    """A query with what its call limits it to, besides what it says itself; times in Unix ms, nothing named limits nothing."""

    query: Query
    threads: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset({"message"})
    after: int | None = None
    before: int | None = None
    limit: int = HITS
    offset: int = 0
    around: int = 1
    max_tokens: int | None = None

    @property
    def limited(self) -> bool:
        """Whether threads, roles or times are limited, by the call or by the query."""
        limits = (self.threads, self.roles, self.query.threads, self.query.roles)
        times = (self.after, self.before, self.query.after, self.query.before)
        return any(limits) or any(ms is not None for ms in times)


class RecallLimits(NamedTuple):
    """What somebody limits a query to, unchecked, as the client's `recall` is given it."""

    thread_id: str | None
    roles: Collection[str]
    kinds: Collection[str]
    after: object
    before: object
    limit: int
    offset: int
    around: int
    max_tokens: int | None


def recall_query(text: object, timezone: str, given: RecallLimits) -> RecallQuery:
    """Read what somebody asks; raises InvalidInputError that names what is wrong, and what is permitted."""
    if not isinstance(text, str):
        raise InvalidInputError(f"the query is {shown(text)!r}: use a text, such as 'passport number'")
    query = parse_query(text, int(time.time() * 1000), timezone)
    after, before = _times(given, timezone)
    return RecallQuery(
        query,
        frozenset() if given.thread_id is None else frozenset({check_id(given.thread_id, "thread_id")}),
        _some(given.roles, ROLES, "roles"),
        _some(given.kinds, KINDS, "kinds") or frozenset({"message"}),
        after,
        before,
        _number(given.limit, "limit", 1, MOST_HITS),
        _number(given.offset, "offset", 0, MOST_OFFSET),
        _number(given.around, "around", 0, MOST_AROUND),
        None if given.max_tokens is None else _number(given.max_tokens, "max_tokens", 1, MOST_TOKENS),
    )


def turns_beside(value: int, what: str) -> int:
    """How many turns somebody wants beside a message."""
    return _number(value, what, 0, MOST_BESIDE)


def _some(given: Collection[str], permitted: Collection[str], what: str) -> frozenset[str]:
    names = list(given) if isinstance(given, Collection) and not isinstance(given, str) else [given]
    if odd := [each for each in names if each not in permitted]:
        raise InvalidInputError(f"{what} holds {shown(odd[0])[:40]!r}: use {', '.join(permitted)}")
    return frozenset(map(str, names))


def _times(given: RecallLimits, timezone: str) -> tuple[int | None, int | None]:
    """From when, and before when; nothing lies between them where the first is not the earlier one."""
    after = None if given.after is None else _time(given.after, "after", timezone)
    before = None if given.before is None else _time(given.before, "before", timezone)
    if after is not None and before is not None and after >= before:
        raise InvalidInputError(
            f"after is {shown(given.after)}, which is not earlier than before, {shown(given.before)}: exchange them,"
            " or leave one out"
        )
    return after, before


def _time(value: Any, what: str, timezone: str) -> int:
    """A moment in Unix ms; a date is the beginning of that day in the agent's time zone, as in a query."""
    moment = value.isoformat() if isinstance(value, date | datetime) else value
    ms = moment_of(moment, timezone) if isinstance(moment, str) else None
    if ms is None and (ms := to_ms(moment)) is None:
        raise InvalidInputError(f"{what} is {shown(value)!r}: use a date such as 2025-05-01, ISO 8601, or Unix time")
    return ms


def _number(value: object, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInputError(f"{what} is {shown(value)!r}: use a whole number from {least:,} to {most:,}")
    return value
