"""Time that passes: the store is moved back instead, so that all that expires is nearer to its end."""

import re

from fuzz.agents import grown, push, turn_to
from fuzz.game import RESOURCES, verb
from fuzz.pieces import pieces, said
from fuzz.workers import all_neglected
from om_api.store.memory import due

_MINUTE, _DAY = 60_000, 86_400_000
_PAST = re.compile(rb"}:(source|segment|sources|reflected)(:|$)")
_RECORD = 16  # bytes of a known id, of which the eighth and ninth say the day it was sealed on


@verb(2.8, "twenty minutes pass")
def minutes_pass(game):
    """Twenty of them: what lives for minutes is gone, nobody's message is."""
    _shorten(game, 20 * _MINUTE)


@verb(3, "sources and histories expire")
def day_passes(game):
    """As long as sources and histories are kept: what was activated, and what was reflected, is gone with its lives' end.

    Nobody keeps for a day in mind what the archive said, how long a thing is to live not least.
    """
    for activity in [activity for activity in game.running if any("archive" in entry for entry in activity.log)]:
        activity.finish()
    game.bury()
    game.check()
    before = game.held
    for resource in RESOURCES:
        game.watch.forget(resource)
    _date_back(game)
    _shorten(game, _DAY)
    for resource in RESOURCES:
        was, now = before[resource], game.look(resource)
        gone = was.of("source").keys() - now.of("source").keys()
        over = [each["id"] for name in gone for each in was.stored("source", name)]
        histories = was.of("reflected").keys() - now.of("reflected").keys()
        named = [name for tail in histories for each in was.stored("reflected", tail) for name in each["message_ids"]]
        game.expected.expire(resource, over, named, now)


def _shorten(game, ms: int):
    """Whatever has a time to live has less of it; the past that an archive takes over only when it was made earlier too."""
    keys = list(game.client.scan_iter(f"{game.prefix}*", count=10_000))
    if game.cold and ms < _DAY:
        keys = [key for key in keys if not _PAST.search(key)]
    elif game.cold:
        game.cold.time_passes(ms)
    for key in keys:
        if (left := game.client.pttl(key)) >= 0:
            game.client.pexpire(key, left - ms)  # at once where nothing is left


def _date_back(game):
    """Whatever was written down by the server's clock was written a day before."""
    for key in game.client.scan_iter(f"{game.prefix}:{{*", count=10_000):
        kind = key.decode().rpartition("}:")[2].partition(":")[0]
        if kind == "known":
            _date_ids_back(game, key)
        elif kind == "sources":
            game.client.zadd(key, {name: at - _DAY for name, at in game.client.zrange(key, 0, -1, withscores=True)})
        elif kind in {"chunk", "record"}:
            field = {"chunk": "sealed_at", "record": "tidy_at"}[kind]
            if game.client.hexists(key, field):
                game.client.hincrby(key, field, -_DAY)


def _date_ids_back(game, key: bytes):
    held = game.client.hgetall(key)
    for name in [name for name in held if name.startswith(b"d")]:
        game.client.hdel(key, name)
    for name, value in held.items():
        if name.startswith(b"d"):
            game.client.hset(key, b"d%d" % (int(name[1:]) - 1), int(value) - _DAY)
        elif name.isdigit():
            records = [value[at : at + _RECORD] for at in range(0, len(value), _RECORD)]
            game.client.hset(key, name, b"".join(map(_day_before, records)))


def _day_before(record: bytes) -> bytes:
    day = int.from_bytes(record[7:9])
    return record[:7] + (day - (0 < day < 0xFFFF)).to_bytes(2) + record[9:]


@verb(4, "an id returns after its source expired")
def returns(game):
    """An id whose message is over comes again, mostly after a sweep tidied up: with the same text, or another."""
    if not _over(game):
        day_passes(game)
    if not (chosen := _over(game)):
        return
    game.resource, name = game.dice.choice(chosen)
    game.thread = game.expected.threads[game.resource, name]
    if game.dice.random() < 0.7:
        _tidy(game)
    form = game.expected.contents.latest(game.resource, name)
    push(game, [(name, form if form and game.dice.random() < 0.7 else said(f"another text for {name}"))])


@verb(2)
def grows_before_its_end(game):
    """A message that was sealed grows when its source is about to expire, and comes again once that is gone."""
    known = [each for held in game.held.values() for each in pieces(held).items()]
    covered = [name for name, some in known if not any(piece.raw for piece in some)]
    if not (found := turn_to(game, covered)):
        return
    name, form = found
    push(game, [(name, grown(game, form))], begin=game.start).finish()
    day_passes(game)
    _tidy(game)
    push(game, [(name, game.expected.contents.latest(game.resource, name) or form)])


def _over(game) -> list[tuple[str, str]]:
    found = [(resource, name) for resource in RESOURCES for name in game.expected.contents.returning(resource)]
    return [(resource, name) for resource, name in found if name.startswith(("m-", "p-"))]


def _tidy(game):
    """A sweep forgets what is over: all of a thread of which no message is kept any more, once anything was ever sealed."""
    game.world.services.run(due.looked(game.world.services.keys, game.resource, 1))
    all_neglected(game)
    game.start("sweep", game.world.sweep).finish()
    game.bury()
    game.check()
    held = game.held[game.resource]
    kept = {piece.thread for some in pieces(held).values() for piece in some if not piece.raw}
    sealed = any(b"epoch" in record for record in held.of("record").values())
    if sealed and game.thread not in kept and not game.expected.removing(game.resource):
        game.expected.contents.must_return(game.resource, game.expected.ever(game.resource, game.thread))
