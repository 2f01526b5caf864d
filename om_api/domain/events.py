"""Events: what happened to a memory, for whoever watches. Ids, sizes, seconds and costs; never a word of a message."""

import re
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.learned import learned
from om_api.domain.values import Chunk, Generation, Observation, Scope, check_id

_OF_CHUNK = ("thread", "chunk", "messages", "message_tokens")
_OF_REFLECTION = ("thread", "generation", "observations", "input_tokens", "tokens", "level", "loss", "model")
_PRICE = ("seconds", "cost")
# every kind, in the order of a memory's life, with what it carries beside its id, time and resource, where that is known
KINDS: dict[str, tuple[str, ...]] = {
    "sealed": _OF_CHUNK,
    "observing": _OF_CHUNK,
    "buffered": (*_OF_CHUNK, "tokens", "model", *_PRICE),
    "extracted": ("thread", "chunk", "extractors"),
    "extraction_refused": ("thread", "chunk", "extractors"),
    "split": _OF_CHUNK,
    "quarantined": _OF_CHUNK,
    "activated": ("thread", "chunks", "message_tokens", "tokens", "by"),
    "reflecting": ("thread", "generation", "observations", "input_tokens"),
    "drafted": (*_OF_REFLECTION, *_PRICE),
    "review_asked": (*_OF_REFLECTION, "review", *_PRICE),
    "review_approved": ("thread", "generation", "review", "by"),
    "review_sent_back": ("thread", "generation", "review", "by"),
    "reflected": (*_OF_REFLECTION, "by", *_PRICE),
    "restored": ("thread", "generation"),
    "forgotten": ("thread", "observation", "messages", "tokens"),
    "erased": ("messages", "observations", "generations", "rejected"),
    "line_added": ("thread", "observation", "tokens", "by"),
    "line_corrected": ("thread", "observation", "generation", "by"),
    "working_memory_updated": ("thread", "by"),
    "pinned": ("thread", "pin", "by"),
    "unpinned": ("thread", "pin", "by"),
    "thread_changed": ("thread", "by"),
    "thread_aliased": ("thread", "to"),
    "thread_unaliased": ("thread", "to"),
    "thread_copied": ("thread", "to", "messages"),
    "paused": (),
    "resumed": (),
    "imported": ("messages", "observations", "generations"),
    "migrated": ("to",),
    "cleared": ("thread", "messages", "observations"),
    "failed": ("thread", "task", "why"),
    "crashed": (*_OF_CHUNK, "task", "crashes"),
    "answer_unusable": ("thread", "task", "model", "why", "loss", "quote"),
    "budget_reached": ("setting", "then"),
    "clock_ahead": ("messages", "seconds"),
    "hook_failed": ("setting", "hook", "why", "then"),
}
# why an answer of a model was not used
UnusableWhy = Literal["echo", "refusal", "empty", "loop", "unreadable", "loss"]
GAP = "gap"  # told by a reader, never published
_LARGEST = (1 << 64) - 1
MOST = 1_000  # events read at once
_ID = re.compile(r"([0-9]{1,20})(?:-([0-9]{1,20}))?")
# seconds up to which one call's time is counted together; what took longer is counted under `inf`
BOUNDS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_MICRO = 1_000_000


@learned
class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened. What a kind does not carry, or nobody knows, is left out: see docs/events.md.

    `id` orders events, and is what reading goes on after; `at` is the server's time in Unix ms. `resource` is "" where it
    is about all agents. `seconds` are those from asking a model until its answer was stored, `cost` is in dollars.
    """

    kind: str
    id: str = ""
    at: int = 0
    resource: str = ""
    thread: str | None = None
    chunk: str | None = None
    chunks: int | None = None
    messages: int | None = None
    message_tokens: int | None = None
    observation: str | None = None
    observations: int | None = None
    generation: int | None = None
    generations: int | None = None
    rejected: int | None = None
    input_tokens: int | None = None
    tokens: int | None = None
    level: int | None = None
    loss: float | None = None
    model: str | None = None
    seconds: float | None = None
    cost: float | None = None
    review: str | None = None
    by: str | None = None
    task: str | None = None
    crashes: int | None = None
    why: str | None = None
    setting: str | None = None
    then: str | None = None
    to: str | None = None
    pin: str | None = None
    extractors: str | None = None
    hook: str | None = None
    quote: str | None = None


def check_event_id(text: str) -> str:
    """An event's id, or a time in Unix ms that stands for all ids before it; raises InvalidInputError for any other text."""
    found = _ID.fullmatch(text)
    place = (int(found[1]), int(found[2] or 0)) if found else (_LARGEST, _LARGEST)
    if max(place) <= _LARGEST and min(place) < _LARGEST:  # behind the largest of all there can be nothing
        return f"{place[0]}-{place[1]}"
    raise InvalidInputError(f"{text[:80]!r} is no event's id: use one that was told, Unix ms, or 0 for the oldest kept")


class Told(NamedTuple):
    """Events, oldest first, and the id `after` which reading goes on, whether or not the last one was asked for.

    One of the kind `gap` says that what once stood in its place is no longer kept.
    """

    events: list[Event]
    after: str


class Wanted(NamedTuple):
    """Which events somebody wants; empty: whatever their kind, or resource."""

    kinds: Collection[str] = ()
    resources: Collection[str] = ()

    @classmethod
    def of(cls, kinds: str | Collection[str], resources: str | Collection[str]) -> "Wanted":
        """One name or several; raises InvalidInputError for a kind that does not exist."""
        wanted = cls(_several(kinds), tuple(check_id(name, "resource_id") for name in _several(resources)))
        if unknown := [kind for kind in wanted.kinds if kind not in KINDS]:
            raise InvalidInputError(f"there is no kind of event {unknown[0][:80]!r}: use any of {', '.join(KINDS)}")
        return wanted

    def takes(self, event: Event) -> bool:
        """Whether an event is one of them."""
        return (not self.kinds or event.kind in self.kinds) and (not self.resources or event.resource in self.resources)


def _several(names: str | Collection[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def activated(scope: Scope, chunks: Sequence[Chunk], chosen: Collection[str], by: str) -> Event:
    """The event of an activation; `by` is who made it, `worker` or `client`."""
    picked = [chunk for chunk in chunks if chunk.id in chosen]
    said = [msgspec.json.decode(chunk.observation, type=Observation) for chunk in picked if chunk.observation]
    return Event(
        kind="activated",
        resource=scope.resource,
        thread=scope.thread,
        chunks=len(picked),
        message_tokens=sum(chunk.tokens for chunk in picked),
        tokens=sum(observation.tokens for observation in said),
        by=by,
    )


def of_reflection(kind: str, scope: Scope, made: Generation, **more: Any) -> Event:
    """An event of a generation that was thought, or came into force."""
    return Event(
        kind=kind,
        resource=scope.resource,
        thread=scope.thread,
        generation=made.n,
        observations=len(made.observation_ids),
        input_tokens=made.input_tokens,
        tokens=made.tokens,
        level=made.level,
        loss=made.loss,
        model=made.model,
        **more,
    )


def cleared(scope: Scope, messages: int, observations: int) -> Event:
    """The event of a memory's end, or of that of one thread."""
    return Event(
        kind="cleared",
        resource=scope.resource,
        thread=scope.thread,
        messages=messages,
        observations=observations,
    )


def forgotten(resource: str, observation: Observation) -> Event:
    """The event of one observation's end, and of that of the messages behind it."""
    return Event(
        kind="forgotten",
        resource=resource,
        thread=observation.thread_id,
        observation=observation.id,
        messages=len(observation.message_ids),
        tokens=observation.tokens,
    )


def counts_of(event: Event) -> dict[str, int]:
    """What an event adds to the counters: fields and amounts, durations in millionths of a second."""
    if event.kind == "buffered":
        return {"observations": 1, **_timed("observer", event.seconds)}
    if event.kind in {"drafted", "review_asked", "reflected"}:
        return {**({"reflections": 1} if event.kind == "reflected" else {}), **_timed("reflector", event.seconds)}
    if event.kind == "quarantined":
        return {"quarantined": event.messages or 0}
    if event.kind == "crashed":
        return {"crashed": 1}
    if event.kind == "answer_unusable":
        return {f"unusable|{event.why}": 1}
    return {f"failed|{event.why}": 1} if event.kind == "failed" else {}


def _timed(who: str, seconds: float | None) -> dict[str, int]:
    if seconds is None:
        return {}
    return {f"{who}|seconds_sum": round(seconds * _MICRO), f"{who}|le|{bucket(seconds)}": 1}


def bucket(seconds: float) -> str:
    """The bound under which a duration is counted."""
    return next((f"{bound:g}" for bound in BOUNDS if seconds <= bound), "inf")
