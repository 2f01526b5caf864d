"""What must be covered: what was acknowledged is there exactly once, what may have arrived at most once."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fuzz.checker import BrokenError, Held, covering, waiting
from fuzz.contents import Contents
from fuzz.pieces import Form, Turn, Turns, name_of, pieces

FIELDS = ("One", "Two", "Three")
TEMPLATE = "\n".join(f"- {field}:" for field in FIELDS)


@dataclass(eq=False)
class Push:
    """Ids on their way to one thread, and the turns of a history; an owner, or time, may remove the `doubtful` meanwhile.

    `overlapped` says that there was one of those at all. A turn without an id may be added under one of those that the client
    `remembers` of another that said the same.
    """

    resource: str
    thread: str
    ids: tuple[str, ...]
    turns: tuple[Turn, ...] = ()
    remembers: frozenset[str] = frozenset()
    doubtful: set[str] = field(default_factory=set)
    overlapped: bool = False

    @property
    def adds(self) -> set[str]:
        return {*self.ids, *self.remembers}


@dataclass(eq=False)
class Removal:
    """An owner who moves, forgets or clears messages; whatever is pushed while they clear may go with them."""

    resource: str
    ids: frozenset[str]
    pushed: set[str]
    kind: str
    turns: frozenset[Turn]
    since: int


class Expected:
    """For each resource and id, whether it must be there and how often it may be."""

    def __init__(self):
        self.threads: dict[tuple[str, str], str] = {}
        self._aliases: dict[str, dict[str, str]] = defaultdict(dict)
        self.turns = Turns()
        self.contents = Contents(self.turns.forms)
        self._surely: dict[str, set[str]] = defaultdict(set)
        self._perhaps: dict[str, set[str]] = defaultdict(set)
        self._forgotten: dict[str, set[str]] = defaultdict(set)
        self._expired: dict[str, set[str]] = defaultdict(set)
        self._stood: dict[str, set[str]] = defaultdict(set)  # what was covered when we looked last
        self._pushes: list[Push] = []
        self._removals: list[Removal] = []

    # -- pushes

    def begin_push(self, push: Push, said: Iterable[tuple[str, Form]], *, replace: bool = False):
        """From now on these may be there, saying what they say."""
        self._pushes.append(push)
        self._perhaps[push.resource].update(push.adds)
        for name in push.ids:
            self.threads[push.resource, name] = self.place(push.resource, push.thread)
        for name, form in said:
            self.contents.offer(push.resource, name, form, replace=replace)
        for removal in self._removals:
            if removal.resource == push.resource:
                removal.pushed.update(push.adds)
                push.doubtful.update(push.ids)
                push.overlapped = True

    def acknowledge(self, push: Push, kept: Mapping[str, Form | None], added: Collection[str]):
        """The server said that it has these: unless somebody removed them at this very time, they are there.

        What was not `added` is there as well, from an earlier try; one that was forgotten since is still known to the server.
        One that was changed is there and says something else: None. A turn of a history that nobody ever saw may be taken for
        one that was forgotten.
        """
        over = self._forgotten[push.resource] | self._expired[push.resource]
        for name, form in kept.items():
            if over and push.turns and name not in self._stood[push.resource]:
                continue
            if form and name not in push.doubtful:
                self.contents.acknowledge(push.resource, name, form)
            if name not in push.doubtful and (name in added or name not in over):
                self._surely[push.resource].add(name)

    def end_push(self, push: Push):
        self._pushes.remove(push)

    # -- owners, and time

    def begin_removal(
        self, resource: str, ids: Iterable[str], *, may_stay: Iterable[str] = (), kind: str = "moves"
    ) -> Removal:
        """From now on these may go, of which some may stay; who `forgets` has their ids stay known, who `clears` has not."""
        under_way = {name for push in self._pushes if push.resource == resource for name in push.adds}
        turns = frozenset(turn for push in self._pushes for turn in push.turns)
        removal = Removal(resource, frozenset(ids), {*under_way, *may_stay}, kind, turns, self.turns.now())
        self._removals.append(removal)
        self._surely[resource] -= removal.ids
        for push in self._pushes:
            push.doubtful |= removal.ids
            push.overlapped = True
        if kind == "forgets":
            self._forgotten[resource] |= removal.ids
            self.contents.excuse(resource, removal.ids)
        return removal

    def end_removal(self, removal: Removal, *, done: bool):
        """It is over. When it was done, what was not pushed meanwhile is gone for good, and must never reappear."""
        self._removals.remove(removal)
        others = {name for other in self._removals if other.resource == removal.resource for name in other.pushed}
        if done:
            self._perhaps[removal.resource] -= removal.ids - removal.pushed - others
        if removal.kind == "forgets" and (unsure := removal.ids & (removal.pushed | others)):
            self.contents.begin_anew(removal.resource, unsure, unsure=unsure)  # nobody knows what it said last
        if removal.kind == "clears":
            gone, unnamed = removal.ids | removal.pushed, self._unnamed(removal.resource)
            unsure = removal.pushed | others | (unnamed - removal.ids) if done else gone | unnamed
            self.contents.begin_anew(removal.resource, gone | unnamed, unsure=unsure)
        if removal.kind == "clears" and done:
            threads = {self.threads.get((removal.resource, name), "") for name in removal.ids}
            self.turns.remove(removal.resource, threads, removal.since, removal.turns)

    def may_stay(self, resource: str, name: str) -> bool:
        """Whether a message came, or may have come, while somebody removes it."""
        return any(name in each.pushed for each in self._removals if each.resource == resource)

    def expire(self, resource: str, sources: Iterable[str], histories: Iterable[str], held: Held):
        """Time took the sources of these messages, and what generations replaced of those: nothing need name them any more."""
        over = set(sources)
        self._expired[resource] |= over
        self.contents.excuse(resource, over)
        self.contents.let_return(resource, held)
        self._surely[resource] -= set(histories)
        for push in self._pushes:
            push.doubtful |= set(push.ids)
            push.overlapped = True

    def place(self, resource: str, thread: str) -> str:
        """The thread that a name stood for when we looked last."""
        return self._aliases[resource].get(thread, thread)

    def of(self, resource: str, thread: str | None = None) -> set[str]:
        return {name for name in self._perhaps[resource] if thread in {None, self.threads[resource, name]}}

    def ever(self, resource: str, thread: str | None = None) -> set[str]:
        return {name for (of, name), where in self.threads.items() if of == resource and thread in {None, where}}

    def removing(self, resource: str, kinds: Collection[str] = ("moves", "forgets", "clears")) -> bool:
        return any(removal.resource == resource and removal.kind in kinds for removal in self._removals)

    # -- what must hold

    def check(self, resource: str, held: Held):
        """P1, from outside."""
        self._meet_aliases(resource, held)
        self._meet_unnamed(resource, held)
        covered, past = covering(held)
        self._stood[resource] = set(covered)
        for name in self._surely[resource]:
            if covered[name] < 1 and name not in past:
                raise BrokenError(f"{resource}: the acknowledged message {name} is LOST")
        if lost := past - self._expired[resource]:
            raise BrokenError(f"{resource}: the messages behind an observation are LOST: {sorted(lost)}")
        open_ = {self.place(resource, thread) for thread in waiting(held)}
        for name, times in covered.items():
            if name.startswith("malformed"):
                continue
            if name_of(name) not in self._perhaps[resource] | self._forgotten[resource]:
                raise BrokenError(f"{resource}: {name} was removed by its owner, or never pushed, and is there")
            # a plain copy stands beside its first form until it is adopted
            if times > 1 and self.threads[resource, name_of(name)] not in open_:
                raise BrokenError(f"{resource}: {name} is covered {times} times")
        self._check_rows(resource, held)
        self.contents.check(resource, held, self._being_removed(resource))

    def _check_rows(self, resource: str, held: Held):
        """What an owner removed for good is in no row of the archive, whether anybody would read that or not."""
        known = self._perhaps[resource] | self._forgotten[resource]
        for row, members in held.of("row").items():
            stored = [json.loads(member) for member, _ in members]
            names = {name for each in stored for name in each.get("message_ids", [each.get("id", "")])}
            back = sorted(name for name in names if name_of(str(name)) not in known)
            if back and not row.startswith("reflections"):
                raise BrokenError(f"{resource}: {back} were removed by their owner, and are in the archive's row {row}")

    def _being_removed(self, resource: str) -> set[str]:
        removals = [removal for removal in self._removals if removal.resource == resource]
        pushed = self._unnamed(resource).union(*(each.pushed for each in removals))
        going = [each.ids | (pushed if each.kind == "clears" else set()) for each in removals]
        return {name_of(name) for some in going for name in some}

    def _unnamed(self, resource: str) -> set[str]:
        return {name for of, name in self.threads if of == resource and name.startswith("s-")}

    def _meet_aliases(self, resource: str, held: Held):
        """What was said by a name that stands for another thread by now is that thread's."""
        standing = held.of("aliases").get("", {})
        now = self._aliases[resource] = {name.decode(): thread.decode() for name, thread in standing.items()}
        for key, thread in self.threads.items() if now else ():
            if key[0] == resource and thread in now:
                self.threads[key] = now[thread]
        for thread in now:
            for kind in ("observations", "source", "chunks"):
                if held.of(kind).get(thread):
                    raise BrokenError(f"{resource}: {thread} stands for another thread, and holds {kind} of its own")

    def _meet_unnamed(self, resource: str, held: Held):
        """Messages that were given no id are known by what they say: there are no more of them than were said."""
        found = {name: some for name, some in pieces(held).items() if name.startswith("s-")}
        for name, some in found.items():
            self.threads[resource, name] = some[0].thread
        self._perhaps[resource].update(found)
        self.turns.check(resource, found)


@dataclass(eq=False)
class _Change:
    """Values that are being written, and of each field what others wrote while that lasted: either may be the later."""

    resource: str
    fields: dict[str, str | None]
    meanwhile: dict[str, set[str | None]] = field(default_factory=dict)


class WorkingMemory:
    """What each field of a resource may say: what was answered last, and whatever is under way or was never answered."""

    def __init__(self):
        self._may: dict[tuple[str, str], set[str | None]] = {}
        self._under_way: list[_Change] = []

    def changing(self, resource: str, fields: dict[str, str | None], work: Callable[[], bool]) -> Callable[[], bool]:
        """Work that changes fields of a resource, and says whether it did."""

        def change() -> bool:
            mine = _Change(resource, fields)
            self._under_way.append(mine)
            for name, value in fields.items():
                self._may.setdefault((resource, name), {None}).add(value)
            done = work()
            self._under_way.remove(mine)
            others = [each for each in self._under_way if each.resource == resource]
            for name, value in fields.items() if done else ():
                said = [each.fields[name] for each in others if name in each.fields]
                self._may[resource, name] = {value, *said, *mine.meanwhile.get(name, ())}
                for each in others:
                    each.meanwhile.setdefault(name, set()).add(value)
            return done

        return change

    def check(self, resource: str, kept: bytes | None):
        """Raise BrokenError for a field that says what nobody wrote last."""
        said = {name: value for name, (value, _) in json.loads(kept or b"{}").items()}
        for name in FIELDS:
            if said.get(name) not in self._may.get((resource, name), {None}):
                may = self._may.get((resource, name))
                raise BrokenError(f"{name} of {resource} says {said.get(name)!r}, and was to say one of {may}")
