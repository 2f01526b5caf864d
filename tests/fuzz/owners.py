"""What owners of a memory do: want it observed now, stop it, remove it or a part of it, move it."""

import hashlib
from collections.abc import Callable
from functools import partial

from world import contents

from fuzz.checker import BrokenError, Held, message_id
from fuzz.expected import FIELDS
from fuzz.game import verb
from fuzz.pieces import name_of, pieces
from fuzz.workers import Contrary, nobody_survives, observing, sealing
from om_api.store.fleet import repartition


def removing(game, ids: set[str], work: Callable[[], bool], kind: str = "moves") -> Callable[[], None]:
    """Work that may remove these ids, and says whether it did; what was seen before may change while it is under way."""
    resource = game.resource
    plain = {name for of, name in game.plain_ids if of == resource}
    removal = game.expected.begin_removal(resource, ids, may_stay=plain, kind=kind)

    def removing():
        done = False
        try:
            done = bool(work())
        finally:
            game.expected.end_removal(removal, done=done)
            game.watch.forget(resource)

    return removing


@verb(3, "indexes into another number of parts")
def part(game):
    services, count = game.world.services, game.dice.choice([1, 2, 3, 5])
    game.begin(f"part into {count}", lambda: services.run(repartition.repartition(services.keys, count)))


@verb(2)
def force(game):
    thread = game.dice.choice([game.thread, None])
    game.begin("force", partial(game.world.om.force_observe, thread, game.resource))


@verb(2.5)
def force_reflect(game):
    game.begin("force_reflect", partial(game.world.om.force_reflect, game.resource))


@verb(2)
def pause(game):
    om, resource = game.world.om, game.resource
    game.begin("pause", lambda: game.dice.choice([om.pause, om.resume])(resource))


def _clearing(game) -> Callable[[], None]:
    om, resource = game.world.om, game.resource
    ids = game.expected.ever(resource)

    def clearing() -> bool:
        game.half_cleared.add(resource)
        done = game.kept.changing(resource, dict.fromkeys(FIELDS), lambda: om.clear(resource).outcome == "cleared")()
        game.half_cleared.discard(resource)
        return done

    return removing(game, ids, clearing, "clears")


@verb(2, "clear", counted="clear.lua")
def clear(game):
    """A memory ends. What a plain writer left in a thread that no worker met may stay."""
    game.begin("clear", _clearing(game))


@verb(3.6, "clear, overtaken by a seal")
def clear_overtaken(game):
    """A memory ends, and between the plan of that and its commit a worker seals a chunk that no plan names."""
    game.go_where("messages")
    game.overtake(game.start("clear", _clearing(game)), sealing(game))


@verb(3.9, "clear a thread", counted="clear_thread.lua")
def clear_thread(game):
    om, resource, thread = game.world.om, game.resource, game.expected.place(game.resource, game.thread)
    if game.aliasing[resource]:  # whose what it holds is nobody can say before that is over
        return
    ids = game.expected.ever(resource, thread)
    work = removing(game, ids, lambda: om.clear(resource, thread).outcome == "cleared", "clears")
    game.begin("clear thread", work)


@verb(3, "a thread leaves no memory, or does again", counted="describe.lua")
def set_memory(game):
    om, place, mode = game.world.om, (game.resource, game.thread), game.dice.choice(["full", "full", "read_only"])

    def work():
        om.set_thread(*place, memory=mode)

    game.begin("set memory mode", work)


@verb(3.5, "forget")
def forget(game):
    game.go_where("observations")
    if stored := game.held[game.resource].everything("observations"):
        observation, om, resource = game.dice.choice(stored), game.world.om, game.resource
        ids = set(observation["message_ids"])
        forgetting = removing(game, ids, lambda: om.forget(observation["id"], resource) == "cleared", "forgets")
        game.begin("forget", forgetting)


def _erasing(game, name: str = "") -> Callable[[], None] | None:
    """Work that erases a message that the resource holds, of this name or any; None if there is none."""
    om, resource = game.world.om, game.resource
    found = pieces(game.held.get(resource, Held({})))
    if not found:
        return None
    name = name or game.dice.choice(sorted(found))
    ids = {name, *(piece.id for piece in found[name])}

    def erasing() -> bool:
        done = om.erase(resource, matching=name).outcome == "cleared"
        if done and not game.expected.may_stay(resource, name):
            for key, held in contents(game.client, f"{game.prefix}:{{{resource}}}:*").items():
                if name in repr(held):
                    raise BrokenError(f"{resource}: {name} was erased and is in {key.decode()}: {repr(held)[:300]}")
        return done

    return removing(game, ids, erasing, "forgets")


@verb(4, "erase", counted="erase.lua")
def erase(game):
    """Whatever names a message goes, in every tier; unless it comes again meanwhile nothing of the resource names it then."""
    game.resource = game.dice.choice(sorted(game.held)) if game.held else game.resource
    if work := _erasing(game):
        game.begin("erase", work)


@verb(3.5, "erase, overtaken by a worker")
def erase_overtaken(game):
    """It is planned what goes, and before the commit a worker seals messages, or gives up the very one."""
    held = [(resource, *each) for resource, held in game.held.items() for each in held.of("chunk").items()]
    lone = sorted((r, name) for r, name, of in held if (of[b"state"], of[b"messages"]) == (b"sealed", b"1"))
    if lone and game.dice.random() < 0.7:
        game.resource, chunk = game.dice.choice(lone)
        game.thread = game.held[game.resource].of("chunk")[chunk][b"thread"].decode()
        work = _erasing(game, name_of(message_id(game.held[game.resource].of("sealed")[chunk][0])))
        nobody_survives(game, chunk)
        overtaking = game.start("overtaking observe", observing(game, chunk))
    else:
        game.go_where("messages")
        work, overtaking = _erasing(game), sealing(game)
    if work:
        game.overtake(game.start("overtaken erase", work), overtaking, "erase")


def _rejected(game) -> tuple[str, str] | None:
    found = [(r, entry) for r, held in game.held.items() for entry in held.of("rejected").get("", [])]
    if not found:
        return None
    game.resource, entry = game.dice.choice(found)
    return game.resource, hashlib.sha256(entry).hexdigest()[:12]


@verb(4.4, "retry what was rejected")
def retry(game):
    if found := _rejected(game):
        game.begin("retry", removing(game, set(), partial(game.world.om.retry_rejected, *found)))


@verb(1)
def drop(game):
    if found := _rejected(game):
        game.begin("drop", partial(game.world.om.drop_rejected, *found))


@verb(3, "migrate the scope")
def migrate(game):
    to = game.dice.choice(["resource", "thread"])
    game.begin("migrate", removing(game, set(), partial(game.world.om.migrate_scope, game.resource, to)))


def _undoing(game) -> Callable[[], None] | None:
    """Work that restores any generation of a memory here, or the time before the first; None if there are none."""
    found = sorted(game.held[game.resource].of("reflections").items())
    if not found:
        return None
    tail, members = game.dice.choice(found)
    n = game.dice.randrange(len(members))  # the last one is in force
    return removing(game, set(), partial(game.world.om.restore, game.resource, n, tail or None))


@verb(8, "undo reflections", counted="restore.lua")
def restore(game):
    game.go_where("reflections")
    if undo := _undoing(game):
        game.begin("restore", undo)


@verb(12, "undo, overtaken by another")
def restore_overtaken(game):
    """An undo is planned, and before its commit a worker reflects on, or another undo is done."""
    game.go_where("reflections")
    slow, fast = _undoing(game), game.dice.choice([_undoing(game), Contrary(game).reflect, Contrary(game).reflect])
    if slow and fast:
        game.overtake(game.start("overtaken restore", slow), game.start("overtaking undo", fast))


def _waiting(game) -> list[tuple[str, dict[bytes, bytes]]]:
    """The memories of the resource of which a reflection may wait: the rest of their record's name, and what it says."""
    records = sorted(game.look(game.resource).of("record").items())
    return [(tail, record) for tail, record in records if int(record.get(b"proposed_until", 0))]


def _propose(game):
    """A worker condenses what there is, and where somebody is to review that, it waits."""
    world, resource = game.world, game.resource
    tails = sorted(game.look(resource).of("observations"))
    if tails:
        tail = game.dice.choice(tails)

        def propose():
            world.om.force_reflect(resource)
            world.reflector().reflect(f"{resource}|{tail}" if tail else resource)

        game.start("propose", propose).finish()


def _reviewing(game) -> tuple[str, Callable[[], None]] | None:
    """A decision about a reflection that waits, and the work that makes it; None where none waits."""
    om, client, resource = game.world.om, game.client, game.resource
    waiting = _waiting(game)
    if not waiting:
        _propose(game)
        waiting = _waiting(game)
    if not waiting:
        return None
    tail, record = game.dice.choice(waiting)
    thread, review = tail or None, record[b"proposed"].decode()
    how = game.dice.choice(["approve", "edit", "send back", "expire"])

    def reviewing():
        if how == "expire":
            name = ":".join(filter(None, (f"{game.prefix}:{{{resource}}}:record", tail)))
            if client.hget(name, "proposed") == record[b"proposed"]:
                client.hset(name, "proposed_until", 1)
            return
        found = om.proposal(resource, thread)
        if how == "send back":
            done = om.send_back(resource, thread, proposal=review, comment="once more")
        else:
            text = f"{found.generation.text}\n* reviewed" if found and how == "edit" and found.id == review else None
            done = om.approve(resource, thread, proposal=review, text=text)
        if done in {"reflected", "sent_back"}:
            if review in game.reviewed:
                raise BrokenError(f"{resource} {tail}: the review {review} was decided twice")
            game.reviewed.add(review)

    return how, reviewing


@verb(6, "review a reflection")
def review(game):
    game.go_where("observations")
    if found := _reviewing(game):
        game.begin(found[0], found[1])


@verb(6, "review, overtaken by another")
def review_overtaken(game):
    """Somebody decides, and right before that is committed somebody else does, or a worker."""
    game.go_where("observations")
    slow, fast = _reviewing(game), _reviewing(game)
    if slow and fast:
        game.overtake(game.start(f"overtaken {slow[0]}", slow[1]), game.start(f"overtaking {fast[0]}", fast[1]))
