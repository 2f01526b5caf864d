"""Which other memories a call composes: what the settings say and what it asks for itself, less what nobody may read."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from om_api.domain.caching import LRU
from om_api.domain.errors import InvalidInputError, NotPermittedError
from om_api.domain.snapshot import Snapshot
from om_api.domain.values import check_id
from om_api.settings import Settings
from om_api.settings.composed_memories import MOST_COMPOSED, ComposedMemory, circle_of, lacking_consent
from om_api.store.driver.steps import Steps
from om_api.store.driver.tolerant_read import UNREADABLE
from om_api.store.memory.composing import ComposedReader
from om_api.store.memory.keys import Keys

MayRead: TypeAlias = Callable[[str], bool]
NOT_BOUND = "the key in use is not bound to it"
NOT_PERMITTED = "this user of Redis may not read it: om acl shows what an agent's user is granted"
BROKEN = "its keys cannot be read: see om verify"
CANNOT_BE_READ = (NotPermittedError, *UNREADABLE)
REMEMBERED = 4_096
_REFUSED_S = 60.0  # after which a memory that the store refused is asked for again


class ComposedAsk(NamedTuple):
    """The memories that a call composes, in their order, and why others are left out."""

    memories: tuple[ComposedMemory, ...] = ()
    left_out: dict[str, str] = {}  # noqa: RUF012 - nobody changes it

    @property
    def names(self) -> list[str]:
        """Whose they are."""
        return [each.resource for each in self.memories]

    def without(self, names: Collection[str], why: str) -> "ComposedAsk":
        """The same, less some."""
        kept = tuple(each for each in self.memories if each.resource not in names)
        return ComposedAsk(kept, self.left_out | {name: why for name in self.names if name in names})

    def of(self, read: Snapshot) -> Snapshot:
        """What was read, with how much of each memory is shown, and why others are not."""
        most = {each.resource: each.max_tokens for each in self.memories}
        sized = [
            msgspec.structs.replace(notes, max_tokens=most[notes.resource])
            for notes in read.composed
            if notes.resource in most
        ]
        return msgspec.structs.replace(read, composed=sized, left_out=self.left_out | read.left_out)


class Composer:
    """Decides which memories calls compose. One that cannot be read is left out for a minute."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self._settings, self._keys = settings, keys
        self._refused: LRU[str, tuple[float, str]] = LRU(REMEMBERED)

    def asked(self, resource: str, also: Collection[str] | str, may_read: MayRead | None = None) -> ComposedAsk:
        """The memories that the settings compose, then those that a call names.

        A memory of the settings is left out without its consent (`composed_by`), or if the caller may not read it. A memory
        that the call names needs the caller's right only. Raises InvalidInputError for invalid ids, for the resource itself,
        for a name that is given twice, and for too many.
        """
        links, named = self._settings.links(resource), _named(resource, also)
        kept = [each for each in links.composed if may_read is None or may_read(each.resource)]
        left_out = {each.resource: NOT_BOUND for each in links.composed if each not in kept}
        known = {each.resource for each in links.composed}
        more = [ComposedMemory(resource=name) for name in named if name not in known]
        for name, key in links.refused:
            if key == "composed_by" and name not in named:
                left_out[name] = lacking_consent(resource, name, key)
        left_out |= {name: circle_of(resource, name) for name in links.circles if name not in named}
        if len(kept) + len(more) > MOST_COMPOSED:
            raise InvalidInputError(
                f"also makes {len(kept) + len(more)} memories composed into those of {resource}, with {len(kept)} of its "
                f"settings; permitted: {MOST_COMPOSED} in all"
            )
        ask = ComposedAsk((*kept, *more), left_out)
        for name in ask.names:
            until, why = self._refused.get(name) or (0.0, "")
            if time.monotonic() < until:
                ask = ask.without([name], why)
        return ask

    def readable(self, ask: ComposedAsk) -> Steps[ComposedAsk]:
        """The same without unreadable memories. Each is read alone, because one error ends a whole transaction."""
        for name in ask.names:
            try:
                yield from ComposedReader().read(self._keys, [name])
            except CANNOT_BE_READ as error:
                why = why_left_out(error)
                self._refused.put(name, (time.monotonic() + _REFUSED_S, why))
                ask = ask.without([name], why)
        return ask


def why_left_out(error: Exception) -> str:
    """Why an unreadable memory is left out."""
    return NOT_PERMITTED if isinstance(error, NotPermittedError) else BROKEN


def _named(resource: str, also: Collection[str] | str) -> Sequence[str]:
    if not isinstance(also, str | list | tuple | set | frozenset):
        raise InvalidInputError(f"also is {type(also).__name__}: use ids of other resources, such as ['team-blue']")
    names = [also] if isinstance(also, str) else list(also)
    for name in names:
        if check_id(name, "also") == resource:
            raise InvalidInputError(f"also names {resource} itself: name other resources")
    if len({*names}) < len(names):
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise InvalidInputError(f"also names {twice} twice: name each once")
    return names
