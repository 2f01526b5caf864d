"""What agents do: push well, late, twice and badly; write without the library; read."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from fuzz.checker import BrokenError, message_id
from fuzz.expected import Push
from fuzz.game import Game
from om_api import Message
from om_api.domain.errors import OMError

_TRIES = 3  # of a client whose reply was lost
_PAST, _FUTURE = 1_700_000_000_000, 1_900_000_000_000


def _push(game: Game, ids: Sequence[str], at: int | None, text: str = "") -> None:
    push = Push(game.resource, game.thread, tuple(dict.fromkeys(ids)))
    messages = [
        Message(
            role="user",
            content=text or name,
            id=name,
            thread_id=game.thread,
            resource_id=game.resource,
            tokens=tokens,
            timestamp=at,
        )
        for name in ids
        for tokens in [game.dice.choice([0, 40, 60, 100, 100, 250])]
    ]
    om = game.world.om
    game.expected.begin_push(push)
    for name in ids:
        game.ages.setdefault((game.resource, name), 0)  # a duplicate is not accepted anew

    def work() -> None:
        try:
            for last in range(_TRIES):
                try:
                    receipt = om.add_messages(messages)
                except OMError:
                    if last == _TRIES - 1:
                        raise
                else:
                    game.expected.acknowledge(push, receipt.duplicates)
                    return
        finally:
            game.expected.end_push(push)

    game.begin(f"push {','.join(ids)}", work)


def _zadd(game: Game, name: str, member: bytes | str) -> None:
    key = f"{game.prefix}:{{{game.resource}}}:messages:{game.thread}"
    game.client.zadd(key, {member: game.dice.choice([1_790_000_000_000, 1_790_000_000, 0, -1, float("inf")])})
    if game.dice.random() < 0.5:
        game.client.zadd(f"{game.prefix}:adopt", {key: 0})
    game.history[-1] += f" {name}"


def _fresh(game: Game) -> str:
    game.n += 1
    return f"m-{game.n}"


def push_one(game: Game) -> None:
    """One message."""
    _push(game, [_fresh(game)], None)


def push_batch(game: Game) -> None:
    """A few at once."""
    _push(game, [_fresh(game) for _ in range(game.dice.randrange(2, 8))], None)


def push_duplicate(game: Game) -> None:
    """An id that was pushed within the last ten minutes, by whomever, with another text."""
    known = [key for key, age in game.ages.items() if age < 2 and key in game.expected.threads]
    before = [key for key in known if game.ages[key] == 1]  # the edge of what is remembered
    if before and game.dice.random() < 0.7:
        known = before
    if known:
        game.resource, name = game.dice.choice(known[-30:])
        game.thread = game.expected.threads[game.resource, name]
        _push(game, [name], None, text=f"another text for {name}")


def push_twins(game: Game) -> None:
    """One id twice in a batch."""
    name = _fresh(game)
    _push(game, [name, _fresh(game), name], None)


def push_late(game: Game) -> None:
    """Dated before everything that was observed."""
    _push(game, [_fresh(game) for _ in range(game.dice.randrange(1, 4))], _PAST + game.dice.randrange(1000))


def push_equal(game: Game) -> None:
    """Of one millisecond, which others have too."""
    _push(game, [_fresh(game) for _ in range(game.dice.randrange(1, 4))], _PAST)


def push_future(game: Game) -> None:
    """Dated ahead of the clock."""
    _push(game, [_fresh(game) for _ in range(game.dice.randrange(1, 4))], _FUTURE + game.dice.randrange(1000))


def push_poison(game: Game) -> None:
    """Among others one that no model observes."""
    _push(game, [_fresh(game) for _ in range(game.dice.randrange(1, 4))], None, text="poison")


def plain(game: Game) -> None:
    """A writer with nothing but a Redis client."""
    game.n += 1
    name = f"p-{game.n}"
    game.plain_ids.add((game.resource, name))
    push = Push(game.resource, game.thread, (name,))
    game.expected.begin_push(push)
    _zadd(game, name, json.dumps({"id": name, "role": "user", "content": name, "tokens": 60}))
    game.expected.end_push(push)


def plain_copy(game: Game) -> None:
    """The same bytes once more: of a message that may be raw, sealed, observed or reflected by now."""
    known = sorted(name for name in game.expected.of(game.resource) if name.startswith("p-"))
    raw = [name for members in game.held[game.resource].of("messages").values() for name in map(message_id, members)]
    known = [name for name in known if name not in raw] or known  # rather of one that is covered elsewhere
    if known and not game.expected.removing(game.resource):
        name = game.dice.choice(known)
        game.thread = game.expected.threads[game.resource, name]
        _zadd(game, name, json.dumps({"id": name, "role": "user", "content": name, "tokens": 60}))


def plain_again(game: Game) -> None:
    """Other bytes under the id of an accepted message: adoption rejects them, and nobody seals them before that."""
    known = [key for key, age in game.ages.items() if not age and key in game.expected.threads]
    if known and not game.aged:
        game.resource, name = game.dice.choice(known[-30:])
        game.thread = game.expected.threads[game.resource, name]
        if name in game.expected.of(game.resource) and not game.expected.removing(game.resource):
            game.plain_ids.add((game.resource, name))
            _zadd(game, name, json.dumps({"id": name, "role": "user", "content": "other bytes", "tokens": 60}))


def plain_malformed(game: Game) -> None:
    """What is no message: it is quarantined, and its neighbours are not."""
    game.n += 1
    _zadd(
        game,
        "malformed",
        game.dice.choice([f"no json {game.n}", f'{{"role":"robot","content":"{game.n}"}}', b"\xff%d" % game.n]),
    )


def read(game: Game) -> None:
    """What the Actor sees; it may activate."""
    om, resource, thread = game.world.om, game.resource, game.thread

    def work() -> None:
        seen = [message.id for message in om.get_context(thread, resource).messages]
        ids = [name for name in seen if (resource, name) not in game.plain_ids]  # a copy may wait for adoption
        if len(ids) != len(set(ids)):
            raise BrokenError(f"the context of {resource} {thread} shows a message twice: {ids}")

    game.begin("read", work)


WEIGHTS: dict[Callable[[Game], Any], float] = {
    push_one: 5,
    push_batch: 5,
    push_duplicate: 4,
    push_twins: 2,
    push_late: 2.5,
    push_equal: 2.5,
    push_future: 2.5,
    push_poison: 2.4,
    plain: 4,
    plain_copy: 2.5,
    plain_again: 3,
    plain_malformed: 2.6,
    read: 3,
}
