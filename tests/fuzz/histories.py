"""Clients that send their whole history each turn: with ids or without, edited, branched, without its beginning, or once more."""

from collections.abc import Callable
from typing import Any

from fuzz.game import Game
from fuzz.growing import grown
from fuzz.saying import said
from fuzz.syncing import OK, Edit, sync
from fuzz.turns import Turn

_THREADS = ("h-0", "h-0", "h-0", "h-1")  # in which nobody else writes


def _history(game: Game) -> list[Turn]:
    """Turn to a client, mostly to one that was here before; its history, of which it said a few turns already."""
    game.thread = game.dice.choice(_THREADS)
    if game.histories and game.dice.random() < 0.9:
        game.resource, game.thread = game.dice.choice(sorted(game.histories)[:3])
    if before := game.syncing.pop((game.resource, game.thread), None):
        before.finish()
        game.bury()
        game.check()
    history = game.histories.setdefault((game.resource, game.thread), [])
    if not history:
        history += _more(game, 3)
    return history


def _more(game: Game, times: int, *, ok: bool = True) -> list[Turn]:
    return [_turn(game, ok=ok) for _ in range(times)]


def _turn(game: Game, *, ok: bool) -> Turn:
    own = game.fresh("c") if game.dice.random() < 0.25 else ""
    text = f"{OK} {game.thread}" if ok and game.dice.random() < 0.3 else game.fresh("w")
    role = game.dice.choice(["user", "assistant"])
    return Turn(game.resource, game.thread, [said(text, role)], id=own, name=own)


def sync_on(game: Game) -> None:
    """The history goes on."""
    history = _history(game)
    history += _more(game, game.dice.randrange(1, 4))
    sync(game, history)


def sync_again(game: Game) -> None:
    """The whole history again, and nothing else."""
    sync(game, _history(game))


def sync_grown(game: Game) -> None:
    """The last turn is streamed: it says more each time."""
    history = _history(game)
    turn = history[-1]
    if not turn.form.text.startswith(OK):
        turn.forms.append(grown(game, turn.form))
    sync(game, history)


def sync_truncated(game: Game) -> None:
    """The client sends its newest turns only, and perhaps holds no others from now on."""
    history = _history(game)
    history += _more(game, game.dice.randrange(3))
    newest = history[game.dice.randrange(len(history)) :]
    if game.dice.random() < 0.3:
        history[:] = newest
    sync(game, newest)


def sync_edited(game: Game) -> None:
    """A turn of the past says something else, and what follows it is the same; later it may say again what it said."""
    history = _history(game)
    n = game.dice.randrange(len(history))
    was, edited = history[n], list(history)
    form = said(game.fresh("w"), game.dice.choice([was.form.role, "user"]))
    edited[n] = Turn(was.resource, was.thread, [form], id=was.id, name=was.id)
    if game.dice.random() < 0.3:
        history[n] = edited[n]
    sync(game, edited, Edit(n, was) if n < len(history) - 1 else None)


def sync_branched(game: Game) -> None:
    """The past is cut off somewhere, and goes on otherwise."""
    history = _history(game)
    at = game.dice.randrange(1, len(history) + 1)
    cut = history[at:]
    history[at:] = _more(game, game.dice.randrange(1, 3), ok=False)
    sync(game, history, cut=cut)


WEIGHTS: dict[Callable[[Game], Any], float] = {
    sync_on: 4,
    sync_again: 3.8,
    sync_grown: 3,
    sync_truncated: 3.1,
    sync_edited: 3.2,
    sync_branched: 3,
}
