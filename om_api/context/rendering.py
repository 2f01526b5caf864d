"""From a snapshot to the context an agent's model reads; the next one of a thread is made of what the last one was."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Any

import msgspec

from om_api.context.ages import ages
from om_api.context.assemble import Context, Made
from om_api.context.capping import FittedNotes, fitted_notes, notes_room, smaller_moments
from om_api.context.composed import Composition, OwnTimes, composition
from om_api.context.cut import first_turn
from om_api.context.excerpts import excerpts
from om_api.context.kept import NOTHING_KEPT, KeptParts, KeptText, kept_text
from om_api.context.recalled import NOTHING, RecalledSection, recalled_section
from om_api.context.signature import Signer
from om_api.context.stable import stable_blocks
from om_api.context.tail import Tail, Tails, squeezed
from om_api.context.turns import Turns
from om_api.context.view import Block, View, local_time
from om_api.context.volatile import CurrentTask, Moment, volatile_blocks
from om_api.domain.caching import Memoized
from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.domain.values import Generation, Scope, Stored
from om_api.recall.recalled import RecalledHit

_NO_ROOM = "max_tokens leaves no room for its notes"


class Rendering:
    """The contexts of one thread, one after the other: what did not change since the last one is not rendered again.

    Threads may share it. Nobody may change what a snapshot holds that it was given.
    """

    def __init__(self, count: Count) -> None:
        self._stable = Memoized(partial(stable_blocks, count=count))
        self._fitted = Memoized(partial(fitted_notes, count=count))
        self._composition = Memoized(partial(composition, count=count))
        self._system = Memoized(_system)
        self._noted = Memoized(_noted)
        self._count = count
        self._aged = Memoized(_aged)
        self._kept = Memoized(kept_text)
        self._volatile = Memoized(lambda moment, _: volatile_blocks(moment, count))
        self._tails = Tails(count)
        self._turns = Turns()

    def context(
        self,
        snapshot: Snapshot,
        view: View,
        now_ms: int,
        max_tokens: int | None = None,
        *,
        unavailable: bool = False,
        hits: Sequence[RecalledHit] = (),
        added: str = "",
    ) -> Context:
        """Make a context of what was read at one instant; see `build`. `hits` are of the newest message, `added` is by hooks."""
        observations = sorted(snapshot.observations, key=lambda stored: stored.seq)
        messages = sorted(snapshot.messages, key=lambda message: message.at)
        kept = self._kept_beside(snapshot, view)
        composed = self._composition(snapshot.composed, observations, OwnTimes.of(snapshot), _whole(snapshot.scope))
        cap = view.context_max_tokens if max_tokens is None else max_tokens
        tail = self._tails(messages, _of_thread(snapshot), view, first=True)
        beyond = first_turn(messages, tail.sizes, view.raw_max_tokens, _earlier(snapshot, tail)) if cap is None else 0
        omitted = 0 if cap is not None else beyond + snapshot.unread
        moment = self._moment(snapshot, observations, view, now_ms, unavailable=unavailable, omitted=omitted)
        moment = moment._replace(kept=kept.since, news=composed.news, added=added)
        notes = FittedNotes(self._notes(observations, snapshot, kept.stable, composed))
        turn = tail.since(_newest_turn(messages)).parts()[1]
        all_of_it = tail.parts()[1] + self._framing(notes.blocks, moment, snapshot)
        if cap is not None and (all_of_it > cap or snapshot.unread):
            notes = self._fitted(*self._asked(observations, snapshot, kept.stable, composed), notes_room(cap, turn))
            moment = moment._replace(news=() if notes.without_others else composed.news)
        stable = notes.blocks
        tail = tail.dated(first=any(block.kind != "kept" for block in stable))
        newest = tail.since(max(len(messages) - 1, 0)).parts()[1]
        left = None if cap is None or not hits else cap - newest - self._framing(stable, moment, snapshot)
        found = self._recalled(hits, messages[beyond:], snapshot, _with_room(view, left))
        moment = moment._replace(recalled=found.text)
        volatile = whole = self._volatile(moment, _identity(snapshot.others))
        room = None if cap is None else cap - _tokens(stable)
        if room is not None:
            volatile = self._closing(moment, room - min(turn, room - room // 4))
            room -= _tokens(volatile)
        start = beyond if room is None else tail.cut(room)
        shown = tail.since(start) if room is None else squeezed(tail.since(start), room, self._count)
        lost = {
            "notes": notes.left_out,
            "messages": sum(tail.sizes[:start]),
            "newest": sum(tail.sizes[start:]) - sum(shown.sizes),
            "closing": _tokens(whole) - _tokens(volatile),
        }
        told = {
            "omitted": start + snapshot.unread,
            "unavailable": unavailable,
            "recalled": found.hits if volatile == whole else (),
        }
        told |= {"omitted_tokens": {what: tokens for what, tokens in lost.items() if tokens > 0}}
        told |= {"composed": {} if notes.without_others else composed.shown(), "left_out": snapshot.left_out}
        if notes.without_others:
            told["left_out"] = {**dict.fromkeys(composed.shown(), _NO_ROOM), **snapshot.left_out}
        return self._context(snapshot, observations, stable, shown, volatile, **told)

    def _closing(self, moment: Moment, room: int) -> list[Block]:
        """As much of the closing block as has room."""
        for smaller in smaller_moments(moment):
            made = self._volatile(smaller, _identity(smaller.others))
            if _tokens(made) <= room:
                return made
        return []

    def _context(
        self,
        snapshot: Snapshot,
        observations: Sequence[Stored],
        stable: list[Block],
        tail: Tail,
        volatile: list[Block],
        **told: Any,
    ) -> Context:
        blocks, tokens = tail.parts()
        framing = [*stable, *volatile]
        return Context(
            resource_id=snapshot.scope.resource,
            thread_id=snapshot.thread.id,
            blocks=(*stable, *blocks, *volatile),
            observations=[stored.observation for stored in observations],
            reflection=snapshot.generation,
            tokens=sum(block.tokens for block in framing) + tokens,
            made=Made(tail, framing, partial(self._system, stable), self._turns),
            **told,
        )

    def _kept_beside(self, snapshot: Snapshot, view: View) -> KeptText:
        if view.working is None and not view.extracted:
            return NOTHING_KEPT
        return self._kept(KeptParts.of(snapshot), view, Signer.of_memory(snapshot.signing_key, snapshot.scope))

    def _notes(self, *about: Any) -> list[Block]:
        return self._stable(*self._asked(*about))

    def _asked(
        self, observations: list[Stored], snapshot: Snapshot, kept: str, composed: Composition
    ) -> tuple[list[Stored], Generation | None, Signer, bool, str, Composition]:
        """What the stable blocks are made of."""
        signer = Signer.of_memory(snapshot.signing_key, snapshot.scope)
        return observations, _told(snapshot), signer, snapshot.scope.thread is None, kept, composed

    def _framing(self, stable: list[Block], moment: Moment, snapshot: Snapshot) -> int:
        """The tokens of what stands around the messages, with a last block that recalls next to nothing."""
        volatile = self._volatile(moment._replace(recalled="-"), _identity(snapshot.others))
        return sum(block.tokens for block in (*stable, *volatile))

    def _recalled(
        self, hits: Sequence[RecalledHit], raw: Sequence[Message], snapshot: Snapshot, view: View
    ) -> RecalledSection:
        if not hits:
            return NOTHING
        notes = self._noted(snapshot.observations, _told(snapshot))
        if any(
            not hit.covered_by
            and hit.resource_id in {"", snapshot.scope.resource}
            and hit.thread_id != snapshot.thread.id
            for hit in hits
        ):
            others = excerpts(snapshot.others, snapshot.other_counts, view, self._count)
            notes = "\n".join([notes, *others.sections])
        ids, resource = {message.id for message in raw}, snapshot.scope.resource
        return recalled_section(hits, ids, notes, snapshot.thread.id, view, self._count, resource)

    def _moment(
        self,
        snapshot: Snapshot,
        observations: list[Stored],
        view: View,
        now_ms: int,
        *,
        unavailable: bool,
        omitted: int,
    ) -> Moment:
        today = datetime.fromtimestamp(now_ms / 1000, view.zone).date()
        aged = self._aged(observations, _told(snapshot), today)
        task, others, counts = _task(snapshot, observations, view), snapshot.others, snapshot.other_counts
        moment = Moment(task, others, counts, aged, view, today, unavailable, omitted, _of_thread(snapshot))
        return moment._replace(retracted=snapshot.retracted, valid_again=snapshot.valid_again)


def build(
    snapshot: Snapshot,
    view: View,
    count: Count,
    now_ms: int,
    max_tokens: int | None = None,
    unavailable: bool = False,  # noqa: FBT001, FBT002 - same
) -> Context:
    """Make a context of what was read at one instant; `now_ms` shows in its last block only.

    `max_tokens` (else the view's `context_max_tokens`) caps the whole: notes take three quarters of it at most, the oldest are
    left out first; then parts of the closing block, then the oldest raw messages. The newest message always stays, cut at both
    ends if it must be. Where neither is given, the view's `raw_max_tokens` leaves out whole turns, and says so. Nothing of
    the snapshot is changed.
    """
    return Rendering(count).context(snapshot, view, now_ms, max_tokens, unavailable=unavailable)


def _earlier(snapshot: Snapshot, tail: Tail) -> int:
    """The tokens of the thread's raw messages that were not read, from the counters of the store."""
    if not snapshot.unread:
        return 0
    own = snapshot.thread.id
    sealed = sum(chunk.tokens for chunk in snapshot.chunks if chunk.thread == own)
    return max(0, snapshot.thread.tokens + sealed - sum(tail.sizes))


def _whole(scope: Scope) -> str:
    """Whose memory it is where it is of all threads; "" for one of a thread, in which other threads' notes do not stand."""
    return scope.resource if scope.thread is None else ""


def _with_room(view: View, left: int | None) -> View:
    """A view that recalls no more than there is room for; None bounds nothing."""
    if left is None or left >= view.recalled_tokens:
        return view
    return msgspec.structs.replace(view, recalled_tokens=max(left, 0))


def _newest_turn(messages: Sequence[Message]) -> int:
    """The place of the newest message of a user."""
    last = len(messages) - 1
    return next((n for n in range(last, -1, -1) if messages[n].role == "user"), max(last, 0))


def _tokens(blocks: Sequence[Block]) -> int:
    return sum(block.tokens for block in blocks)


def _of_thread(snapshot: Snapshot) -> Signer:
    return Signer.of_thread(snapshot.signing_key, snapshot.thread.id)


def _told(snapshot: Snapshot) -> Generation | None:
    """The generation in force; None for one that says nothing, as when everything was undone to the time before the first."""
    found = snapshot.generation
    return found if found and found.text.strip() else None


def _task(snapshot: Snapshot, observations: Sequence[Stored], view: View) -> CurrentTask:
    """What holds of the thread's task: no suggestion once the Actor has spoken, the day of a task older than what is newest."""
    thread = snapshot.thread
    spoken = any(m.role == "assistant" and m.at >= thread.suggested_response_at for m in snapshot.messages)
    newest = (
        one.observation for one in observations if one.observation.activation == observations[-1].observation.activation
    )
    fresh = any(one.thread_id == thread.id and one.source_range[-1:] == (thread.current_task_from,) for one in newest)
    noted = local_time(thread.current_task_at, view.zone).date() if thread.current_task_at and not fresh else None
    return CurrentTask(thread.current_task, "" if spoken else thread.suggested_response, noted)


def _identity(others: Mapping[str, list[Message]]) -> list[tuple[str, list[int]]]:
    # messages that are equal may say different things: 1 == True == 1.0, and the order of a dict's keys shows
    return [(name, [*map(id, messages)]) for name, messages in others.items()]


def _system(stable: Sequence[Block]) -> str:
    return "\n\n".join(block.text for block in stable if block.role == "system")


def _noted(observations: Sequence[Stored], generation: Generation | None) -> str:
    """All notes in one line, to look up in it what they say word for word."""
    texts = [generation.text if generation else "", *(stored.observation.text for stored in observations)]
    return " ".join(" ".join(texts).split())


def _aged(observations: Sequence[Stored], generation: Generation | None, today: date) -> list[str] | None:
    reflected = [generation.text] if generation else []
    texts = [*reflected, *(stored.observation.text for stored in observations)]
    return ages(texts, today) if texts else None
