"""What memories are beside a transcript: a working memory, notes of another one, threads with other names and copies."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from fuzz.agents import push, write_plainly
from fuzz.checker import BrokenError, Held
from fuzz.game import RESOURCES, THREADS, Game
from fuzz.kept import FIELDS
from fuzz.owners import removing
from fuzz.pieces import said
from fuzz.workers import sealing
from om_api.domain.errors import OMError


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


WEIGHTS: dict[Callable[[Game], Any], float] = {
    keep: 6,
    keep_overtaken: 3,
    read_composed: 4,
    read_alone: 1,
    alias_thread: 9,
    alias_overtaken: 9,
    name_thread: 8,
    copy_thread: 4,
}
