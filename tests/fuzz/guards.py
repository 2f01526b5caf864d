"""Guards, each taken out by name: the seeds must notice every one of them, or they prove nothing."""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

from redis.exceptions import TryAgainError

from om_api.archive.sql_archive import SqlArchive
from om_api.client.recalling import Recalling
from om_api.domain import judging
from om_api.domain.identity import KnownId, Said
from om_api.store.archiving import changing
from om_api.store.driver import scripts, slot_parts
from om_api.store.driver.cluster import ClusterClient, Line
from om_api.store.driver.steps import pack
from om_api.store.index import listing as listing_
from om_api.store.memory import amend, scope_state


class Guard(NamedTuple):
    """What is left out and goes wrong then, how to take it out, and the seed that found that first and is tried first."""

    name: str
    take_out: Callable[[Any], None]
    seed: int = 0


def without(script: str, text: str, instead: str):
    """Replace text of one script, which must be there exactly once."""

    def take_out(patch):
        known = scripts.load_all()
        was = known[script]
        if was.source.count(text) != 1:
            raise ValueError(f"{script}.lua does not hold {text!r} once: the guard has changed, change its mutant")
        source = was.source.replace(text, instead)
        sha = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
        patch.setitem(known, script, was._replace(source=source, sha=sha))

    return take_out


def _by_cursor(patch):
    """What decides by the time of the last observed message, as most memories do, instead of by membership."""
    read = scope_state.raw_messages

    def newer_than_the_last_sealed(keys, resource, *rest):
        raw = yield from read(keys, resource, *rest)
        for thread, pairs in raw.items():
            newest = max([message.at for _, message in pairs], default=0)
            raw[thread] = [pair for pair in pairs if pair[1].at > _CURSORS.get((keys.prefix, resource, thread), 0)]
            _CURSORS[keys.prefix, resource, thread] = newest
        return raw

    patch.setattr(scope_state, "raw_messages", newer_than_the_last_sealed)


def _all_the_same(patch):
    for module in (amend, judging):
        patch.setattr(module, "compare", lambda *_: Said.SAME)


def _fences_are_read_when_it_is_written(patch):
    write = SqlArchive.write

    def now(archive, entries):
        return archive.fences({entry.resource for entry in entries})

    patch.setattr(SqlArchive, "write", lambda archive, entries, _: write(archive, entries, now(archive, entries)))


def _nothing_archived_is_waited_for(patch):
    def nothing(*_, **__):
        return frozenset()
        yield

    patch.setattr(Recalling, "_archived", nothing)


_CURSORS: dict[tuple[str, str, str], int] = {}
GUARDS = (
    Guard("unobserved is what is newer than a cursor: a late message is never observed", _by_cursor),
    Guard(
        "push does not ask what is known: a client repeats a push whose reply was lost, and the message is there twice",
        without("push", "if was then\n        last", "if false then\n        last"),
        seed=1,
    ),
    Guard(
        "push takes any history for one that goes on: what was edited is added",
        without("push", "(group.parted or not continues(group, last))", "false"),
        seed=20,
    ),
    Guard(
        "seal does not say that ids are sealed: its message grows in the place of nobody",
        without("seal", "ids.save(set)", ""),
    ),
    Guard(
        "alias does not ask whether it holds what was read: a message written meanwhile is left where nobody looks",
        without(
            "alias",
            " or redis.call('ZCARD', messages) ~= #raw or (tonumber(counts[2] or '') or 0) ~= #raw then",
            " then",
        ),
        seed=43,
    ),
    Guard(
        "reflect does not ask what is pinned: a line is pinned while a model thinks, and the reflection takes it away",
        without("reflect", "(version[4] or '') ~= pinned or ", ""),
        seed=17,
    ),
    Guard(
        "update_working does not ask which version was read: the second of two Actors takes the first one's field back",
        without("update_working", "if (is[1] or '') ~= version then", "if false then"),
        seed=3,
    ),
    Guard(
        "pin does not ask whether the line still stands: a reflection takes a line away, and then it is pinned",
        without("pin", "version[2] ~= generation or (version[3] or '0') ~= seq or ", ""),
        seed=6,
    ),
    Guard(
        "amend leaves what it puts another in the place of: a message that grew is there in both forms",
        without("amend", "redis.call('ZREM', messages, old)", ""),
        seed=68,
    ),
    Guard(
        "amend does not ask whether a message was sealed meanwhile: what it grew by is kept twice, or not at all",
        without("amend", "(ids.find(set, string.sub(ARGV[slot + 1], 1, 7)) or '') ~= ARGV[slot]", "false"),
        seed=6,
    ),
    Guard("whatever comes under an id is the same: a message that grows loses what it grew by", _all_the_same, seed=2),
    Guard(
        "tidy forgets a day of which a chunk waits: a message that is sealed is accepted anew",
        without("tidy", " and not waits[day]", ""),
        seed=4,
    ),
    Guard(
        "a day is not over for a rest that is raw: a message is accepted anew beside what it grew by",
        lambda patch: patch.setattr(KnownId, "gone_on", KnownId.grown),
        seed=4,
    ),
    Guard(
        "seal moves members beside what nobody counted: counters no longer say what is there",
        without("seal", " or redis.call('ZCARD', messages) ~= count", ""),
        seed=13,
    ),
    Guard(
        "buffer stores over what is ready: a model call that outlived its lock changes a finished observation",
        without("buffer", "now[1] ~= 'sealed'", "not now[1]"),
        seed=5,
    ),
    Guard(
        "split halves a chunk that is ready: a finished observation is thrown away",
        without("split", "is[1] ~= 'sealed' or ", ""),
        seed=16,
    ),
    Guard(
        "activate leaves an earlier chunk of the thread: observations stand in the wrong order",
        without("activate", "not chunk or (chunk.picked and earliest[chunk.thread])", "not chunk"),
        seed=28,
    ),
    Guard(
        "reflect does not ask which generation is in force: of two reflectors the slower one overwrites what the faster one kept",
        without("reflect", "version[2] ~= generation or unread", "unread"),
        seed=90,
    ),
    Guard(
        "restore does not ask which generation is in force: an undo planned before another reflection loses what that holds",
        without("restore", "version[2] ~= generation", "false"),
        seed=8,
    ),
    Guard(
        "adopt does not ask whether a message is sealed: a plain writer's repeated line is observed twice",
        lambda patch: patch.setattr(judging.Judgement, "_sealed", judging.Judgement._raw),
        seed=2,
    ),
    Guard(
        "clear does not ask whether the plan is complete: what was sealed while the clear was planned stays for ever",
        without("clear", "return retention == '1' and 'superseded' or 'refetch'\n  end\n  slot", "end\n  slot"),
    ),
    Guard(
        "erase does not ask whether anything was rejected since it was planned: the quarantine keeps it",
        without(
            "erase",
            "redis.call('LLEN', rejected) ~= tonumber(listed) or (redis.call('LINDEX', rejected, -1) or '') ~= last",
            "false",
        ),
        seed=36,
    ),
    Guard(
        "recall looks once: what was acknowledged of a thread that nobody had met cannot be recalled",
        lambda patch: patch.setattr(listing_, "_TRIES", 1),
    ),
    Guard(
        "erase leaves the index of what it thins: recall looks for messages in places where others stand now",
        without(
            "erase",
            "  drop(each.key, each.gone)\n  redis.call('UNLINK', each.segment)\n",
            "  drop(each.key, each.gone)\n",
        ),
        seed=20,
    ),
    Guard(
        "archive does not ask whether it is as it was read: what was erased while a worker wrote it to the archive is read there",
        without("archive", "as_read and not held and 1 or 0", "not held and 1 or 0"),
        seed=53,
    ),
    Guard(
        "a writer does not ask whether anything was removed meanwhile: what was removed before a write is in the archive",
        _fences_are_read_when_it_is_written,
        seed=165,
    ),
    Guard(
        "bring_back does not ask what is archived now: of two owners the second one brings back what the first one removed",
        without("bring_back", "tonumber(redis.call('ZSCORE', archived, name) or '') == tonumber(mark)", "true"),
        seed=25,
    ),
    Guard(
        "an owner is answered before the archive is rid of it: what was erased is in the archive until somebody tidies",
        lambda patch: patch.setattr(changing, "settle", lambda *_, **__: iter(())),
        seed=29,
    ),
    Guard(
        "recall takes what it did without for what is over: a client never finds what stands in an archive that was away",
        _nothing_archived_is_waited_for,
        seed=35,
    ),
)


def _nobody_waits_for_a_slot(patch):
    sent_on = Line._sent_on
    patch.setattr(
        Line, "_sent_on", lambda line, part: sent_on(line, part) and not isinstance(part.error, TryAgainError)
    )


OF_A_CLUSTER = (
    Guard(
        "ASKING is left out: a node that takes over a slot sends whoever was sent there back",
        lambda patch: patch.setattr(slot_parts, "_ASKING", pack([("PING",)], atomic=False)),
    ),
    Guard(
        "MOVED is not followed: whoever asks goes on asking a node that served the slot before",
        lambda patch: patch.setattr(ClusterClient, "moved", lambda *_: None),
    ),
    Guard("TRYAGAIN is an answer: a call fails because a slot is on its way", _nobody_waits_for_a_slot),
)
