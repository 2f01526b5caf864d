"""From observations to a generation that stands for them, the drafts of one, and how often thinking of it failed."""

from collections.abc import Sequence

import msgspec

from om_api.domain.notes.groups import lifetime
from om_api.domain.values import Generation, Outcome, Record, Scope, Stored, new_id
from om_api.store.driver.replies import as_int, outcome, write
from om_api.store.driver.steps import Steps, Verb, exact
from om_api.store.memory.keys import Keys

_FORGOTTEN_S = 3_600
_NOBODY = ("", 0, 0)  # is to review it


def reflect(
    keys: Keys, scope: Scope, record: Record, generation: Generation, replaced: Sequence[Stored], keep: int, ttl_s: int
) -> Steps[Outcome]:
    """Make a generation the scope's next, unless another came first.

    Where its origin is `archive`, what is `replaced` goes there with its `group`, and stays as long as the memory does.

    Time 0: we read generation 4 and start thinking. Time 9: an activation appends "new fact". Time 12: we commit. Only
    `replaced`, what we read, moves to the history; "new fact" stays. Had another reflector committed generation 5
    meanwhile, or had anything been pinned, unpinned or decided about a review since the `record` was read, nothing would
    change and we would return "superseded".
    """
    of, moved = keys.of(scope.resource), sum(stored.observation.tokens for stored in replaced)
    aside = generation.origin == "archive"
    lives = lifetime((stored.observation for stored in replaced), ttl_s) if aside else ttl_s
    names = [of.record(scope), of.observations(scope), of.reflections(scope)]
    names += [of.reflected(scope, generation.n), of.draft(scope)]
    read = [record.epoch, generation.n - 1, record.pins, record.proposed]
    made = [new_id(), msgspec.json.encode(generation), generation.tokens, moved]
    moves = [word for each in replaced for word in (exact(each.seq), each.member, _becomes(each) if aside else b"")]
    return (yield from Verb("reflect", names, [*read, *made, keep, lives, generation.origin, *moves], outcome))


def _becomes(stored: Stored) -> bytes:
    """An observation as it is set aside: with the name of its group, and otherwise byte by byte what it was."""
    return msgspec.json.encode({**msgspec.json.decode(stored.member), "group": stored.observation.group})


def draft(
    keys: Keys,
    scope: Scope,
    epoch: str,
    generation: int,
    text: bytes,
    ttl_s: int,
    *,
    covered: Sequence[Stored] = (),
    was: str = "",
    review: tuple[str, int, int] = _NOBODY,
) -> Steps[Outcome]:
    """Keep a reflection that counts for nothing yet, unless the generation it builds on is no longer in force.

    Nor where the record names another review than it `was`, or an observation that it covers is gone or another one. A
    `review` is its id, when it was asked for, and when it ends (server ms; 0: it was sent back).
    """
    of = keys.of(scope.resource)
    names = [of.record(scope), of.observations(scope), of.draft(scope)]
    args = [epoch, generation, was, *review, ttl_s, text, *_named(covered)]
    return (yield from Verb("draft", names, args, outcome))


def failed(keys: Keys, scope: Scope, what: str) -> Steps[None]:
    """Count a failure of thinking about exactly this; forgotten after an hour."""
    name = _failures(keys, scope, what)
    yield from write(("INCR", name), ("EXPIRE", name, _FORGOTTEN_S))


def failures(keys: Keys, scope: Scope, what: str) -> Steps[int]:
    """How often thinking about exactly this failed within the hour."""
    return (yield from as_int("GET", _failures(keys, scope, what)))


def _failures(keys: Keys, scope: Scope, what: str) -> str:
    return keys.of(scope.resource).lock(f"failed:{scope.thread or ''}:{what}")


def _named(stored: Sequence[Stored]) -> list[str | bytes]:
    return [word for each in stored for word in (exact(each.seq), each.member)]
