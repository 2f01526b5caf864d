"""What people write into a memory: lines added, corrected and taken back, pinned and let go, while everybody goes on."""

import json
import re
from functools import partial

from fuzz.game import RESOURCES, verb
from fuzz.owners import removing
from fuzz.workers import Contrary

_OURS = re.compile(r"answer \d+$|by hand \S+$")  # lines that hold no message's id: a model may leave out those by hand


def _line(game) -> tuple[str, str | None] | None:
    """A line that is in force somewhere, and the thread of its memory (None: a pool's); None if there is none."""
    found = [
        (resource, tail, line)
        for resource in RESOURCES
        for kind in ("observations", "reflections")
        for tail in game.held[resource].of(kind)
        for each in game.held[resource].stored(kind, tail)[0 if kind == "observations" else -1 :]
        for line in each["text"].split("\n")
        if _OURS.search(line)
    ]
    if not found:
        return None
    game.resource, tail, line = game.dice.choice(sorted(found))
    return line, tail or None


@verb(4, "a line is added", counted="add_line.lua")
def add_line(game):
    om, resource, thread, text = game.world.om, game.resource, game.thread, f"by hand {game.fresh('h')}"
    game.begin("add line", lambda: om.add_line(text, resource, thread, priority=game.dice.choice([1, 3, 5])))


@verb(5, "a line is corrected")
def correct_line(game):
    if chosen := _line(game):
        line, thread = chosen
        now = game.dice.choice([f"by hand {game.fresh('h')}"] * 3 + [""])
        work = partial(game.world.om.correct_line, line, now, game.resource, thread)
        game.begin("correct", removing(game, set(), work))


@verb(3, "a correction is taken back")
def undo_line(game):
    stored = [(resource, each) for resource in RESOURCES for each in game.held[resource].everything("observations")]
    found = sorted((resource, each["id"]) for resource, each in stored if each["corrections"] or each["origin"])
    if found:
        game.resource, name = game.dice.choice(found)
        game.begin("undo", removing(game, set(), partial(game.world.om.undo_line, name, game.resource)))


@verb(6, "a line is pinned", counted="pin.lua")
def pin(game):
    if chosen := _line(game):
        line, thread = chosen
        game.begin("pin", partial(game.world.om.pin, line, game.resource, thread))


def _new_line(game) -> tuple[str, str]:
    text = f"by hand {game.fresh('h')}"
    game.start("add line", partial(game.world.om.add_line, text, game.resource, game.thread)).finish()
    return text, game.thread


@verb(3, "a line is pinned or let go while a reflection is thought")
def pin_overtaking(game):
    """Before a reflection is committed somebody pins a line, lets one go or corrects it."""
    line, thread = game.dice.choice([_line, _new_line])(game) or _new_line(game)
    om, resource, game.thread = game.world.om, game.resource, thread or game.thread
    overtaken = game.start("overtaken reflect", Contrary(game).reflect)

    def correct(*where):
        return om.correct_line(line, "by hand again", *where[1:])

    does = game.dice.choice([om.pin, om.pin, om.unpin, correct])
    overtaking = game.start("overtaking pin", removing(game, set(), partial(does, line, resource, thread)))
    game.overtake(overtaken, overtaking, "reflect")


@verb(3, "a line is pinned, overtaken by a reflection")
def pin_overtaken(game):
    """Somebody is about to pin a line, and before that a reflection takes it away, or its owner does."""
    line, thread = _new_line(game)
    overtaken = game.start("overtaken pin", partial(game.world.om.pin, line, game.resource, thread))
    game.overtake(overtaken, game.start("overtaking reflect", Contrary(game).reflect), "pin")


@verb(2.5, "a line is let go")
def unpin(game):
    found = [
        (resource, each["id"])
        for resource in RESOURCES
        for record in game.held[resource].of("record").values()
        for each in json.loads(record.get(b"pins") or b"[]")
    ]
    if found:
        game.resource, name = game.dice.choice(sorted(found))
        game.begin("unpin", removing(game, set(), partial(game.world.om.unpin, name, game.resource)))
