"""A message that comes again with more, or with something else, by any door: in its place while raw, behind it once sealed."""

from collections.abc import Callable, Collection
from typing import Any

from fuzz.agents import push, somebody, write_plainly
from fuzz.game import Game
from fuzz.pieces import Form, pieces, said
from fuzz.workers import sealing


def turn_to(game: Game, among: Collection[str] = ()) -> tuple[str, Form] | None:
    """Turn to a message, rather to one among these; its id, and what it says by now."""
    name = somebody(game, among)
    form = game.expected.contents.latest(game.resource, name) if name else None
    return (name, form) if form else None


def grown(game: Game, form: Form) -> Form:
    """The same and more: a longer text, or one more part."""
    word = game.fresh("w")
    if game.dice.random() < 0.5:
        return form._replace(parts=(*form.parts, word))
    return form._replace(parts=(*form.parts[:-1], form.parts[-1] + game.dice.choice([" ", "", "é🙂\n"]) + word))


def other(game: Game, form: Form) -> Form:
    """Something else: another text, less, or somebody else's words."""
    word = game.fresh("w")
    shorter, longer = form.parts[:-1], (word, *form.parts)
    return game.dice.choice(
        [
            said(word),
            form._replace(parts=longer),
            form._replace(parts=shorter or (word,)),
            Form("assistant", form.parts),
        ]
    )


def push_grown(game: Game) -> None:
    """What was said under an id, and more; now and then in two forms of one batch."""
    if found := turn_to(game):
        name, form = found
        more = grown(game, form)
        both = [(name, more), (name, grown(game, more))]
        push(game, both if game.dice.random() < 0.2 else both[:1])


def push_grown_overtaken(game: Game) -> None:
    """A message grows, and after the client read what is kept of it a worker seals that, or it grows by another hand."""
    if found := turn_to(game):
        name, form = found
        slow = push(game, [(name, grown(game, form))], begin=game.start)
        slow.come_to("amend")
        fast = sealing(game) if game.dice.random() < 0.5 else push(game, [(name, grown(game, form))], begin=game.start)
        fast.finish()
        slow.finish()


def push_changed(game: Game) -> None:
    """Something else under an id: nothing changes."""
    if found := turn_to(game):
        name, form = found
        push(game, [(name, other(game, form)), (name, form)][: game.dice.choice([1, 2])])


def push_replaced(game: Game) -> None:
    """Something else under an id, in the place of what is raw."""
    raw = [name for held in game.held.values() for name, some in pieces(held).items() if any(each.raw for each in some)]
    if found := turn_to(game, raw if game.dice.random() < 0.7 else ()):
        name, form = found
        push(game, [(name, other(game, form))], replace=True)


def plain_grown(game: Game) -> None:
    """A plain writer says more under an id, or less, before or after it was sealed."""
    if (found := turn_to(game)) and not game.expected.removing(game.resource):
        name, form = found
        if name in game.expected.of(game.resource):
            write_plainly(game, name, game.dice.choice([grown, grown, other])(game, form))


WEIGHTS: dict[Callable[[Game], Any], float] = {
    push_grown: 3.2,
    push_grown_overtaken: 3.5,
    push_changed: 3.2,
    push_replaced: 3.5,
    plain_grown: 3.5,
}
