"""What agents do: push well, late, twice and badly; write without the library; read."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from fuzz.activity import Activity, current
from fuzz.checker import BrokenError, message_id
from fuzz.expected import Push
from fuzz.game import Game
from fuzz.pieces import Form, name_of, said
from om_api import Message
from om_api.client.receipts import Receipt
from om_api.domain.errors import OMError

T = TypeVar("T")
Said = Sequence[tuple[str, Form]]  # ids, and what is said under them
Words = Counter[tuple[str, str]]  # how often which id got which word
_TRIES = 3  # of a client whose reply was lost


def push(
    game: Game,
    said: Said,
    at: int | None = None,
    *,
    replace: bool = False,
    begin: Callable[..., Activity] | None = None,
) -> Activity:
    """An agent adds messages to a thread, and tries again when a reply is lost."""
    ids = tuple(dict.fromkeys(name for name, _ in said))
    push, om = Push(game.resource, game.thread, ids), game.world.om
    messages = [_message(game, name, form, at) for name, form in said]
    game.expected.begin_push(push, said, replace=replace)

    def work() -> None:
        try:
            must = _due(game, push, said, replace=replace)
            found = _answered(tried(lambda: om.add_messages(messages, replace=replace)), said)
            if undisturbed() and must not in (None, found):
                raise BrokenError(f"{push.resource} {said}: the receipt must say {must}, it says {found}")
            _acknowledge(game, push, said, found)
        finally:
            game.expected.end_push(push)

    return (begin or game.begin)(f"{'replace' if replace else 'push'} {','.join(ids)}", work)


def tried(work: Callable[[], T]) -> T:
    """Do it, and again when its reply was lost."""
    for _ in range(_TRIES - 1):
        with suppress(OMError):
            return work()
    return work()


def undisturbed() -> bool:
    """Whether what goes on here was alone since it began."""
    activity = current()
    return activity is not None and activity.undisturbed


def _message(game: Game, name: str, form: Form, at: int | None) -> Message:
    where = {"thread_id": game.thread, "resource_id": game.resource}
    tokens = game.dice.choice([0, 40, 60, 100, 100, 250])
    return Message(role=form.role, content=form.content, id=name, tokens=tokens, timestamp=at, **where)


def _due(game: Game, push: Push, said: Said, *, replace: bool) -> Words | None:
    """The words that each message must get now; None where nobody can say."""
    if game.expected.removing(push.resource):
        return None
    held, words = game.look(push.resource), Words()
    kept = {name: game.expected.contents.kept(push.resource, name, held) for name in push.ids}
    for name, form in said:
        was = kept[name]
        if was is None:
            return None
        word, kept[name] = was.given(form, replace=replace)
        words[name, word] += 1
    return words


def _answered(receipt: Receipt, said: Said) -> Words:
    words = Words((name, word) for word in ("duplicates", "grown", "replaced") for name in getattr(receipt, word))
    words.update((each.id, "changed") for each in receipt.changed)
    left = Counter(name for name, _ in said) - Counter(name for name, _ in words.elements())
    words.update({(name, "added"): times for name, times in left.items()})
    if receipt.ids != tuple(name for name, _ in said) or receipt.added != left.total():
        raise BrokenError(f"{said}: the receipt says {receipt}")
    return words


def _acknowledge(game: Game, push: Push, said: Said, words: Words) -> None:
    last = {name: None if words[name, "changed"] else form for name, form in said}
    game.expected.acknowledge(push, last, [name for name in push.ids if words[name, "added"]])


_PAST, _FUTURE = 1_700_000_000_000, 1_900_000_000_000


def _zadd(game: Game, name: str, member: bytes | str) -> None:
    key = f"{game.prefix}:{{{game.resource}}}:messages:{game.thread}"
    game.client.zadd(key, {member: game.dice.choice([1_790_000_000_000, 1_790_000_000, 0, -1, float("inf")])})
    if game.dice.random() < 0.5:
        game.client.zadd(f"{game.prefix}:adopt", {key: 0})
    game.history[-1] += f" {name}"


def _fresh(game: Game, times: int = 1, text: str = "") -> list[tuple[str, Form]]:
    names = [game.fresh("m") for _ in range(times)]
    return [(name, said(text or name)) for name in names]


def somebody(game: Game, among: Collection[str] = ()) -> str:
    """Turn to a message that was pushed, by whomever, rather to one among these: its id, "" when there is none."""
    known = [key for key in game.expected.threads if key[1].startswith(("m-", "p-"))]
    if not known:
        return ""
    game.resource, name = game.dice.choice([key for key in known if key[1] in among] or known[-40:])
    game.thread = game.expected.threads[game.resource, name]
    return name


def push_one(game: Game) -> None:
    """One message."""
    push(game, _fresh(game))


def push_batch(game: Game) -> None:
    """A few at once."""
    push(game, _fresh(game, game.dice.randrange(2, 8)))


def push_duplicate(game: Game) -> None:
    """An id that was pushed before, by whomever, with what was said under it, or with another text."""
    if name := somebody(game):
        form = game.expected.contents.latest(game.resource, name)
        push(game, [(name, form if form and game.dice.random() < 0.5 else said(f"another text for {name}"))])


def push_twins(game: Game) -> None:
    """One id twice in a batch."""
    one, other = _fresh(game, 2)
    push(game, [one, other, one])


def push_late(game: Game) -> None:
    """Dated before everything that was observed."""
    push(game, _fresh(game, game.dice.randrange(1, 4)), _PAST + game.dice.randrange(1000))


def push_equal(game: Game) -> None:
    """Of one millisecond, which others have too."""
    push(game, _fresh(game, game.dice.randrange(1, 4)), _PAST)


def push_future(game: Game) -> None:
    """Dated ahead of the clock."""
    push(game, _fresh(game, game.dice.randrange(1, 4)), _FUTURE + game.dice.randrange(1000))


def push_poison(game: Game) -> None:
    """Among others one that no model observes."""
    push(game, _fresh(game, game.dice.randrange(1, 4), "poison"))


def write_plainly(game: Game, name: str, form: Form) -> None:
    """A writer with nothing but a Redis client says this under an id."""
    game.plain_ids.add((game.resource, name))
    push = Push(game.resource, game.thread, (name,))
    game.expected.begin_push(push, [(name, form)])
    _zadd(game, name, json.dumps({"id": name, "role": form.role, "content": form.content, "tokens": 60}))
    game.expected.end_push(push)


def plain(game: Game) -> None:
    """A message of a plain writer."""
    name = game.fresh("p")
    write_plainly(game, name, said(name))


def plain_copy(game: Game) -> None:
    """The same bytes once more: of a message that may be raw, sealed, observed or reflected by now."""
    known = sorted(name for name in game.expected.of(game.resource) if name.startswith("p-"))
    raw = [name for members in game.held[game.resource].of("messages").values() for name in map(message_id, members)]
    known = [name for name in known if name not in raw] or known  # rather of one that is covered elsewhere
    if known and not game.expected.removing(game.resource):
        name = name_of(game.dice.choice(known))
        game.thread = game.expected.threads[game.resource, name]
        write_plainly(game, name, said(name))


def plain_again(game: Game) -> None:
    """Other bytes under the id of an accepted message: adoption rejects them, and nobody seals them before that."""
    name = somebody(game)
    if name in game.expected.of(game.resource) and not game.expected.removing(game.resource):
        write_plainly(game, name, said(f"other bytes for {name}"))


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
        ids = [name for name in seen if (resource, name_of(name)) not in game.plain_ids]  # a copy may wait for adoption
        if len(ids) != len(set(ids)):
            raise BrokenError(f"the context of {resource} {thread} shows a message twice: {ids}")

    game.begin("read", work)


WEIGHTS: dict[Callable[[Game], Any], float] = {
    push_one: 4,
    push_batch: 4,
    push_duplicate: 3.4,
    push_twins: 3,
    push_late: 2.9,
    push_equal: 3,
    push_future: 2.9,
    push_poison: 3.2,
    plain: 4,
    plain_copy: 4,
    plain_again: 3,
    plain_malformed: 3.1,
    read: 3,
}
