"""A client that adds messages, and holds what it is answered to what had to become of them."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from fuzz.activity import Activity, current
from fuzz.checker import BrokenError
from fuzz.expected import Push
from fuzz.game import Game
from fuzz.saying import Form
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
