"""What people write into a memory: lines added, corrected and taken back, pinned and let go, while everybody goes on."""

import json
import re
from collections.abc import Callable
from typing import Any

from fuzz.game import RESOURCES, Game
from fuzz.owners import removing
from fuzz.workers import reflecting

_OURS = re.compile(r"answer \d+$|by hand \S+$")  # lines that hold no message's id: a model may leave out those by hand


def _line(game: Game) -> tuple[str, str | None] | None:
    """A line that is in force somewhere, and the thread of its memory (None: a pool's); None if there is none."""
    found = [
        (resource, tail, line)
        for resource in RESOURCES
        for kind in ("observations", "reflections")
        for tail, members in game.held[resource].of(kind).items()
        for member, _ in (members if kind == "observations" else members[-1:])
        for line in json.loads(member)["text"].split("\n")
        if _OURS.search(line)
    ]
    if not found:
        return None
    game.resource, tail, line = game.dice.choice(sorted(found))
    return line, tail or None


def add_line(game: Game) -> None:
    """Somebody notes a line."""
    om, resource, thread, text = game.world.om, game.resource, game.thread, f"by hand {game.fresh('h')}"
    game.begin("add line", lambda: om.add_line(text, resource, thread, priority=game.dice.choice([1, 3, 5])))


def correct_line(game: Game) -> None:
    """Somebody has a line say something else, or takes it out."""
    if chosen := _line(game):
        om, resource, (line, thread) = game.world.om, game.resource, chosen
        now = game.dice.choice([f"by hand {game.fresh('h')}"] * 3 + [""])
        game.begin("correct", removing(game, set(), lambda: bool(om.correct_line(line, now, resource, thread))))


def undo_line(game: Game) -> None:
    """Somebody takes a correction back, or what was added."""
    members = [
        (resource, json.loads(member))
        for resource in RESOURCES
        for some in game.held[resource].of("observations").values()
        for member, _ in some
    ]
    found = sorted((resource, each["id"]) for resource, each in members if each["corrections"] or each["origin"])
    if found:
        (game.resource, name), om = game.dice.choice(found), game.world.om
        resource = game.resource
        game.begin("undo", removing(game, set(), lambda: bool(om.undo_line(name, resource))))


def pin(game: Game) -> None:
    """Somebody pins a line."""
    if chosen := _line(game):
        om, resource, (line, thread) = game.world.om, game.resource, chosen
        game.begin("pin", lambda: om.pin(line, resource, thread))


def _new_line(game: Game) -> tuple[str, str]:
    """A line that somebody notes just now, and its thread."""
    om, resource, thread, text = game.world.om, game.resource, game.thread, f"by hand {game.fresh('h')}"
    game.start("add line", lambda: om.add_line(text, resource, thread)).finish()
    return text, thread


def pin_overtaking(game: Game) -> None:
    """Before a reflection is committed somebody pins a line, lets one go or corrects it."""
    line, thread = game.dice.choice([_line, _new_line])(game) or _new_line(game)
    om, resource, game.thread = game.world.om, game.resource, thread or game.thread
    overtaken = game.start("overtaken reflect", reflecting(game))
    overtaken.come_to("reflect")
    correct = lambda *where: om.correct_line(line, "by hand again", *where[1:])  # noqa: E731
    does = game.dice.choice([om.pin, om.pin, om.unpin, correct])
    game.start("overtaking pin", removing(game, set(), lambda: bool(does(line, resource, thread)))).finish()
    overtaken.finish()


def pin_overtaken(game: Game) -> None:
    """Somebody is about to pin a line, and before that a reflection takes it away, or its owner does."""
    line, thread = _new_line(game)
    om, resource = game.world.om, game.resource
    overtaken = game.start("overtaken pin", lambda: om.pin(line, resource, thread))
    overtaken.come_to("pin")
    game.start("overtaking reflect", reflecting(game)).finish()
    overtaken.finish()


def unpin(game: Game) -> None:
    """Somebody lets a pinned line go."""
    found = [
        (resource, each["id"])
        for resource in RESOURCES
        for record in game.held[resource].of("record").values()
        for each in json.loads(record.get(b"pins") or b"[]")
    ]
    if found:
        (game.resource, name), om = game.dice.choice(sorted(found)), game.world.om
        resource = game.resource
        game.begin("unpin", removing(game, set(), lambda: bool(om.unpin(name, resource))))


WEIGHTS: dict[Callable[[Game], Any], float] = {
    add_line: 4,
    correct_line: 5,
    undo_line: 3,
    pin: 6,
    pin_overtaking: 3,
    pin_overtaken: 3,
    unpin: 2.5,
}
