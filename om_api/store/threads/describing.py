"""What is said of a thread, and which threads there are, in an order."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError, NotFoundError, QuotaReachedError, StoreError
from om_api.domain.values import MemoryMode, ThreadState, is_id, shown
from om_api.store.driver.replies import as_hash, as_pairs
from om_api.store.driver.steps import Steps, Verb, batch
from om_api.store.memory import clear, reading
from om_api.store.memory.decoding import AWAY, MEMORY, unsealed_threads
from om_api.store.memory.keys import Keys
from om_api.store.threads.aliases import aliases

Order = Literal["name", "activity"]
MOST_WITHOUT_MESSAGES = 1_000  # threads of a resource with a memory mode and no message yet
_TRIES = 5
_DIGITS = 18  # of a time


class ThreadsWanted(NamedTuple):
    """Which threads are listed: in which order, whether archived ones are (None: too), behind which place, and how many."""

    order: Order = "name"
    archived: bool | None = False
    after: str = ""
    limit: int | None = None

    def check(self) -> None:
        """Raise InvalidInputError for what cannot be asked."""
        if self.order not in {"name", "activity"}:
            raise InvalidInputError(f"order {shown(self.order)!r} is none: use name or activity")
        if self.archived not in {True, False, None}:
            raise InvalidInputError(f"archived is {shown(self.archived)!r}: use True, False, or None for all")
        if self.limit is not None and self.limit < 1:
            raise InvalidInputError(f"limit is {shown(self.limit)}: use 1 or more, or leave it out for all")
        if self.after and self.order == "activity" and _place(self.after) is None:
            raise InvalidInputError(
                f"after is {shown(self.after)!r}: in the order of activity use the `place` of the last thread that was read"
            )

    def page(self, times: Mapping[str, int]) -> list[str]:
        """The names of a page, of threads with the time of what was heard of them last."""
        if self.order == "name":
            return [name for name in sorted(times) if name > self.after][: self.limit]
        last = _place(self.after) if self.after else None
        ranked = sorted((-at, name) for name, at in times.items())
        return [name for at, name in ranked if last is None or (at, name) > last][: self.limit]


def _place(text: str) -> tuple[int, str] | None:
    at, colon, name = text.partition(":")
    return (-int(at), name) if colon and at.isdecimal() and len(at) <= _DIGITS and is_id(name) else None


def listed(keys: Keys, resource: str, wanted: ThreadsWanted) -> Steps[list[ThreadState]]:
    """Threads with their unsealed part and fields, in an order: also those that have only a memory mode, but no aliases."""
    wanted.check()
    of = keys.of(resource)
    standing = yield from aliases(keys, resource)
    every = yield from clear.threads_of(keys, resource)
    tokens, met = yield from batch(as_hash("HGETALL", of.tokens), as_pairs("ZRANGE", of.threads, 0, -1, "WITHSCORES"))
    away = {name.removeprefix(AWAY).decode() for name in tokens if name.startswith(AWAY)}
    moded = {name.removeprefix(MEMORY).decode() for name in tokens if name.startswith(MEMORY)}
    threads = sorted({*every, *filter(is_id, moded)})
    names = [name for name in threads if name not in standing and wanted.archived in {None, name in away}]
    times = {name.decode(): int(at) for name, at in met}
    if wanted.order == "activity":
        page = wanted.page((yield from _heard(keys, resource, names, times, unsealed_threads(tokens))))
    else:
        page = wanted.page(dict.fromkeys(names, 0))
    ask = reading.threads(keys, resource, page), reading.last_raw(keys, resource, page)
    found, raw = yield from batch(*ask, atomic=False)
    return [msgspec.structs.replace(one, at=max(one.at, raw[one.id])) for one in found]


def _heard(
    keys: Keys, resource: str, names: Sequence[str], times: Mapping[str, int], unsealed: Collection[str]
) -> Steps[dict[str, int]]:
    """Of when the newest that is known of threads is; what no worker has met is raw, or waits for adoption."""
    asked = [name for name in names if name in unsealed or name not in times]
    raw = yield from reading.last_raw(keys, resource, asked)
    return {name: max(times.get(name, 0), raw.get(name, 0)) for name in names}


def describe(
    keys: Keys, resource: str, thread: str, fields: Mapping[str, Any], *, archived: bool | None = None
) -> Steps[str]:
    """Set fields of an existing thread ("" removes one), and whether it is archived; returns its id.

    Raises NotFoundError for a thread that does not exist.
    """
    words = ["" if archived is None else int(archived), "", MOST_WITHOUT_MESSAGES, len(fields)]
    return (
        yield from _described(keys, resource, thread, [*words, *(word for pair in fields.items() for word in pair)])
    )[0]


def set_memory_mode(keys: Keys, resource: str, thread: str, memory: MemoryMode) -> Steps[tuple[str, bool]]:
    """Set a thread's memory mode, also before its first message; returns its id, and whether the mode was another one.

    Raises QuotaReachedError if too many threads have a mode and no message.
    """
    return (yield from _described(keys, resource, thread, ["", memory, MOST_WITHOUT_MESSAGES, 0]))


def _described(keys: Keys, resource: str, thread: str, words: Sequence[Any]) -> Steps[tuple[str, bool]]:
    of = keys.of(resource)
    for _ in range(_TRIES):
        names = [of.thread(thread), of.known(thread), of.messages(thread), of.tokens, of.threads]
        done, other = yield from Verb("describe", names, [thread, *words], _said)
        if done == "full":
            raise QuotaReachedError(
                f"too many threads of {resource} with a memory mode and no message: {MOST_WITHOUT_MESSAGES:,}; write to "
                f"them, or clear those that are not needed, such as {other}"
            )
        if done == "unknown":
            raise NotFoundError(f"{resource} has no thread {thread}: `om threads {resource} --all` lists its threads")
        if done != "alias":
            return thread, done == "changed"
        thread = other
    raise StoreError(f"{resource} has {thread} stand for ever other threads: repeat.", stored=False)


def _said(reply: Any) -> tuple[str, str]:
    """The reply's word, and the thread that `alias` and `full` name."""
    done, thread = reply if isinstance(reply, list) else (reply, b"")
    return done.decode(), thread.decode()
