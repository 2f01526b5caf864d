"""What owners of a memory do: want it observed now, stop it, remove it or a part of it, move it."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from world import contents

from fuzz.checker import BrokenError, Held, message_id
from fuzz.game import Game
from fuzz.kept import FIELDS
from fuzz.pieces import name_of, pieces
from fuzz.workers import nobody_survives, observing, reflecting, sealing
from om_api.store.fleet import repartition


def removing(game: Game, ids: set[str], work: Callable[[], bool], kind: str = "moves") -> Callable[[], None]:
    """Work that may remove these ids, and says whether it did; what was seen before may change while it is under way."""
    resource = game.resource
    plain = {name for of, name in game.plain_ids if of == resource}
    removal = game.expected.begin_removal(resource, ids, may_stay=plain, kind=kind)

    def removing() -> None:
        done = False
        try:
            done = work()
        finally:
            game.expected.end_removal(removal, done=done)
            game.watch.forget(resource)

    return removing


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


def part(game: Game) -> None:
    """An operator moves the indexes into another number of parts, dies on the way, or meets another one who does."""
    keys, run, count = game.world.services.keys, game.world.services.run, game.dice.choice([1, 2, 3, 5])
    game.begin(f"part into {count}", lambda: run(repartition.repartition(keys, count)))


def _clearing(game: Game) -> Callable[[], None]:
    om, resource = game.world.om, game.resource
    ids = game.expected.ever(resource)

    def clearing() -> bool:
        game.half_cleared.add(resource)
        work = lambda: bool(om.clear(resource).outcome == "cleared")  # noqa: E731
        done = game.kept.changing(resource, dict.fromkeys(FIELDS), work)()
        game.half_cleared.discard(resource)
        return done

    return removing(game, ids, clearing, "clears")


def clear(game: Game) -> None:
    """A memory ends. What a plain writer left in a thread that no worker met may stay."""
    game.begin("clear", _clearing(game))


def clear_overtaken(game: Game) -> None:
    """A memory ends, and between the plan of that and its commit a worker seals a chunk that no plan names."""
    game.go_where("messages")
    slow = game.start("clear", _clearing(game))
    slow.commit()
    sealing(game).finish()
    slow.finish()


def clear_thread(game: Game) -> None:
    """A thread ends."""
    om, resource, thread = game.world.om, game.resource, game.expected.place(game.resource, game.thread)
    if game.aliasing[resource]:  # whose what it holds is nobody can say before that is over
        return
    ids = game.expected.ever(resource, thread)
    work = lambda: bool(om.clear(resource, thread).outcome == "cleared")  # noqa: E731
    game.begin("clear thread", removing(game, ids, work, "clears"))


def forget(game: Game) -> None:
    """One observation goes, with the messages behind it."""
    game.go_where("observations")
    members = [member for some in game.held[game.resource].of("observations").values() for member, _ in some]
    if members:
        observation, om, resource = json.loads(game.dice.choice(members)), game.world.om, game.resource
        forget = lambda: bool(om.forget(observation["id"], resource) == "cleared")  # noqa: E731
        game.begin("forget", removing(game, set(observation["message_ids"]), forget, "forgets"))


def _erasing(game: Game, name: str = "") -> Callable[[], None] | None:
    """Work that erases a message that the resource holds, of this name or any; None if there is none."""
    om, resource = game.world.om, game.resource
    found = pieces(game.held.get(resource, Held({})))
    if not found:
        return None
    name = name or game.dice.choice(sorted(found))
    ids = {name, *(piece.id for piece in found[name])}

    def erasing() -> bool:
        done = bool(om.erase(resource, matching=name).outcome == "cleared")
        if done and not game.expected.may_stay(resource, name):
            _check_erased(game, resource, name)
        return done

    return removing(game, ids, erasing, "forgets")


def erase(game: Game) -> None:
    """Whatever names a message goes, in every tier; unless it comes again meanwhile nothing of the resource names it then."""
    game.resource = game.dice.choice(sorted(game.held)) if game.held else game.resource
    if work := _erasing(game):
        game.begin("erase", work)


def erase_overtaken(game: Game) -> None:
    """It is planned what goes, and before the commit a worker seals messages, or gives up the very one."""
    held = [(resource, *each) for resource, held in game.held.items() for each in held.of("chunk").items()]
    lone = sorted(
        (resource, name) for resource, name, of in held if (of[b"state"], of[b"messages"]) == (b"sealed", b"1")
    )
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
        overtaken = game.start("overtaken erase", work)
        overtaken.come_to("erase")
        overtaking.finish()
        overtaken.finish()


def _check_erased(game: Game, resource: str, name: str) -> None:
    for key, held in contents(game.client, f"{game.prefix}:{{{resource}}}:*").items():
        if name in repr(held):
            raise BrokenError(f"{resource}: {name} was erased and is in {key.decode()}: {repr(held)[:300]}")


def _rejected(game: Game) -> tuple[str, str] | None:
    """A resource and the id of an entry of its quarantine."""
    found = [(r, entry) for r, held in game.held.items() for entry in held.of("rejected").get("", [])]
    if not found:
        return None
    game.resource, entry = game.dice.choice(found)
    return game.resource, hashlib.sha256(entry).hexdigest()[:12]


def retry(game: Game) -> None:
    """Somebody gives what was rejected another chance; a placeholder is taken back, its message observed again."""
    if found := _rejected(game):
        om = game.world.om
        game.begin("retry", removing(game, set(), lambda: bool(om.retry_rejected(*found))))


def drop(game: Game) -> None:
    """Somebody takes an entry out of the quarantine, and nothing else."""
    if found := _rejected(game):
        om = game.world.om
        game.begin("drop", lambda: om.drop_rejected(*found))


def migrate(game: Game) -> None:
    """A memory moves to the other scope: nothing of it may go."""
    om, to = game.world.om, game.dice.choice(["resource", "thread"])
    resource = game.resource
    game.begin("migrate", removing(game, set(), lambda: bool(om.migrate_scope(resource, to))))


def _undoing(game: Game) -> Callable[[], None] | None:
    """Work that restores any generation of a memory here, or the time before the first; None if there are none."""
    om, resource = game.world.om, game.resource
    found = sorted(game.held[resource].of("reflections").items())
    if not found:
        return None
    tail, members = game.dice.choice(found)
    n = game.dice.randrange(len(members))  # the last one is in force
    return removing(game, set(), lambda: bool(om.restore(resource, n, tail or None)))


def restore(game: Game) -> None:
    """Reflections are undone, or an undo is: each message must stay covered once."""
    game.go_where("reflections")
    if undo := _undoing(game):
        game.begin("restore", undo)


def restore_overtaken(game: Game) -> None:
    """An undo is planned, and before its commit a worker reflects on, or another undo is done."""
    game.go_where("reflections")
    slow, fast = _undoing(game), game.dice.choice([_undoing(game), reflecting(game), reflecting(game)])
    if slow and fast:
        overtaken, overtaking = game.start("overtaken restore", slow), game.start("overtaking undo", fast)
        overtaken.commit()
        overtaking.finish()
        overtaken.finish()


def _waiting(game: Game) -> list[tuple[str, dict[bytes, bytes]]]:
    """The memories of the resource of which a reflection may wait: the rest of their record's name, and what it says."""
    records = sorted(game.look(game.resource).of("record").items())
    return [(tail, record) for tail, record in records if int(record.get(b"proposed_until", 0))]


def _propose(game: Game) -> None:
    """A worker condenses what there is, and where somebody is to review that, it waits."""
    world, resource = game.world, game.resource
    tails = sorted(game.look(resource).of("observations"))
    if tails:
        tail = game.dice.choice(tails)

        def propose() -> None:
            world.om.force_reflect(resource)
            world.reflector().reflect(f"{resource}|{tail}" if tail else resource)

        game.start("propose", propose).finish()


def _reviewing(game: Game) -> tuple[str, Callable[[], None]] | None:
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

    def reviewing() -> None:
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


def review(game: Game) -> None:
    """Somebody decides about a reflection that waits, or lets its time pass."""
    game.go_where("observations")
    if found := _reviewing(game):
        game.begin(found[0], found[1])


def review_overtaken(game: Game) -> None:
    """Somebody decides, and right before that is committed somebody else does, or a worker."""
    game.go_where("observations")
    slow, fast = _reviewing(game), _reviewing(game)
    if slow and fast:
        overtaken, overtaking = (
            game.start(f"overtaken {slow[0]}", slow[1]),
            game.start(f"overtaking {fast[0]}", fast[1]),
        )
        overtaken.commit()
        overtaking.finish()
        overtaken.finish()


WEIGHTS: dict[Callable[[Game], Any], float] = {
    part: 3,
    force: 2,
    force_reflect: 2.5,
    pause: 2,
    clear: 2,
    clear_overtaken: 3.6,
    clear_thread: 3.9,
    forget: 3.5,
    erase: 4,
    erase_overtaken: 3.5,
    retry: 4.4,
    drop: 1,
    migrate: 3,
    restore: 8,
    restore_overtaken: 12,
    review: 6,
    review_overtaken: 6,
}
