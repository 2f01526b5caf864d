"""What must be covered: what was acknowledged is there exactly once, what may have arrived at most once."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from fuzz.checker import BrokenError, Held, waiting


class Push(NamedTuple):
    """Ids on their way to one thread."""

    resource: str
    thread: str
    ids: tuple[str, ...]


@dataclass(eq=False)
class Removal:
    """An owner removing messages; whatever is pushed meanwhile may go with them."""

    resource: str
    ids: frozenset[str]
    pushed: set[str]


class Expected:
    """For each resource and id, whether it must be there and how often it may be."""

    def __init__(self) -> None:
        self.threads: dict[tuple[str, str], str] = {}
        self._surely: dict[str, set[str]] = defaultdict(set)
        self._perhaps: dict[str, set[str]] = defaultdict(set)
        self._forgotten: dict[str, set[str]] = defaultdict(set)
        self._pushes: list[Push] = []
        self._removals: list[Removal] = []

    # -- pushes

    def begin_push(self, push: Push) -> None:
        """From now on these may be there."""
        self._pushes.append(push)
        self._perhaps[push.resource].update(push.ids)
        for name in push.ids:
            self.threads[push.resource, name] = push.thread
        for removal in self._removals:
            if removal.resource == push.resource:
                removal.pushed.update(push.ids)

    def acknowledge(self, push: Push, duplicates: Iterable[str]) -> None:
        """The server said that it has them: unless somebody removes them at this very time, they are there.

        A duplicate is there as well, from an earlier try; one that was forgotten since is still known to the server.
        """
        doubtful = {name for removal in self._removals if removal.resource == push.resource for name in removal.pushed}
        doubtful |= self._forgotten[push.resource] & set(duplicates)
        self._surely[push.resource].update(set(push.ids) - doubtful)

    def end_push(self, push: Push) -> None:
        """It is over, acknowledged or not."""
        self._pushes.remove(push)

    def on_their_way(self) -> bool:
        """Whether any push is under way."""
        return bool(self._pushes)

    # -- owners

    def begin_removal(
        self, resource: str, ids: Iterable[str], *, may_stay: Iterable[str] = (), forgets: bool = False
    ) -> Removal:
        """From now on these may go, of which some may stay; `forgets` when their ids stay known to the server."""
        under_way = {name for push in self._pushes if push.resource == resource for name in push.ids}
        removal = Removal(resource, frozenset(ids), {*under_way, *may_stay})
        self._removals.append(removal)
        self._surely[resource] -= removal.ids
        if forgets:
            self._forgotten[resource] |= removal.ids
        return removal

    def end_removal(self, removal: Removal, *, done: bool) -> None:
        """It is over. When it was done, what was not pushed meanwhile is gone for good, and must never reappear."""
        self._removals.remove(removal)
        others = {name for other in self._removals if other.resource == removal.resource for name in other.pushed}
        if done:
            self._perhaps[removal.resource] -= removal.ids - removal.pushed - others

    def of(self, resource: str, thread: str | None = None) -> set[str]:
        """Every id that may be there, in one thread or in all."""
        return {name for name in self._perhaps[resource] if thread in {None, self.threads[resource, name]}}

    def removing(self, resource: str) -> bool:
        """Whether an owner removes or moves anything of this resource now."""
        return any(removal.resource == resource for removal in self._removals)

    # -- what must hold

    def check(self, resource: str, covered: Counter[str], held: Held) -> None:
        """P1, from outside."""
        for name in self._surely[resource]:
            if covered[name] < 1:
                raise BrokenError(f"{resource}: the acknowledged message {name} is LOST")
        open_ = waiting(held)
        for name, times in covered.items():
            if name.startswith("malformed"):
                continue
            if name not in self._perhaps[resource]:
                raise BrokenError(f"{resource}: {name} was removed by its owner, or never pushed, and is there")
            # a plain copy stands beside its first form until it is adopted
            if times > 1 and self.threads[resource, name] not in open_:
                raise BrokenError(f"{resource}: {name} is covered {times} times")
