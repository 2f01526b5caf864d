"""Thresholds and the decisions taken by them: integers and `now` in, one Move out. Nothing here can break coverage.

Letters of the design: U unsealed tokens, B tokens in chunks, W = U + B the raw window, T and R the thresholds of messages and
observations, b the size of a chunk, F the floor that activation leaves raw.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

import msgspec

from om_api.domain.timing.prompt_cache import PromptCache, cheapest_step
from om_api.domain.values import Chunk

_KEEP = 1_000  # tokens that a selection leaves raw when it may choose
_OVERSHOOT = 0.95
_NEAR = 0.1  # a chunk is near b when it is this much of b away at most
_SOONEST_MS = 30_000  # between two looks at what lies idle and cannot be cut
_NEARLY = 0.9  # of R: a draft that is ready by then counts with the activation that changes the prefix anyway
_SHOWN = 2  # thresholds: a context shows no more raw, so what is ready waits no longer for a cache (recorded_settings)
_A_CALL = 2  # messages: an answer, and what is new
_EVEN = 0.05  # even chunks may be this far from b on average: message boundaries need the rest
MOST_UNREADY = 64  # chunks sealed ahead of observing; the rest of a backlog stays raw, and looks do not read it


Timing = Literal["threshold", "cache", "price"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's thresholds, resolved to tokens and ms.

    T = message_threshold, R = observation_threshold, b = buffer_tokens, F = floor; block_after is 1.2 T as tokens,
    `reflect_from` and `reflect_block` are 0.5 R and 1.2 R. `timing` says what an activation heeds besides: nothing, the prompt
    `cache` of the agent's model, or what reading and rewriting cost there as well (`price`).
    """

    enabled: bool = True
    read_only: bool = False
    message_threshold: int = 30_000
    observation_threshold: int = 40_000
    buffer_tokens: int = 6_000
    floor: int = 6_000
    block_after: int = 36_000
    reflect_from: int = 20_000
    reflect_block: int = 48_000
    observe_idle_ms: int = 3_600_000
    min_recent_messages: int = 2
    share_token_budget: bool = False
    drain: bool = True
    max_observations: int = 1_000
    timing: Timing = "threshold"
    cache: PromptCache = PromptCache()


class Pressure(msgspec.Struct, frozen=True, kw_only=True):
    """How full a scope is.

    `chunks` in seq order. `unsealed` maps a thread to (tokens, messages). `last_at` maps a thread to the Unix ms of its
    last activity (the lesser of message and server time). `drain` is the seq up to which a due reflection wants chunks
    activated; `forced` maps a thread to the seq up to which its owner does (0 while nothing is sealed for that yet).
    `cached_at` is the Unix ms of the last use of the prompt cache that is known, 0 = none is. `other_model`: it is read for
    another model than before, whose cache is cold. `reflection_tokens` are those of the generation in force.
    """

    chunks: Sequence[Chunk] = ()
    unsealed: Mapping[str, tuple[int, int]] = {}
    last_at: Mapping[str, int] = {}
    observation_tokens: int = 0
    observation_count: int = 0
    drain: float = 0
    forced: Mapping[str, float] = {}
    paused: bool = False
    cached_at: int = 0
    other_model: bool = False
    reflection_tokens: int = 0

    @property
    def u(self) -> int:
        """Unsealed tokens."""
        return sum(tokens for tokens, _ in self.unsealed.values())

    @property
    def b(self) -> int:
        """Tokens in chunks, sealed or ready."""
        return sum(chunk.tokens for chunk in self.chunks)


Kind = Literal["rest", "seal", "activate"]


class Move(NamedTuple):
    """What to do next: rest, seal, or activate `chunks`.

    A seal takes `tokens`, or all but the newest `keep` messages of `threads`, and cuts them into at most `most` chunks.
    """

    kind: Kind
    chunks: tuple[str, ...] = ()
    tokens: int = 0
    threads: tuple[str, ...] = ()
    keep: int = 0
    urgent: bool = False
    most: int = MOST_UNREADY


def threshold(limits: Limits, observation_tokens: int) -> int:
    """T, or with a shared budget max(T + R - observation tokens, T)."""
    if not limits.share_token_budget:
        return limits.message_threshold
    shared = limits.message_threshold + limits.observation_threshold - observation_tokens
    return max(shared, limits.message_threshold)


def due_from(pressure: Pressure, limits: Limits) -> int:
    """The raw window from which an activation is due while the prompt cache is warm; T where nothing is cached.

    Going by the `cache` it waits for that to be cold, up to block_after. Going by the `price` it comes where calls cost least: at
    the floor and a whole number of chunks, from T / 2 to block_after. A call is taken to add two messages.
    """
    t = threshold(limits, pressure.observation_tokens)
    if not _is_cached(pressure, limits):
        return t
    most = max(min(limits.block_after, _SHOWN * t), t)
    if limits.timing == "cache":
        return most
    messages = sum(n for _, n in pressure.unsealed.values()) + sum(chunk.messages for chunk in pressure.chunks)
    a_call = _A_CALL * (pressure.u + pressure.b) / max(1, messages)
    steps = round(cheapest_step(limits.cache, limits.floor, a_call) / limits.buffer_tokens)
    return min(max(limits.floor + steps * limits.buffer_tokens, t // 2), most)


def is_cold(pressure: Pressure, limits: Limits, now: int) -> bool:
    """Whether a provider has forgotten what was cached of the context, so that another one costs nothing extra."""
    if not _is_cached(pressure, limits):
        return False
    return pressure.other_model or bool(pressure.cached_at and now >= pressure.cached_at + limits.cache.lifetime_ms)


def _is_cached(pressure: Pressure, limits: Limits) -> bool:
    """Whether a context's prompt cache is heeded, and the memory's part of it long enough to be kept there."""
    known = pressure.u + pressure.b + pressure.observation_tokens + pressure.reflection_tokens
    return limits.timing != "threshold" and limits.cache.lifetime_ms > 0 and known >= max(1, limits.cache.minimum)


def decide(pressure: Pressure, limits: Limits, now: int) -> Move:
    """The one move that a scope is due; `now` in Unix ms."""
    if limits.read_only:
        return Move("rest")
    chosen = activation(pressure, limits, now)
    if chosen:
        return Move("activate", chunks=tuple(chunk.id for chunk in chosen))
    if not limits.enabled or pressure.paused:
        return Move("rest")
    return sealing(pressure, limits, now) or Move("rest", urgent=is_urgent(pressure, limits))


def is_urgent(pressure: Pressure, limits: Limits) -> bool:
    """True when the window is full and nothing is ready to leave it."""
    full = pressure.u + pressure.b >= due_from(pressure, limits)
    return full and not any(chunk.ready for chunk in pressure.chunks)


# -- sealing ------------------------------------------------------------------------------------------------------------


def seal_room(pressure: Pressure) -> int:
    """How many more chunks may be sealed; 0 until half of MOST_UNREADY are observed, so that a backlog takes few moves."""
    unready = sum(not chunk.ready for chunk in pressure.chunks)
    return MOST_UNREADY - unready if unready <= MOST_UNREADY // 2 else 0


def sealing(pressure: Pressure, limits: Limits, now: int) -> Move | None:
    """What to seal: what was asked for by force, what is due by size, what lies idle; or None."""
    most = seal_room(pressure)
    if not most:
        return None
    forced = tuple(sorted(t for t, seq in pressure.forced.items() if not seq and pressure.unsealed.get(t, (0, 0))[1]))
    if forced:
        return Move("seal", threads=forced, most=most)
    tokens = buffer_size(pressure.u, pressure.b, limits, due_from(pressure, limits))
    if tokens:
        return Move("seal", tokens=min(tokens, most * limits.buffer_tokens), most=most)
    idle = tuple(sorted(t for t in pressure.unsealed if (at := idle_at(pressure, limits, t)) is not None and at <= now))
    return Move("seal", threads=idle, keep=limits.min_recent_messages, most=most) if idle else None


def buffer_due(u: int, b: int, limits: Limits, t: int) -> bool:
    """Whether what is unsealed is worth a look: U >= b, or half of b once W >= T - 1.1 b."""
    ramp = t - 1.1 * limits.buffer_tokens
    return u >= limits.buffer_tokens or (u >= limits.buffer_tokens / 2 and u + b >= ramp)


def buffer_size(u: int, b: int, limits: Limits, t: int) -> int:
    """How many unsealed tokens to seal now; 0 for none.

    A backlog is sealed whole where even chunks of about b come out of it, else in whole b's. Below T it must also be
    worth it, see `worthwhile`.
    """
    size = limits.buffer_tokens
    if not buffer_due(u, b, limits, t) or (u + b < t and not worthwhile(min(u, size), b, limits, t)):
        return 0
    each = u / max(1, round(u / size))
    if u <= size or abs(each - size) <= _EVEN * size:
        return u
    return u // size * size


def worthwhile(size: float, b: int, limits: Limits, t: int) -> bool:
    """Whether a chunk of `size` tokens serves the next activation.

    It must bring the window at T nearer to the floor than what is sealed already does: with the defaults a fifth chunk of
    3,000 would leave 3,600 raw where four chunks leave 6,600 and the floor is 6,000. And it must not be smaller than
    0.9 b while one of that size still fits (docs/decisions/0004).
    """
    reach, least = t - limits.floor, (1 - _NEAR) * limits.buffer_tokens
    return b + size / 2 < reach and (size >= least or b + least > reach)


def wake(pressure: Pressure, limits: Limits) -> int:
    """The unsealed tokens from which a push is due: min(b, max(b / 2, T - 1.1 b - B)), at most max(1, T - B).

    Later where a chunk of that size would not be sealed yet, see `worthwhile`.
    """
    t, size, sealed = due_from(pressure, limits), limits.buffer_tokens, pressure.b
    crossing = max(1, t - sealed)
    usual = min(size, max(size / 2, t - 1.1 * size - sealed))
    fitting = (
        tokens for tokens in (usual, (1 - _NEAR) * size) if tokens >= usual and worthwhile(tokens, sealed, limits, t)
    )
    return int(min(max(1, next(fitting, crossing)), crossing))


def idle_at(pressure: Pressure, limits: Limits, thread: str) -> int | None:
    """When a thread with more than min_recent_messages raw is due for lying idle, in Unix ms; None if it never is."""
    if pressure.unsealed[thread][1] <= limits.min_recent_messages or thread not in pressure.last_at:
        return None
    return pressure.last_at[thread] + limits.observe_idle_ms


def deadline(pressure: Pressure, limits: Limits, now: int) -> int | None:
    """When the scope is due though nobody pushes: its first thread's idle time, or its ready chunks' activation.

    What is past by now was left because it cannot be cut: of three messages that lie idle a call and its result are two, and the
    newest two stay raw. It is looked at again after observe_idle_after, not at once and for ever.
    """
    if not limits.enabled or limits.read_only or pressure.paused:
        return None
    times = [at for t in pressure.unsealed if (at := idle_at(pressure, limits, t)) is not None]
    if pressure.last_at and eligible(pressure, limits.min_recent_messages):
        times.append(max(pressure.last_at.values()) + limits.observe_idle_ms)
    if (cold := cold_at(pressure, limits)) is not None:
        times.append(cold)
    again = now + max(limits.observe_idle_ms, _SOONEST_MS)
    return min((at if at > now else again for at in times), default=None)


def cold_at(pressure: Pressure, limits: Limits) -> int | None:
    """When (Unix ms) the prompt cache is cold for which ready chunks wait; None where none does, or nobody knows."""
    waits = pressure.cached_at and _is_cached(pressure, limits) and _free(pressure, limits)
    return pressure.cached_at + limits.cache.lifetime_ms if waits else None


# -- activation ---------------------------------------------------------------------------------------------------------


def activation(pressure: Pressure, limits: Limits, now: int) -> Sequence[Chunk]:
    """The ready chunks to activate, in seq order; none while the window is below what it is due from, see `due_from`.

    Sooner where a forced observation or a due reflection waits for them, once the provider's prompt cache is cold, so that the
    shorter context costs nothing extra (what leaves the floor raw), and once the scope has been idle for observe_idle_after.
    Later, but below block_after, where others that are due with them are still observed: the prefix changes once.
    """
    wanted = [chunk for chunk in eligible(pressure, 0) if chunk.seq <= pressure.forced.get(chunk.thread, 0)]
    if wanted:
        return wanted
    window, t = pressure.u + pressure.b, threshold(limits, pressure.observation_tokens)
    full = window >= max(limits.block_after, t)
    able = eligible(pressure, 0 if full else limits.min_recent_messages)
    if drained := [chunk for chunk in able if chunk.seq <= pressure.drain]:
        return drained
    cold = is_cold(pressure, limits, now)
    if cold and not full and (free := _free(pressure, limits)):
        return free
    due = window >= (t if cold else due_from(pressure, limits))
    if due and (full or not _more_to_come(pressure, limits, able, window - limits.floor)):
        return able[: select([chunk.tokens for chunk in able], limits.floor, window, force=full)]
    asleep = bool(pressure.last_at) and now - max(pressure.last_at.values()) >= limits.observe_idle_ms
    return able if asleep else []


def _free(pressure: Pressure, limits: Limits) -> Sequence[Chunk]:
    """The ready chunks that may leave as soon as that costs nothing: they leave at least the floor raw."""
    able, room = eligible(pressure, limits.min_recent_messages), pressure.u + pressure.b - limits.floor
    return able[: sum(total <= room for total in accumulate(chunk.tokens for chunk in able))]


def _more_to_come(pressure: Pressure, limits: Limits, able: Sequence[Chunk], target: int) -> bool:
    """Whether chunks that are not ready yet fit into what is to be activated, so that a burst leaves the window at once."""
    if not limits.enabled or pressure.paused:
        return False
    whole = [msgspec.structs.replace(chunk, ready=True) for chunk in pressure.chunks]
    hoped = eligible(msgspec.structs.replace(pressure, chunks=whole), limits.min_recent_messages)
    fitting = [
        chunk.id for chunk, total in zip(hoped, accumulate(c.tokens for c in hoped), strict=True) if total <= target
    ]
    return not {chunk.id for chunk in able}.issuperset(fitting)


def eligible(pressure: Pressure, keep: int) -> list[Chunk]:
    """Ready chunks without an earlier unready one of their thread, that leave their thread `keep` raw messages."""
    raw = {thread: messages for thread, (_, messages) in pressure.unsealed.items()}
    for chunk in pressure.chunks:
        raw[chunk.thread] = raw.get(chunk.thread, 0) + chunk.messages
    waiting: set[str] = set()
    able = []
    for chunk in pressure.chunks:
        if chunk.ready and chunk.thread not in waiting and raw[chunk.thread] - chunk.messages >= keep:
            raw[chunk.thread] -= chunk.messages
            able.append(chunk)
        else:
            waiting.add(chunk.thread)
    return able


def select(sizes: Sequence[int], floor: int, window: int, *, force: bool = False) -> int:
    """How many of the ready chunks to activate (sizes in tokens), so that about `floor` of the window stays raw.

    The smallest prefix that reaches window - floor if it overshoots by at most 0.95 floor and leaves min(1000, floor);
    else the largest prefix below it, which leaves more than the floor; else one. `force` forgives the overshoot.
    Worked examples: tests/om_api/domain/test_policy.py.
    """
    if not sizes:
        return 0
    target, least = max(0, window - floor), min(_KEEP, floor)
    sums = list(accumulate(sizes))
    over = next((n for n, total in enumerate(sums, 1) if total >= target), 0)
    under = next((n for n, total in reversed(list(enumerate(sums, 1))) if total < target), 1)
    if over and window - sums[over - 1] >= least and (force or sums[over - 1] - target <= _OVERSHOOT * floor):
        return over
    return under


# -- reflection ---------------------------------------------------------------------------------------------------------

ReflectKind = Literal["rest", "draft", "drain", "reflect", "again"]


def reflection(pressure: Pressure, limits: Limits, *, drafted: bool, forced: bool) -> ReflectKind:
    """What the Reflector is due: a draft from 0.5 R on; at R, once drained, a commit; at 1.2 R a commit at once.

    Where prompt caches are heeded a draft that is ready counts from 0.9 R on: what led there has changed the prefix anyway.
    """
    if not _may_reflect(pressure, limits, forced=forced):
        return "rest"
    tokens = pressure.observation_tokens
    if forced or tokens >= limits.reflect_block or pressure.observation_count >= limits.max_observations:
        return "reflect"
    if drafted and _may_count(tokens, limits):
        return "reflect"
    if tokens >= limits.observation_threshold:
        return "reflect" if not limits.drain or drained(pressure, limits) else "drain"
    return "draft" if tokens >= limits.reflect_from and not drafted else "rest"


def reviewed(pressure: Pressure, limits: Limits, expires_at: int, now: int, *, asks: bool, forced: bool) -> ReflectKind:
    """What becomes of a draft that was put up for review: it waits, counts, or is thought again where it was sent back.

    `expires_at` is when it counts by itself, 0 if it was sent back; `asks` is False once the agent's settings ask for no
    review any more.
    """
    if not _may_reflect(pressure, limits, forced=forced):
        return "rest"
    if not expires_at:
        return "again"
    return "rest" if asks and now < expires_at else "reflect"


def _may_count(tokens: int, limits: Limits) -> bool:
    """Whether a draft counts before R is reached."""
    return limits.timing != "threshold" and tokens >= max(limits.reflect_from, _NEARLY * limits.observation_threshold)


def _may_reflect(pressure: Pressure, limits: Limits, *, forced: bool) -> bool:
    stopped = not limits.enabled or limits.read_only or (pressure.paused and not forced)
    return bool(pressure.observation_count) and not stopped


def is_full(tokens: int, count: int, limits: Limits, *, drafted: bool = False) -> bool:
    """Whether observations belong in the reflect index: from 0.5 R on, from where it counts with a draft, or by their number."""
    if drafted and _may_count(tokens, limits):
        return True
    least = limits.observation_threshold if drafted else limits.reflect_from
    return tokens >= least or count >= limits.max_observations


def drained(pressure: Pressure, limits: Limits) -> bool:
    """Whether what was raw when the reflection became due is activated, but for what min_recent_messages keeps raw."""
    if not pressure.drain:
        keep = limits.min_recent_messages
        return not pressure.chunks and all(messages <= keep for _, messages in pressure.unsealed.values())
    held = {chunk.id for chunk in eligible(pressure, 0)} - {
        chunk.id for chunk in eligible(pressure, limits.min_recent_messages)
    }
    return all(chunk.id in held for chunk in pressure.chunks if chunk.seq <= pressure.drain)


def oldest_prefix(tokens: Sequence[int], about: int) -> int:
    """How many of the oldest observations a draft covers: as many as fit into `about` tokens, at least one."""
    fitting = sum(total <= about for total in accumulate(tokens))
    return min(max(1, fitting), len(tokens))
