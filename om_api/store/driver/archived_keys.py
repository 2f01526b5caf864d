"""Reading keys that were archived: what a worker moved to the archive is answered as if it still stood in Redis.

The sorted set `archived` of a resource decides, by membership: what it names stands in the archive, in this revision or else the
next one; what it does not name counts only in Redis.
Time 0: we read a source, and it is not there: it was archived. Time 1: we read that `archived` names it. Time 2: an owner erases,
for which all of it comes back. Time 3: we ask the archive in vain, look again, and find it in Redis.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol

from om_api.archive.entries import Entry
from om_api.archive.protocol import Archive
from om_api.domain.errors import ArchiveError
from om_api.store.driver.replies import Pair, scored
from om_api.store.driver.steps import Batch, Calls, FromArchive, Words

INDEX: Final = "archived"
_READS: Final = {"ZRANGE", "GET", "GETRANGE", "PTTL", "EXISTS", "ZCARD"}  # by other commands Redis alone is read
_WHOLE: Final = ("source:", "segment:", "reflected:")  # keys that are archived as a whole
_PARTLY: Final = "reflections"  # of which members are: "reflections:thread|4"
_TRIES = 5
_SOME = 500  # entries asked at once
_GONE = -2  # as PTTL says it


class Asking(Protocol):
    """How Redis and the archive are asked here."""

    def redis(self, batch: Batch[Any]) -> Calls[Any]:
        """The replies of Redis."""

    def archive(self, step: FromArchive[Any]) -> Calls[Any]:
        """What the archive says; raises ArchiveError."""


class _Lacking(NamedTuple):
    """A command whose reply may lack what was archived: its place in the batch, and what it would be an entry of."""

    place: int
    command: Words
    reply: Any
    name: str

    @property
    def is_partly(self) -> bool:
        return self.name.startswith(_PARTLY)


class _Look(NamedTuple):
    """What Redis says at one instant: its time (ms), what is archived in which revision, the commands' replies."""

    now: int
    archived: Mapping[str, int]
    replies: Sequence[Any]


def lacking(batch: Batch[Any], replies: Sequence[Any]) -> dict[str, list[_Lacking]]:
    """What of a batch may stand in the archive, by the beginning of its keys' names: their resource."""
    found: dict[str, list[_Lacking]] = {}
    for place, (command, reply) in enumerate(zip(batch.commands, replies, strict=True)):
        if command[0] in _READS and (not reply or reply == _GONE or command[0] == "ZRANGE"):
            for key in command[1 : None if command[0] == "EXISTS" else 2]:
                base, _, tail = str(key).partition("}:")
                if tail and (name := _name(tail, command, reply)):
                    found.setdefault(base + "}", []).append(_Lacking(place, command, reply, name))
    return found


def _name(tail: str, command: Words, reply: Any) -> str:
    """Which entry, or which key's entries, a reply may lack; "" if none: the newest generation is never archived."""
    if tail.startswith(_WHOLE):
        return "" if reply and reply != _GONE else tail.replace("segment:", "source:", 1)
    if command[0] != "ZRANGE" or not reply or not tail.startswith(_PARTLY) or tail[len(_PARTLY) :][:1] not in {"", ":"}:
        return ""
    first = int(command[2])
    many = len(scored(reply) if "WITHSCORES" in command else reply)
    return tail if first >= 0 or many < -first else ""


def filled(ask: Asking, batch: Batch[Any], replies: Any, missed: list[str] | None) -> Calls[Any]:
    """The replies to a batch, with what was archived of it; raises ArchiveError unless what is `missed` may be left out."""
    if not (found := lacking(batch, replies)):
        return replies
    replies = list(replies)
    for base, wanted in found.items():
        try:
            for each, reply in (yield from _of_resource(ask, base, wanted)):
                replies[each.place] = replies[each.place] or reply if each.command[0] == "EXISTS" else reply
        except ArchiveError as error:
            if missed is None:
                raise
            missed.append(str(error))
    return replies


def _of_resource(ask: Asking, base: str, wanted: Sequence[_Lacking]) -> Calls[list[tuple[_Lacking, Any]]]:
    resource = base[base.index("{") + 1 : -1]
    for _ in range(_TRIES):
        look = yield from _look(ask, base, wanted)
        marks = {name: look.archived[name] for each in wanted for name in _entries(each, look.archived)}
        entries: dict[str, Entry] = {}
        for some in slices(marks, _SOME):
            entries |= yield from ask.archive(FromArchive(partial(read_entries, resource, some)))
        if marks.keys() <= entries.keys():
            return [
                (each, _answer(each, reply, look, entries)) for each, reply in zip(wanted, look.replies, strict=True)
            ]
    raise lacks(resource, marks.keys() - entries.keys())


def lacks(resource: str, names: Collection[str]) -> ArchiveError:
    """What to say of an archive that has not what `archived` names."""
    return ArchiveError(
        f"the archive lacks {min(names)} of {resource}, {len(names):,} in all: if it was restored from an older backup, bring a "
        "newer one; om verify names them"
    )


def read_entries(resource: str, marks: Mapping[str, int], archive: Archive) -> dict[str, Entry]:
    """Entries as `archived` names them, for a step."""
    return archive.read(resource, marks)


def slices(marks: Mapping[str, int], size: int) -> Iterator[dict[str, int]]:
    """So many of what `archived` names at a time."""
    every = iter(marks.items())
    while some := dict(islice(every, size)):
        yield some


def _look(ask: Asking, base: str, wanted: Sequence[_Lacking]) -> Calls[_Look]:
    index, names = f"{base}:{INDEX}", list(dict.fromkeys(each.name for each in wanted))
    every = any(each.is_partly for each in wanted) or len(names) > _SOME
    marks = [("ZRANGE", index, 0, -1, "WITHSCORES")] if every else [("ZSCORE", index, name) for name in names]
    commands = [(*each.command[:2], 0, -1, "WITHSCORES") if each.is_partly else each.command for each in wanted]
    time, *replies = yield from ask.redis(Batch([("TIME",), *marks, *commands]))
    marked, replies = replies[: len(marks)], replies[len(marks) :]
    pairs: Iterable[tuple[Any, Any]] = scored(marked[0]) if every else zip(names, marked, strict=True)
    archived = {_text(name): int(float(score)) for name, score in pairs if score is not None}
    return _Look(int(time[0]) * 1000 + int(time[1]) // 1000, archived, replies)


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _entries(each: _Lacking, archived: Mapping[str, int]) -> Iterator[str]:
    if not each.is_partly:
        yield from [each.name] if each.name in archived else []
        return
    yield from (name for name in archived if name.startswith(f"{each.name}|"))


def _answer(each: _Lacking, reply: Any, look: _Look, entries: Mapping[str, Entry]) -> Any:
    found = [entries[name] for name in _entries(each, look.archived) if entries[name].expires_at > look.now]
    if each.is_partly:
        return _joined(each, scored(reply), found)
    if not found:
        return reply
    command, (entry,) = each.command, found
    if command[0] == "ZRANGE":
        return _shape(command, _slice(entry.members, int(command[2]), int(command[3])))
    if command[0] == "GETRANGE":
        return _slice(entry.segment, int(command[2]), int(command[3]))
    rest = {"GET": entry.segment or None, "PTTL": entry.expires_at - look.now, "EXISTS": 1, "ZCARD": len(entry.members)}
    return rest[command[0]]


def _joined(each: _Lacking, standing: Sequence[Pair], found: Sequence[Entry]) -> Any:
    """The generations that stood when the caller read, which goes with all else that was read then, and those archived by then.

    Time 0: the caller reads. Time 1: what was archived comes back, and another generation is made. What is older than the
    newest of time 0 belongs to the answer, whether it is `standing` now or was `found` in the archive, and nothing newer.
    """
    others = [*(pair for entry in found for pair in entry.members), *standing]
    own = _members(each, dict(others))
    newest, have = own[-1][1], {n for _, n in own}
    older = {n: (member, n) for member, n in others if n < newest and n not in have}
    merged = [*(older[n] for n in sorted(older)), *own]
    return _shape(each.command, _slice(merged, int(each.command[2]), int(each.command[3])))


def _members(each: _Lacking, numbers: Mapping[bytes, float]) -> list[Pair]:
    """The members of a caller's reply with their numbers, if need be as they are by now; 0 for what was removed since."""
    if "WITHSCORES" in each.command:
        return scored(each.reply)
    return [(member, numbers.get(member, 0.0)) for member in each.reply]


def _shape(command: Words, members: Sequence[Pair]) -> list[Any]:
    return list(members) if "WITHSCORES" in command else [member for member, _ in members]


def _slice(members: Any, first: int, last: int) -> Any:
    """From a place to another, both included, as Redis counts them: -1 is the last one."""
    first = max(first + len(members), 0) if first < 0 else first
    last = last + len(members) if last < 0 else last
    return members[first : last + 1]
