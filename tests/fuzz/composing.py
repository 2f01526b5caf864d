"""Contexts over two memories, while everybody goes on: each note of the other once, and nothing of what was not asked for."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from fuzz.checker import BrokenError, Held
from fuzz.game import RESOURCES, Game
from om_api.domain.errors import OMError


def _noted(held: Held) -> list[str]:
    """The observations in force of a memory of all threads that say something, in order."""
    members = [json.loads(member) for member, _ in held.of("observations").get("", [])]
    return [each["id"] for each in members if each["text"].strip()]


def read_composed(game: Game) -> None:
    """Somebody reads one memory with the other, at an instant, warm or cold: what is shown is what is there."""
    resource, om = game.resource, game.world.om
    (other,) = (each for each in RESOURCES if each != resource)
    held = game.look(other)
    apart = (game.client.get(f"{game.prefix}:{{{other}}}:scope") or b"") == b"thread"
    try:
        context = om.get_context(game.thread, resource, game.dice.choice([None, 100_000]), also=[other])
    except OMError as error:
        game.history[-1] += f" failed: {str(error)[:100]}"
        return
    shown = [each.id for each in context.composed.get(other, ())]
    if apart:
        if shown or other not in context.left_out:
            raise BrokenError(f"{resource} shows {shown} of {other}, which has a memory for each thread")
        return
    if repeated := [name for name, times in Counter(shown).items() if times > 1]:
        raise BrokenError(f"{resource} shows {repeated} of {other} twice")
    if sorted(shown) != sorted(_noted(held)):
        raise BrokenError(f"{resource} shows {sorted(shown)} of {other}, which has noted {sorted(_noted(held))}")
    blocks = [block.resource_id for block in context.blocks if block.resource_id]
    if {*blocks} - {other}:
        raise BrokenError(f"{resource} was to show {other}, and shows {sorted({*blocks})}")


def read_alone(game: Game) -> None:
    """Somebody reads the same memory without it, with what the reader before held of both."""
    try:
        context = game.world.om.get_context(game.thread, game.resource)
    except OMError as error:
        game.history[-1] += f" failed: {str(error)[:100]}"
        return
    if context.composed or any(block.resource_id for block in context.blocks):
        raise BrokenError(f"{game.resource} shows {context.composed}, which nobody asked for")


WEIGHTS: dict[Callable[[Game], Any], float] = {read_composed: 4.0, read_alone: 1.0}
