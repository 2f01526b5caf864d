"""Reflections that cover nothing yet: thought ahead of need, waiting for somebody's review, or sent back by it.

And what one is decided and made of, read at one instant: by the Reflector, and by whoever reviews.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from om_api.domain.kept.extractors import extracted_with, merged
from om_api.domain.learned import learned
from om_api.domain.notes.pins import Notes, Pin, needed, pins_of, with_pins
from om_api.domain.values import Generation, Scope, Stored
from om_api.store.driver.steps import Steps, batch
from om_api.store.memory import reading, scope_state
from om_api.store.memory.keys import Keys
from om_api.store.memory.scope_state import ScopeState


class Review(NamedTuple):
    """Which draft somebody is to review, asked for and counting by itself at which server ms.

    `expires_at` 0: it was sent back.
    """

    id: str = ""
    asked_at: int = 0
    expires_at: int = 0

    @property
    def waits(self) -> bool:
        """Whether somebody may still say yes or no."""
        return bool(self.id and self.expires_at)

    @property
    def sent_back(self) -> bool:
        """Whether somebody said no, and it was not thought again yet."""
        return bool(self.id and not self.expires_at)


@learned
class Draft(msgspec.Struct, frozen=True):
    """A reflection that was thought of: the generation it makes, and the seqs of the observations it replaces.

    `comment` is what whoever sent it back said to that. `groups` names for each of these observations the group in which it is
    set aside; none where they are condensed.
    """

    generation: Generation
    seqs: tuple[float, ...]
    comment: str = ""
    groups: tuple[str, ...] = ()


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A reflection that waits for its review: the `generation` it would make, and the text of the one in force `before`.

    Unless somebody decides, it counts from `expires_at` (server's Unix ms) on.
    """

    resource: str
    thread: str | None
    id: str
    asked_at: int
    expires_at: int
    generation: Generation
    before: str


class WaitingReview(msgspec.Struct, frozen=True, kw_only=True):
    """That a reflection of a memory waits for its review, since `asked_at` until `expires_at` (server's Unix ms)."""

    resource: str
    thread: str | None
    id: str
    asked_at: int
    expires_at: int


def review_of(state: ScopeState) -> Review:
    """What a scope's record says of its draft; nothing where there is no draft, which may go without the record."""
    record = state.record
    return Review(record.proposed, record.proposed_at, record.proposed_until) if state.draft else Review()


class ReflectionInput(NamedTuple):
    """A scope, its observations, its generation in force, and the draft that fits them; without a draft nothing is reviewed."""

    state: ScopeState
    stored: Sequence[Stored]
    generation: Generation | None
    draft: Draft | None

    @property
    def review(self) -> Review:
        """What is said of the draft."""
        return review_of(self.state) if self.draft else Review()

    def covered(self, draft: Draft) -> list[Stored]:
        """The observations that a draft replaces, each with its group where they are set aside."""
        groups = dict(zip(draft.seqs, draft.groups, strict=False))
        return [_in_group(stored, groups) for stored in self.stored if stored.seq in draft.seqs]

    def needed(self, replaced: Sequence[Stored]) -> list[Pin]:
        """The pinned lines that a text must hold which takes the place of observations, and of the generation before."""
        scope, before = self.state.scope, [self.generation] if self.generation else []
        seqs = {stored.seq for stored in replaced}
        goes = Notes.of(before, [stored.observation for stored in replaced], scope)
        stays = Notes.of([], [stored.observation for stored in self.stored if stored.seq not in seqs], scope)
        return needed(pins_of(self.state.record.pins), goes, stays)

    def counting(self, draft: Draft, count: Callable[[str], int]) -> Generation:
        """The generation that a draft makes: with every line that is pinned by now, however long ago it was thought.

        And with what extractors found beside the notes that it replaces, and before those.
        """
        pooled, covered = self.state.scope.thread is None, self.covered(draft)
        before = self.generation.extracted if self.generation else {}
        extracted = extracted_with(before, (stored.observation for stored in covered))
        for slug, found in draft.generation.extracted.get("", {}).items():  # by the Reflector itself
            was = extracted.setdefault("", {}).get(slug)
            extracted[""][slug] = msgspec.structs.replace(found, value=merged(was and was.value, found.value))
        made = msgspec.structs.replace(draft.generation, extracted=extracted)
        text = with_pins(made.text, self.needed(covered), pooled=pooled)
        return made if text == made.text else msgspec.structs.replace(made, text=text, tokens=count(text))

    def bears(self, draft: Draft, was: "ReflectionInput") -> bool:
        """Whether a draft that fitted what `was` read fits this too: nothing has changed of it but what is pinned."""
        now, then = self.state.record, was.state.record
        same = (now.epoch, now.generation, now.proposed) == (then.epoch, then.generation, then.proposed)
        return same and {stored.member for stored in was.covered(draft)} <= {stored.member for stored in self.stored}


def _in_group(stored: Stored, groups: Mapping[float, str]) -> Stored:
    group = groups.get(stored.seq)
    return stored._replace(observation=msgspec.structs.replace(stored.observation, group=group)) if group else stored


def reflection_input(keys: Keys, scope: Scope) -> Steps[ReflectionInput]:
    """Read it, in one round trip unless chunks wait."""
    beside = batch(reading.observations(keys, scope), reading.generations(keys, scope, newest=1))
    state, (stored, generations) = yield from scope_state.look_beside(keys, scope, beside)
    draft = _fitting(state.draft, state.record.generation, stored)
    return ReflectionInput(state, stored, generations[-1] if generations else None, draft)


def _fitting(kept: bytes | None, generation: int, stored: Sequence[Stored]) -> Draft | None:
    """The draft that was kept, if it makes the next generation of observations that are still there."""
    if not kept:
        return None
    draft = msgspec.json.decode(kept, type=Draft)
    known = {each.seq for each in stored}
    return draft if draft.generation.n == generation + 1 and known.issuperset(draft.seqs) else None
