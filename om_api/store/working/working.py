"""Working memories in the store: read, changed by who read what stands, forgotten."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.kept.extractors import newest, without_told
from om_api.domain.kept.working_memory import WorkingVersion, values_of
from om_api.domain.learned import learned
from om_api.domain.nesting import check_depth
from om_api.domain.values import KeptFields, Outcome, Scope, Stamped, is_id, new_id
from om_api.store.driver.replies import as_fields, as_hash, outcome
from om_api.store.driver.steps import Batch, Steps, Verb
from om_api.store.memory.decoding import held, held_of, stamped_of
from om_api.store.memory.keys import WORKING_FIELDS, Keys, working_fields

TRIES = 8
_KINDS = (*WORKING_FIELDS, "change")


@learned
class _Past(msgspec.Struct, frozen=True):
    """A former version, as it is kept."""

    value: dict[str, tuple[Any, int]]
    at: int
    by: str


def read(keys: Keys, resource: str, place: str) -> Batch[KeptFields]:
    """The working memory of a place, as it is kept."""
    return as_fields("HMGET", keys.of(resource).working, *working_fields(place)).then(held)


def read_each(keys: Keys, resource: str, places: Iterable[str]) -> Batch[dict[str, KeptFields]]:
    """The working memories of several places."""
    named = [*dict.fromkeys(places)]
    return as_fields("HMGET", keys.of(resource).working, *working_fields(*named)).then(
        lambda said: held_of(said, *named)
    )


def update(
    keys: Keys, scope: Scope, place: str, was: KeptFields, value: Stamped, by: str, keep: int, change: str | None = None
) -> Steps[Outcome]:
    """Write the working memory of a place, if it is the one that was read: else `superseded`. `keep` former versions are kept."""
    of = keys.of(scope.resource)
    args: list[Any] = [place, change or new_id(), was.version or "", msgspec.json.encode(value), by]
    args += [_past_of(was) if was.version else "", keep]
    names = [of.working, of.record(scope), of.aliases, of.tokens]
    return (yield from Verb("update_working", names, args, outcome))


def carry(keys: Keys, scope: Scope, place: str, to: str, keep: int) -> Steps[None]:
    """Have what a thread keeps, which was copied, kept by its copy too, where that says nothing newer."""
    for _ in range(TRIES):
        found = yield from read_each(keys, scope.resource, [place, to])
        value = newest(found[to].value, found[place].value)
        if value == found[to].value:
            return
        done = yield from update(keys, scope, to, found[to], value, found[place].by, keep)
        if done is Outcome.UPDATED:
            return
    raise StoreError(f"the working memory of {scope} changes faster than it can be read: repeat.", stored=False)


def moved(kept: Mapping[bytes, bytes], alias: str, thread: str, keep: int) -> list[tuple[str, bytes, bytes]]:
    """What becomes of the working memories of a resource when a thread becomes an alias of another: name, was, becomes.

    That thread has all of it, or in a version more the fields that were said last; b"" is no field.
    """
    own, theirs = _of_place(kept, alias), _of_place(kept, thread)
    gone = [(f"{kind}:{alias}", text, b"") for kind, text in own.items()] or [(f"version:{alias}", b"", b"")]
    new = _merged(own, theirs, keep) if theirs else own
    return gone + [(f"{kind}:{thread}", theirs.get(kind, b""), text) for kind, text in new.items()]


def _of_place(kept: Mapping[bytes, bytes], place: str) -> dict[str, bytes]:
    named = {name.decode("utf-8", "replace").partition(":")[::2]: text for name, text in kept.items()}
    return {kind: text for (kind, of), text in named.items() if of == place}


def _merged(own: Mapping[str, bytes], theirs: Mapping[str, bytes], keep: int) -> dict[str, bytes]:
    mine, was = (held([fields.get(name) for name in WORKING_FIELDS]) for fields in (own, theirs))
    value = newest(mine.value, was.value)  # of two that were said at once the thread's own
    if value == was.value:
        return {}
    said, oldest = msgspec.json.encode(value), str(was.version - keep)
    new = {"version": b"%d" % (was.version + 1), "change": new_id().encode(), "value": said, "shown": said}
    new |= {"at": b"%d" % max(mine.at, was.at), "by": mine.by.encode(), str(was.version): _past_of(was)}
    return new | ({oldest: b""} if oldest in theirs else {})


def _past_of(was: KeptFields) -> bytes:
    return msgspec.json.encode({"value": was.value, "at": was.at, "by": was.by})


def versions(keys: Keys, resource: str, place: str) -> Steps[list[WorkingVersion]]:
    """The former versions that are kept, oldest first."""
    found = yield from as_hash("HGETALL", keys.of(resource).working)
    kept = [_version(name, text) for name, text in found.items() if _is_version(name.decode(), place)]
    return sorted(kept, key=lambda each: each.version)


def former(keys: Keys, resource: str, place: str) -> Steps[Stamped | None]:
    """What was kept before the last change; None where that is not known."""
    found = yield from as_hash("HGETALL", keys.of(resource).working)
    numbers = [int(name.partition(b":")[0]) for name in found if _is_version(name.decode(), place)]
    return msgspec.json.decode(found[f"{max(numbers)}:{place}".encode()], type=_Past).value if numbers else None


def _is_version(name: str, place: str) -> bool:
    number, _, of = name.partition(":")
    return of == place and number.isdecimal()


def _version(name: bytes, text: bytes) -> WorkingVersion:
    said = msgspec.json.decode(text, type=_Past)
    return WorkingVersion(version=int(name.partition(b":")[0]), fields=values_of(said.value), at=said.at, by=said.by)


def erase(keys: Keys, resource: str, gone: Callable[[str], bool], *, dry_run: bool = False) -> Steps[list[str]]:
    """Take out of every working memory of a resource, its former versions too, what `gone` says of; the fields it took out of.

    Raises StoreError where one changes faster than it can be read.
    """
    of = keys.of(resource)
    for _ in range(TRIES):
        found = yield from as_hash("HGETALL", of.working)
        becomes = {name: new for name, text in found.items() if (new := _without(name, text, gone)) != text}
        if not becomes or dry_run:
            return [name.decode() for name in becomes]
        args = [word for name, new in becomes.items() for word in (name, found[name], new)]
        done = yield from Verb("erase_working", [of.working], args, outcome)
        if done is Outcome.CLEARED:
            return [name.decode() for name in becomes]
    raise StoreError(f"the working memory of {resource} changes faster than it can be read: repeat.", stored=False)


def _without(name: bytes, text: bytes, gone: Callable[[str], bool]) -> bytes:
    """What a field of the hash becomes; b"" where nothing of it is left."""
    kind = name.partition(b":")[0]
    if kind == b"by":
        return b"" if gone(text.decode("utf-8", "replace")) else text
    if kind in {b"value", b"shown"}:
        return _left(stamped_of(text), text, gone)
    if kind.isdigit():
        said = msgspec.json.decode(text)
        left, by = _left(said["value"], b"", gone), "" if gone(said["by"]) else said["by"]
        value = msgspec.json.decode(left) if left else said["value"]
        return msgspec.json.encode({**said, "value": value, "by": by}) if left or by != said["by"] else text
    return text


def _left(fields: Stamped, text: bytes, gone: Callable[[str], bool]) -> bytes:
    kept = without_told({field: value for field, (value, _) in fields.items()}, gone) or {}
    left = {field: each for field, each in fields.items() if field in kept}
    return text if len(left) == len(fields) else msgspec.json.encode(left)


def checked(fields: Mapping[str, bytes]) -> dict[str, bytes]:
    """The fields of working memories from elsewhere. Raises InvalidInputError for one that is none of ours, or cannot be read."""
    for name, text in fields.items():
        check_depth(text, f"field {name[:80]!r} of the working memories")
        if fault := fault_of(name, text):
            raise InvalidInputError(f"field {name[:80]!r} of the working memories {fault}")
    return dict(fields)


def fault_of(name: str, text: bytes) -> str:
    """What is wrong with a field of the hash; "" for one that can be read."""
    kind, colon, place = name.partition(":")
    if not colon or not (kind in _KINDS or kind.isdecimal()) or not (place == "" or is_id(place)):
        return "is none of ours"
    if kind in {"version", "at"}:
        return "" if text.isdigit() else "is no number"
    try:
        if kind in {"value", "shown"}:
            msgspec.json.decode(text, type=dict[str, tuple[Any, int]])
        elif kind.isdecimal():
            msgspec.json.decode(text, type=_Past)
    except (msgspec.DecodeError, RecursionError) as error:
        return f"cannot be read: {error}"
    return ""
