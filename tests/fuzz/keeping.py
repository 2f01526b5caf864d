"""What Actors keep in a working memory, several at once: no field is lost, and none comes back, whoever is interrupted."""

from collections.abc import Callable
from typing import Any

from fuzz.game import Game
from fuzz.kept import FIELDS


def keep(game: Game) -> None:
    """An Actor writes a field or two, or empties one."""
    om, resource = game.world.om, game.resource
    fields = {field: game.fresh("k") for field in game.dice.sample(FIELDS, game.dice.choice([1, 1, 2]))}
    if game.dice.random() < 0.2:
        fields[game.dice.choice(FIELDS)] = None
    work = lambda: str(om.update_working_memory(fields, resource).outcome) in {"updated", "rest"}  # noqa: E731
    game.begin("keep", game.kept.changing(resource, fields, work))


def keep_overtaken(game: Game) -> None:
    """An Actor has read, and before it writes another one writes."""
    om, resource = game.world.om, game.resource
    slow, fast = ({field: game.fresh("k")} for field in game.dice.sample(FIELDS, 2))
    writing = lambda fields: lambda: bool(om.update_working_memory(fields, resource))  # noqa: E731
    overtaken = game.start("overtaken keep", game.kept.changing(resource, slow, writing(slow)))
    overtaken.come_to("update_working")
    game.start("overtaking keep", game.kept.changing(resource, fast, writing(fast))).finish()
    overtaken.finish()


WEIGHTS: dict[Callable[[Game], Any], float] = {keep: 6, keep_overtaken: 3}
