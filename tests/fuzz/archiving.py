"""What moves the past to the archive and back, dies on the way, or finds that the archive is away."""

from collections.abc import Callable, Sequence
from typing import Any

from fuzz import owners
from fuzz.activity import ALL
from fuzz.checker import BrokenError
from fuzz.game import ARCHIVE, RESOURCES, verb
from om_api.domain.values import Scope
from om_api.recall.analysis import AUTO
from om_api.store.archiving import comparing
from om_api.store.archiving.candidates import past
from om_api.store.archiving.moving import Planned, move
from om_api.store.memory import clear, due, reading
from om_workers.work.archiver import Archiver

_LONG_S = 1e9  # a worker that is stopped has time
_DAY_S = 86_400
# before it is written, before it is read back, before it is dropped: where an archiver may be overtaken or die
_ON_THE_WAY = ("archive.write", "archive.read", "archive")
# who tidies read the rows, or what Redis names, or was about to discard what that does not
_TIDYING = ("archive.names", "ZCOUNT", "archive.discard")
# an owner who brought things back, before and while what is left goes to the archive again
_SETTLING = [
    "bring_back",
    "archive.fence",
    "archive.names",
    "archive.fences",
    "archive.write",
    "archive",
    "archive.discard",
]


def _round(game) -> Callable[[], Any]:
    """A worker's round, for which everybody is due."""
    services, client, due_now = game.world.services, game.client, dict.fromkeys(RESOURCES, 0)

    def work():
        client.zadd(services.keys.archivable, due_now)
        Archiver(services).round(_LONG_S)

    return work


def _move(game) -> Callable[[], Any]:
    """One resource moves, all that is old enough of it in one transaction."""
    run, keys, resource = game.world.services.run, game.world.services.keys, game.resource

    def work():
        threads = run(clear.threads_met(keys, resource))
        word = run(reading.stored_scope(keys, resource)) or game.world.services.settings.for_agent(resource).scope
        scopes = [Scope(resource)] if word == "resource" else [Scope(resource, name) for name in threads]
        found = run(past(keys, resource, scopes, threads, run(due.server_ms()), _DAY_S))
        run(move(keys, [Planned(resource, found.ready, AUTO, _DAY_S)]))

    return work


@verb(14, "archive", group=ARCHIVE)
def archive(game):
    game.begin("archive", game.dice.choice([_round, _move])(game))


_CHANGES = (owners.erase, owners.erase, owners.clear, owners.clear_thread, owners.forget, owners.restore, archive)


@verb(8, "archive, and die on the way", group=ARCHIVE)
def archive_killed(game):
    """A worker dies before it wrote, before it read back, before it dropped, or when it was done and nobody heard of that."""
    worker = game.start("archive and die", _move(game))
    worker.come_to(game.dice.choice(_ON_THE_WAY))
    worker.kill(reply_lost=game.dice.random() < 0.5)


@verb(12, "archive, overtaken by an owner", group=ARCHIVE)
def archive_overtaken(game):
    """A worker read a source, wrote it, or read it back; before it goes on an owner changes it, or another worker moves it."""
    _overtaken(game, "overtaken archive", _move(game), _ON_THE_WAY)


def _overtaken(game, what: str, work: Callable[[], Any], on_the_way: Sequence[str]):
    worker, command = game.start(what, work), game.dice.choice(on_the_way)
    worker.come_to(command)
    if game.dice.random() < 0.5:  # the next time that it comes there
        worker.go()
        worker.come_to(command)
    _somebody_changes(game)
    worker.finish()


def _somebody_changes(game):
    resource, before = game.resource, [*game.running]
    game.dice.choice(_CHANGES)(game)
    for activity in [activity for activity in game.running if activity not in before]:
        activity.finish()
    game.resource = resource


@verb(12, "an owner, overtaken by a worker who archives", group=ARCHIVE)
def owner_overtaken(game):
    """An owner brought back what they change, or has not settled yet what is left, and dies, or a worker archives meanwhile."""
    before, begin = [*game.running], game.begin
    game.begin = game.start  # whoever begins here is led on from the first command
    try:
        game.dice.choice([*_CHANGES[1:-1], owners.migrate, owners.retry])(game)
    finally:
        game.begin = begin
    owner = next((activity for activity in game.running if activity not in before), None)
    if owner is None:
        return
    owner.come_to(game.dice.choice(_SETTLING))
    if game.dice.random() < 0.4:
        owner.kill(reply_lost=game.dice.random() < 0.5)
        return
    for _ in range(game.dice.choice([1, 1, 2])):
        game.start("overtaking archive", game.dice.choice([_round, _move])(game)).finish()
    owner.finish()


@verb(6, "the archive is away, or back", group=ARCHIVE)
def archive_is_away(game):
    """Nobody who is under way reaches the archive any more, or it is back. Who recalls meanwhile is told a part."""
    if game.cold is None:
        return
    game.cold.away = not game.cold.away
    om, resource = game.world.om, game.resource

    def read():
        answer = om.recall("0001 0002 0003", resource, limit=5)
        if answer.partial and "archive" not in answer.partial:
            raise BrokenError(f"{resource}: what is missing is not said: {answer.partial}")

    game.start("recall without an archive", read).go(ALL)
    if game.dice.random() < 0.7:
        _somebody_changes(game)


@verb(5, "the archive is tidied", group=ARCHIVE)
def tidy(game):
    game.begin("tidy", _tidy(game))


@verb(6, "the archive is tidied, overtaken by a worker or an owner", group=ARCHIVE)
def tidy_overtaken(game):
    """Who tidies read one of both homes; before it goes on a worker archives, or an owner changes what is archived."""
    _overtaken(game, "overtaken tidy", _tidy(game), _TIDYING)


def _tidy(game) -> Callable[[], Any]:
    run, keys = game.world.services.run, game.world.services.keys
    return lambda: run(comparing.tidy(keys, "", 50))


def at_rest(game):
    """Everything is archived that can be, and tidied; then what Redis names stands in the archive, and nothing else does."""
    game.cold.away = False
    for world in game.worlds:
        game.world = world
        _round(game)()
    _tidy(game)()
    run, keys = game.world.services.run, game.world.services.keys
    game.check()
    for resource in RESOURCES:
        if resource in game.half_cleared and not run(comparing.compare(keys, resource)).known:
            run(comparing.give_up(keys, resource))  # as `om archive discard` does
        found = run(comparing.compare(keys, resource))
        if found.neither or found.both or (found.unnamed and found.known):
            raise BrokenError(f"{resource}: at rest Redis and the archive differ: {found}")
