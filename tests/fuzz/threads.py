"""What people do to threads: another name for one, a copy, a title, out of sight, while everybody writes by any name."""

from collections.abc import Callable
from typing import Any

from fuzz.agents import write_plainly
from fuzz.checker import BrokenError
from fuzz.game import THREADS, Game
from fuzz.owners import removing
from fuzz.saying import said
from fuzz.workers import sealing
from fuzz.writing import push

COPIES = "copies"  # whose the copies are: an id is checked to be of one message in a resource


def in_play(seed: int) -> bool:
    """Whether a seed's conversations change their ids: every fourth one's do, and often."""
    return seed % 4 == 3


def _aliasing(game: Game) -> Callable[[], None] | None:
    """Work that has one name stand for another thread; None while a thread of the resource is cleared, whoever's it is then."""
    om, resource, alias = game.world.om, game.resource, game.thread
    thread = game.dice.choice([name for name in THREADS if name != alias])
    if alias not in THREADS or game.expected.clearing(resource):  # what a history says is known by its thread
        return None
    game.aliasing[resource] += 1

    def work() -> bool:
        try:
            om.alias_thread(alias, thread, resource)
        finally:
            game.aliasing[resource] -= 1
        return True

    return removing(game, set(), work)


def alias_thread(game: Game) -> None:
    """One conversation has changed its id."""
    game.go_where("messages")
    if work := _aliasing(game):
        game.begin("alias", work)


def alias_overtaken(game: Game) -> None:
    """It is planned what an alias holds, and before the commit somebody writes there, or a worker seals."""
    game.go_where("messages")
    if work := _aliasing(game):
        overtaken = game.start("overtaken alias", work)
        overtaken.come_to("alias")
        resource, thread = game.resource, game.thread
        what = game.dice.random()
        if what < 0.3:
            sealing(game).finish()
        elif what < 0.5:
            name = game.fresh("p")
            write_plainly(game, name, said(name))
        else:
            name = game.fresh("m")
            push(game, [(name, said(name))], begin=game.start).finish()
        game.resource, game.thread = resource, thread
        overtaken.finish()


def name_thread(game: Game) -> None:
    """Somebody gives a thread a title, or has it out of sight."""
    om, resource, thread = game.world.om, game.resource, game.thread
    how: dict[str, Any] = game.dice.choice(
        [{"title": "Mine"}, {"title": ""}, {"archived": True}, {"metadata": {"n": 1}}]
    )
    game.begin(f"name {how}", lambda: om.set_thread(resource, thread, **how))


def copy_thread(game: Game) -> None:
    """Somebody copies a thread into another memory; whatever its copy has, it has once."""
    om, resource, thread, to = game.world.om, game.resource, game.thread, game.fresh("t")

    def work() -> None:
        made = om.copy_thread(thread, to, resource, to_resource=COPIES)
        ids = [message.id for message in om.messages(COPIES, to)]
        if len(ids) != len({*ids}) or len(ids) > made.messages:
            raise BrokenError(f"the copy {to} of {thread} of {resource} has {ids}, {made.messages} were copied")

    game.begin("copy", work)


WEIGHTS: dict[Callable[[Game], Any], float] = {alias_thread: 9, alias_overtaken: 9, name_thread: 8, copy_thread: 4}
