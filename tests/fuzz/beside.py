"""What memories are beside a transcript: a working memory, notes of another one, threads with other names and copies."""

from collections.abc import Callable

from fuzz.agents import push, write_plainly
from fuzz.checker import BrokenError, must
from fuzz.expected import FIELDS
from fuzz.game import ALIASES, RESOURCES, THREADS, verb
from fuzz.owners import removing
from fuzz.pieces import said
from fuzz.workers import sealing
from om_api.domain.errors import OMError


def _writing(game, fields):
    om, resource = game.world.om, game.resource

    def done():
        return str(om.update_working_memory(fields, resource).outcome) in {"updated", "rest"}

    return game.kept.changing(resource, fields, done)


@verb(6, "a field of a working memory is written", group=ALIASES)
def keep(game):
    fields = {field: game.fresh("k") for field in game.dice.sample(FIELDS, game.dice.choice([1, 1, 2]))}
    if game.dice.random() < 0.2:
        fields[game.dice.choice(FIELDS)] = None
    game.begin("keep", _writing(game, fields))


@verb(3, "a field is written, overtaken by another", group=ALIASES)
def keep_overtaken(game):
    """An Actor has read, and before it writes another one writes."""
    slow, fast = (_writing(game, {field: game.fresh("k")}) for field in game.dice.sample(FIELDS, 2))
    game.overtake(game.start("overtaken keep", slow), game.start("overtaking keep", fast), "update_working")


def _context(game, *options, **more):
    try:
        return game.world.om.get_context(game.thread, game.resource, *options, **more)
    except OMError as error:
        game.history[-1] += f" failed: {str(error)[:100]}"
        return None


@verb(4, "a context is read with another memory's notes", group=ALIASES)
def read_composed(game):
    """Somebody reads one memory with the other, at an instant, warm or cold: what is shown is what is there."""
    resource = game.resource
    (other,) = (each for each in RESOURCES if each != resource)
    held = game.look(other)
    apart = (game.client.get(f"{game.prefix}:{{{other}}}:scope") or b"") == b"thread"
    if (context := _context(game, game.dice.choice([None, 100_000]), also=[other])) is None:
        return
    shown = [each.id for each in context.composed.get(other, ())]
    if apart:
        if shown or other not in context.left_out:
            raise BrokenError(f"{resource} shows {shown} of {other}, which has a memory for each thread")
        return
    noted = sorted({each["id"] for each in held.stored("observations") if each["text"].strip()})
    must(f"{resource}: what it shows of {other}", noted, sorted(shown))
    blocks = [block.resource_id for block in context.blocks if block.resource_id]
    if {*blocks} - {other}:
        raise BrokenError(f"{resource} was to show {other}, and shows {sorted({*blocks})}")


@verb(1, "a context is read without them", group=ALIASES)
def read_alone(game):
    context = _context(game)
    if context and (context.composed or any(block.resource_id for block in context.blocks)):
        raise BrokenError(f"{game.resource} shows {context.composed}, which nobody asked for")


COPIES = "copies"  # whose the copies are: an id is checked to be of one message in a resource


def _aliasing(game) -> Callable[[], None] | None:
    """Work that has one name stand for another thread; None while a thread of the resource is cleared, whoever's it is then."""
    om, resource, alias = game.world.om, game.resource, game.thread
    thread = game.dice.choice([name for name in THREADS if name != alias])
    if alias not in THREADS or game.expected.removing(
        resource, ["clears"]
    ):  # what a history says is known by its thread
        return None
    game.aliasing[resource] += 1

    def work() -> bool:
        try:
            om.alias_thread(alias, thread, resource)
        finally:
            game.aliasing[resource] -= 1
        return True

    return removing(game, set(), work)


@verb(9, "another name stands for a thread", group=ALIASES, counted="alias.lua")
def alias_thread(game):
    game.go_where("messages")
    if work := _aliasing(game):
        game.begin("alias", work)


@verb(9, "another name for a thread, overtaken", group=ALIASES)
def alias_overtaken(game):
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


@verb(8, "a thread is named or archived", group=ALIASES, counted="describe.lua")
def name_thread(game):
    om, resource, thread = game.world.om, game.resource, game.thread
    how = game.dice.choice([{"title": "Mine"}, {"title": ""}, {"archived": True}, {"metadata": {"n": 1}}])
    game.begin(f"name {how}", lambda: om.set_thread(resource, thread, **how))


@verb(4, "a thread is copied", group=ALIASES, counted="copy.lua")
def copy_thread(game):
    """Somebody copies a thread into another memory; whatever its copy has, it has once."""
    om, resource, thread, to = game.world.om, game.resource, game.thread, game.fresh("t")

    def work():
        made = om.copy_thread(thread, to, resource, to_resource=COPIES)
        ids = [message.id for message in om.messages(COPIES, to)]
        if len(ids) != len({*ids}) or len(ids) > made.messages:
            raise BrokenError(f"the copy {to} of {thread} of {resource} has {ids}, {made.messages} were copied")

    game.begin("copy", work)
