"""Partitions: an index that is no resource's stands in P parts, so that no key of it is everybody's.

How many there are is written in the store, beside the parts, and whoever asks an index goes by that. With one part, which is
what a store has where nothing is written, the part is the index's own name. Parts that hold entries no more were closed:
text stands there, which no command on an index takes. So nobody goes on by an older number without being told.

Time 0: a client knows one part. Time 1: all entries are moved into 64, and the one is closed. Time 2: the client marks a scope;
the server refuses, nothing is written, it reads the number and marks the scope in one of 64.
"""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Self, TypeVar
from zlib import crc32

import msgspec

from om_api.domain.errors import SettingsError, StoreError
from om_api.domain.learned import learned
from om_api.store.driver.replies import as_bool, as_bytes, as_int, nothing
from om_api.store.driver.steps import Askable, Batch, Steps, Verb, each

T = TypeVar("T")
MOST = 4_096
Count = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
CLUSTER = 64  # of a new store on a Cluster: a few for each of its servers
_CLOSED = "WRONGTYPE"
_PART = re.compile(r":[0-9]+:[0-9]+$")


class UnreadableError(StoreError):
    """What is written where the number of partitions stands is none."""


@learned
class Partitions(msgspec.Struct, frozen=True, kw_only=True):
    """What is written in the store: how many parts there are, how many there were before, and whether they are being moved."""

    count: Count
    former: tuple[Count, ...] = ()
    moving: bool = False


class Layout:
    """The number of parts as this process knows it. `wanted` is what its settings ask for, `usual` what a new store gets."""

    def __init__(self, key: str, wanted: int | None = None, usual: int = 1) -> None:
        self.key, self.wanted, self.usual = key, wanted, usual
        self.indexes: list[PartedIndex] = []
        self.moved: tuple[
            PartedIndex, ...
        ] = ()  # those whose entries are moved where there are more parts, and the old ones closed
        self.now = Partitions(count=wanted or usual)
        self.said = b""  # what stood there when it was read
        self._read = False

    @property
    def is_sure(self) -> bool:
        """Whether one may go by it: it was read, or it is 1, nobody wants another, and the server refuses if that is wrong."""
        return self._read or (self.now.count == 1 and self.wanted is None)

    def learned(self, said: bytes | None) -> None:
        """Go by what stands there from now on; raises SettingsError where this process' settings ask for another number."""
        now = _decoded(said)
        if self.wanted not in {None, now.count}:
            raise SettingsError(
                f"partitions is {self.wanted} here, and {now.count} in the store: set partitions to {now.count} or leave it"
                f" out, or move the store with om partitions {self.wanted}"
            )
        self.now, self.said, self._read = now, said or b"", True


class PartedIndex(str):
    """The name of an index, and with one part its key. `of` says in which part a resource's entries stand."""

    __slots__ = ("layout",)
    layout: Layout

    def __new__(cls, name: str, layout: Layout) -> Self:
        """An index of a layout, which knows it from then on."""
        index = super().__new__(cls, name)
        index.layout = layout
        layout.indexes.append(index)
        return index

    def of(self, name: str) -> str:
        """The part of a resource, or of a scope of it."""
        count = self.layout.now.count
        return self.part(part_of(name, count), count)

    def part(self, number: int, count: int) -> str:
        """The key of a part, of `count`."""
        return str(self) if count == 1 else f"{self}:{count}:{number}"

    def parts(self, count: int | None = None) -> list[str]:
        """The keys of all parts."""
        count = count or self.layout.now.count
        return [self.part(number, count) for number in range(count)]

    def every(self, name: str | None = None) -> list[str]:
        """The parts, of a resource or all, and those of before: what is only added up, or taken out, need not be moved."""
        counts = dict.fromkeys((1, *self.layout.now.former, self.layout.now.count))
        if name is not None:
            return [self.part(part_of(name, count), count) for count in counts]
        return [part for count in counts for part in self.parts(count)]

    def by_part(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Names by the part that they stand in."""
        found: dict[str, list[str]] = {}
        for name in names:
            found.setdefault(self.of(name), []).append(name)
        return found


def part_of(name: str, count: int) -> int:
    """Which of `count` parts a resource belongs to, or a scope of it: the CRC-32 of the resource's name says."""
    return crc32(name.partition("|")[0].encode("utf-8", "surrogateescape")) % count


def beside(part: str, what: str) -> str:
    """A key in the slot of a part of an index; no agent may write it, who may write to any part: no part's name begins so."""
    return f"{_PART.sub('', part)}:{what}:{{{part}}}"


def asked(layout: Layout, ask: Callable[[], Askable[T]]) -> Steps[T]:
    """What is asked of indexes by the parts there are: `ask` names them anew if they were closed meanwhile.

    Raises SettingsError where this process must not go by the number that holds.
    """
    yield from sure(layout)
    while True:
        before = layout.now.count
        try:
            return (yield from ask())
        except StoreError as error:
            if _CLOSED not in str(error) or (yield from learn(layout)).count == before:
                raise


def sure(layout: Layout) -> Steps[None]:
    """Know how many parts there are, or that the server will say so."""
    if not layout.is_sure:
        yield from learn(layout)


def of_all(index: PartedIndex, ask: Callable[[str], Batch[T]]) -> Steps[list[T]]:
    """What is asked of every part of an index."""
    return (yield from asked(index.layout, lambda: each(map(ask, index.parts()), atomic=False)))


def learn(layout: Layout) -> Steps[Partitions]:
    """Read how many parts there are; where nothing says so, a new store gets as many as are wanted here."""
    said = yield from as_bytes("GET", layout.key)
    if said is None and (wanted := layout.wanted or layout.usual) != 1:
        yield from _begin(layout, wanted)
        said = yield from as_bytes("GET", layout.key)
    layout.learned(said)
    return layout.now


def _decoded(said: bytes | None) -> Partitions:
    try:
        return msgspec.json.decode(said, type=Partitions) if said else Partitions(count=1)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableError(
            "the store's number of partitions cannot be read: write the number that there was anew with om partitions N",
            stored=False,
        ) from error


def _begin(layout: Layout, count: int) -> Steps[None]:
    """Say of a store where nothing does how many parts there are: a new one has `count`, and the only part is closed."""
    for index in layout.indexes:
        if (yield from as_int("EXISTS", str(index))):  # it was made by one part
            count = 1
    begun = Partitions(count=count, former=(1,) if count > 1 else (), moving=count > 1)
    if (yield from as_bool("SET", layout.key, msgspec.json.encode(begun), "NX").writing()) and count > 1:
        for index in layout.moved:
            yield from Verb(
                "vacate", [str(index), beside(index, "queued")], [0], nothing
            )  # what comes first is moved by the next sweep
