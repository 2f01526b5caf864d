"""An operator of a Cluster who moves slots of the game to other nodes, a few keys at a time, while everybody goes on."""

from collections.abc import Callable
from typing import Any

from redis.crc import key_slot

from fuzz.game import RESOURCES, Game


def slot_leaves(game: Game) -> None:
    """The slot of a memory, or of anything that all of them share, sets out for another node."""
    shared = sorted(key for key in game.client.scan_iter(f"{game.prefix}:*", count=1000) if b"}:" not in key)
    memory = f"{game.prefix}:{{{game.dice.choice(RESOURCES)}}}:".encode()
    if game.slots:
        game.slots.leave(key_slot(game.dice.choice([memory, game.dice.choice(shared or [memory])])))


def slot_goes_on(game: Game) -> None:
    """A part of its keys is there."""
    if game.slots:
        game.slots.go_on()


def slot_arrives(game: Game) -> None:
    """All of them are."""
    if game.slots:
        game.slots.arrive()


WEIGHTS: dict[Callable[[Game], Any], float] = {slot_leaves: 9, slot_goes_on: 8, slot_arrives: 5}
