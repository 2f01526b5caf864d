"""What owners of a memory do: want it observed now, stop it, remove it or a part of it, move it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.game import Game


def _remove(game: Game, name: str, ids: set[str], work: Callable[[], bool], *, forgets: bool = False) -> None:
    resource = game.resource
    plain = {name for of, name in game.plain_ids if of == resource}
    removal = game.expected.begin_removal(resource, ids, may_stay=plain, forgets=forgets)

    def removing() -> None:
        done = False
        try:
            done = work()
        finally:
            game.expected.end_removal(removal, done=done)
            game.watch.forget(resource)

    game.begin(name, removing)


def force(game: Game) -> None:
    """Somebody wants everything observed."""
    om, resource, thread = game.world.om, game.resource, game.dice.choice([game.thread, None])
    game.begin("force", lambda: om.force_observe(thread, resource))


def force_reflect(game: Game) -> None:
    """Somebody wants a reflection."""
    om, resource = game.world.om, game.resource
    game.begin("force_reflect", lambda: om.force_reflect(resource))


def pause(game: Game) -> None:
    """Somebody stops the thinking, or lets it go on."""
    om, resource = game.world.om, game.resource
    game.begin("pause", lambda: game.dice.choice([om.pause, om.resume])(resource))


def clear(game: Game) -> None:
    """A memory ends. What a plain writer left in a thread that no worker met may stay."""
    om, resource = game.world.om, game.resource
    _remove(game, "clear", game.expected.of(resource), lambda: bool(om.clear(resource).outcome == "cleared"))


def clear_thread(game: Game) -> None:
    """A thread ends."""
    om, resource, thread = game.world.om, game.resource, game.thread
    _remove(
        game,
        "clear thread",
        game.expected.of(resource, thread),
        lambda: bool(om.clear(resource, thread).outcome == "cleared"),
    )


def forget(game: Game) -> None:
    """One observation goes, with the messages behind it."""
    game.go_where("observations")
    members = [member for some in game.held[game.resource].of("observations").values() for member, _ in some]
    if members:
        observation, om, resource = json.loads(game.dice.choice(members)), game.world.om, game.resource
        forget = lambda: bool(om.forget(observation["id"], resource) == "cleared")  # noqa: E731
        _remove(game, "forget", set(observation["message_ids"]), forget, forgets=True)


def migrate(game: Game) -> None:
    """A memory moves to the other scope: nothing of it may go."""
    om, to = game.world.om, game.dice.choice(["resource", "thread"])
    resource = game.resource
    _remove(game, "migrate", set(), lambda: bool(om.migrate_scope(resource, to)))


WEIGHTS: dict[Callable[[Game], Any], float] = {
    force: 2,
    force_reflect: 2.5,
    pause: 2,
    clear: 2.5,
    clear_thread: 2,
    forget: 1.5,
    migrate: 2,
}
