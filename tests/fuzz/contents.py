"""What every message says: its pieces give all of a form that was offered, once; it only grows, or is replaced while raw."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from fuzz.checker import BrokenError, Held, silent
from fuzz.pieces import Form, Kept, Piece, goes_on, pieces, uncounted

_AT_ONCE = 40  # words of one query
_MOST = 100
# the number of a name, which no other has: a word, unless a text went on at once
_WORD = re.compile(r"(?<=[a-z]-)\d{4}(?!\w)")


@dataclass
class Told:
    """What is known of one message: what was offered under its id, and what was seen of it, by the byte each piece begins at.

    `missing` are those that were seen and are no longer kept, `unsure` says that it may be known or not, `returns` that its
    source is over, so that its id may be new again, `over` that it must be.
    """

    offered: set[Form] = field(default_factory=set)
    replacing: set[Form] = field(default_factory=set)
    seen: dict[int, Piece] = field(default_factory=dict)
    missing: set[int] = field(default_factory=set)
    form: Form | None = None
    acknowledged: Form | None = None
    raw: bool = False
    unsure: bool = False
    returns: bool = False
    over: bool = False

    def all_of_it(self, found: Iterable[Piece]) -> dict[int, Piece]:
        """What is kept, and what is no longer kept but was seen; of one that was accepted anew only what is kept."""
        kept = {piece.after: piece for piece in found}
        return kept if self.is_anew(kept) else {**self.seen, **kept}

    def is_anew(self, kept: dict[int, Piece]) -> bool:
        """Whether its beginning was over, and is back."""
        return self.returns and 0 in kept and 0 in self.missing


class Contents:
    """Holds what every message says to what was offered. `unnamed` finds the forms of a message that was given no id."""

    def __init__(self, unnamed: Callable[[str, str, Form], set[Form]]):
        self._unnamed = unnamed
        self._told: dict[tuple[str, str], Told] = defaultdict(Told)
        self._excused: dict[str, set[str]] = defaultdict(set)

    # -- what happens

    def offer(self, resource: str, name: str, form: Form, *, replace: bool = False):
        told = self._told[resource, name]
        told.offered.add(form)
        if replace:
            told.replacing.add(form)

    def acknowledge(self, resource: str, name: str, form: Form):
        """It was answered for: from now on it says this, or more. Not one whose source is over: an edit of it is not told."""
        if not self._told[resource, name].returns:
            self._told[resource, name].acknowledged = form

    def excuse(self, resource: str, ids: Iterable[str]):
        """These pieces may go: their owner forgets them, or their source is over."""
        self._excused[resource].update(ids)

    def let_return(self, resource: str, held: Held):
        """A day is over: of messages that are not kept the ids may be new again."""
        found = pieces(held)
        for (_, name), told in self._of(resource):
            seen = list(told.seen.values())
            kept = any(piece in seen or not uncounted(held, [piece]) for piece in found.get(name, []))
            if seen and not kept and {piece.id for piece in seen} <= self._excused[resource]:
                told.returns, told.missing = True, set(told.seen)

    def must_return(self, resource: str, names: Iterable[str]):
        """Of messages whose sources are over the ids must be new again, unless one of them was removed since that."""
        seen = [self._told[resource, name] for name in names if self._told[resource, name].seen]
        for told in seen:
            told.over = told.returns and all(each.returns or not each.missing for each in seen)

    def begin_anew(self, resource: str, names: Iterable[str], *, unsure: Iterable[str]):
        """What their owner removed is not what may come; of the `unsure` nobody knows whether they went."""
        doubtful = set(unsure)
        for name in names:
            self._begin_anew((resource, name), unsure=name in doubtful)

    def _begin_anew(self, key: tuple[str, str], *, unsure: bool = False) -> Told:
        """Nothing that was seen counts any more."""
        was = self._told[key]
        self._told[key] = Told(was.offered, was.replacing, unsure=unsure)
        return self._told[key]

    def _of(self, resource: str) -> list[tuple[tuple[str, str], Told]]:
        return [(key, told) for key, told in self._told.items() if key[0] == resource]

    # -- what is kept

    def kept(self, resource: str, name: str, held: Held) -> Kept | None:
        told, found = self._told[resource, name], pieces(held).get(name, [])
        whole = told.all_of_it(found)
        if (told.unsure and 0 not in whole) or uncounted(held, found):
            return None
        if 0 not in whole:
            return Kept(None)
        if not found and told.returns:
            return Kept(None) if told.over else None
        form = self._form(resource, name, whole)
        return Kept(form, raw=len(whole) == len(found) == 1 and found[0].raw) if form else None

    def returning(self, resource: str) -> list[str]:
        return sorted(name for (_, name), told in self._of(resource) if told.returns)

    def latest(self, resource: str, name: str) -> Form | None:
        return self._told[resource, name].form

    def _form(self, resource: str, name: str, whole: dict[int, Piece]) -> Form | None:
        first = whole[0].form
        offered = self._told[resource, name].offered or self._unnamed(resource, whole[0].thread, first)
        text = "".join(whole[after].form.text for after in sorted(whole))
        return next((form for form in offered if (form.role, form.text) == (first.role, text)), None)

    # -- what must hold

    def check(self, resource: str, held: Held, unsure: set[str]):
        """Look at every message; not at the `unsure`, which somebody is removing."""
        found = pieces(held)
        for name in {*found, *(name for (_, name), told in self._of(resource) if told.seen)} - unsure:
            own = found.get(name, [])
            if not uncounted(held, own):
                self._check(f"{resource}: {name}", (resource, name), own)

    def _check(self, where: str, key: tuple[str, str], found: list[Piece]):
        told = self._told[key]
        kept, whole = {piece.after: piece for piece in found}, told.all_of_it(found)
        if 0 not in whole:
            return
        if len(kept) < len(found):
            raise BrokenError(f"{where} has two pieces that begin at one place: {found}")
        if told.is_anew(kept):
            self._excused[key[0]] -= {piece.id for piece in told.seen.values()}
            told = self._begin_anew(key)
        self._check_pieces(where, key[0], told, kept)
        form = self._form(*key, whole)
        if form is None:
            raise BrokenError(f"{where} says {[whole[n].form for n in sorted(whole)]}, which nobody offered")
        if kept:  # it says what it said or more, or was replaced while raw; of what went the newest part may never have been seen
            replaced = any(goes_on(each, form) for each in told.replacing)
            if told.form and not (goes_on(told.form, form) or (told.raw and replaced)):
                raise BrokenError(f"{where} said {told.form} and says {form}")
            if told.acknowledged and not (goes_on(told.acknowledged, form) or replaced):
                raise BrokenError(f"{where} was acknowledged as {told.acknowledged} and says {form}")
        told.seen, told.missing, told.form, told.unsure = whole, whole.keys() - kept.keys(), form, False
        told.raw = len(whole) == 1 and 0 in kept and kept[0].raw
        if kept:
            told.returns = told.over = False

    def _check_pieces(self, where: str, resource: str, told: Told, kept: dict[int, Piece]):
        for after, was in told.seen.items():
            now = kept.get(after)
            if now is None and was.id not in self._excused[resource]:
                raise BrokenError(f"{where}: its piece {was} is LOST")
            if now and after in told.missing:
                raise BrokenError(f"{where}: its piece {was} was over and is back")
            if now and not was.raw and was.form != now.form:
                raise BrokenError(f"{where}: its piece {was} was sealed and says {now.form}")


def check_recall(om: Any, resource: str, held: Held, ever: Iterable[str]):
    """Ask for every name that a text of this resource has, and for every one that had: those that are kept are found."""
    apart = silent(held)  # whose raw messages no recall finds that does not name their thread
    kept = {name: some for name, some in pieces(held).items() if not uncounted(held, some)}
    kept = {name: some for name, some in kept.items() if not any(each.raw and each.thread in apart for each in some)}
    said = {piece.id: set(_WORD.findall(piece.form.text)) for some in kept.values() for piece in some}
    there = {piece.id for some in pieces(held).values() for piece in some}
    there |= {each["id"] for each in held.everything("reflected") if each.get("group")}  # these are found with messages
    words = sorted({word for name in ever for word in _WORD.findall(name)}.union(*said.values()))
    for start in range(0, len(words), _AT_ONCE):
        asked = words[start : start + _AT_ONCE]
        answer = om.recall(" ".join(asked), resource, limit=_MOST, around=0)
        if answer.partial:
            raise BrokenError(f"{resource}: recall says that it is partial: {answer.partial}")
        found = Counter(hit.id for hit in answer.hits)
        for name, some in said.items():
            if some.intersection(asked) and found[name] != 1 and len(found) < _MOST:
                raise BrokenError(f"{resource}: {name}, which says {sorted(some)}, is found {found[name]} times")
        if odd := sorted(set(found) - there):
            raise BrokenError(f"{resource}: recall finds {odd}, of which nothing is kept")
