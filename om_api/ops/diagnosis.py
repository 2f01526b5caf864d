"""What readings mean: each check turns numbers into findings, one line each, with the remedy. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from om_api.billing.budgets import UsedUp
from om_api.domain.events import Event
from om_api.language.words import amount
from om_api.ops.archive_state import ArchiveState
from om_api.ops.composed_faults import ComposedFault
from om_api.ops.hook_faults import HookFault
from om_api.ops.recent_faults import ModelFault
from om_api.store.fleet.backlog import FleetBacklog
from om_api.store.fleet.breaker import BreakerState
from om_api.store.fleet.health import ServerInfo, Standings, Waiting
from om_api.store.fleet.presence import LAYOUT, Ticked, Worker
from om_api.store.fleet.webhook_records import WebhookState
from om_api.store.reviews.drafts import WaitingReview

OK, NOTE, WARNING, ERROR = "ok", "note", "warning", "error"
SKEW_MS = 2_000
_OLDEST = 7
_NEAR = 0.9
_FULL = "out of memory: "
_MISSED, _GRACE_MS = 3, 5_000  # ticks that may be missing before it is said
_NAMED = 5
_UNKNOWN = "grant this user INFO (and CONFIG GET), or ask whoever runs the server"
_FSYNC = {
    "always": (OK, "every acknowledged message survives a crash"),
    "everysec": (OK, "a crash of the server may take the last second or two"),
    "no": (WARNING, "a crash of the server's machine may take the last half minute"),
}
_FAILED = {
    "aof_last_bgrewrite_status": "the last rewrite of the append-only file failed: it grows until one succeeds",
    "rdb_last_bgsave_status": "the last snapshot failed: the server may refuse writes until one succeeds",
}


class Finding(NamedTuple):
    """One thing that was looked at: `ok`, a `note`, or trouble (`warning`, `error`) with what to do about it."""

    level: str
    about: str
    says: str
    do: str = ""

    @property
    def trouble(self) -> bool:
        """Whether somebody should act."""
        return self.level in {WARNING, ERROR}


def of_servers(servers: Sequence[ServerInfo], unserved: int, *, refuses: bool = False) -> Iterator[Finding]:
    """Problems of each server, on a Cluster with its address, and one line for all that is in order.

    `refuses`: the store refused a write, which is reported already.
    """
    if len(servers) == 1 and not servers[0].node.address:
        yield from of_server(servers[0].info, servers[0].fsync, refuses=refuses)
        return
    primaries = [told for told in servers if told.node.primary]
    for told in primaries:
        named = (each._replace(says=f"{told.node.address}: {each.says}") for each in of_server(told.info, told.fsync))
        yield from (each for each in named if each.level != OK)
    yield from _without_replica(primaries)
    if unserved:
        do = "bring back its nodes, or give the slots to others (redis-cli --cluster check)"
        yield Finding(ERROR, "cluster", f"{amount(unserved, 'slot')} served by no node: their memories are away", do)
    else:
        others = amount(len(servers) - len(primaries), "replica")
        yield Finding(OK, "cluster", f"{amount(len(primaries), 'node')} and {others} serve every slot")


def _without_replica(primaries: Iterable[ServerInfo]) -> Iterator[Finding]:
    for told in primaries:
        if told.info is not None and told.info.get("connected_slaves") == "0":
            says = f"{told.node.address} has no replica: while it is away, so are its memories"
            yield Finding(WARNING, "cluster", says, "add one (redis-cli --cluster add-node --cluster-replica)")


def of_server(told: Mapping[str, str] | None, fsync: str | None, *, refuses: bool = False) -> Iterator[Finding]:
    """Version, role, memory, eviction and files, where INFO and CONFIG are permitted; `refuses` as in `of_servers`."""
    if told is None:
        yield Finding(NOTE, "server", "cannot tell its version, memory and append-only file", _UNKNOWN)
        return
    yield _version(told)
    if told.get("role") == "slave" and not refuses:
        yield Finding(ERROR, "server", "it is a replica", "point OM_REDIS_URL at the primary")
    memory = _memory(told)
    if refuses and memory.level == ERROR:
        memory = memory._replace(level=NOTE, says=memory.says.removeprefix(_FULL))
    yield memory
    yield eviction(told)
    yield from _files(told, fsync)


def of_replicas(servers: Iterable[ServerInfo], waited: int) -> Iterator[Finding]:
    """Which primaries have fewer replicas than pushes wait for at most."""
    for told in servers:
        has = (told.info or {}).get("connected_slaves", "")
        if told.node.primary and has.isdecimal() and int(has) < waited:
            whose = f"{told.node.address or 'the server'} has {has}: pushes end in NotReplicatedError"
            says = f"pushes wait for {amount(waited, 'replica')}, and {whose}"
            yield Finding(ERROR, "durability", says, "connect replicas, or set durability.wait_replicas lower")


def _version(told: Mapping[str, str]) -> Finding:
    name = f"Valkey {told['valkey_version']}" if "valkey_version" in told else f"Redis {told.get('redis_version', '')}"
    major = told.get("redis_version", "").partition(".")[0]
    if not major.isdecimal():
        return Finding(NOTE, "server", "cannot tell its version", "see that it is Redis 7.0 or newer, or Valkey")
    if int(major) < _OLDEST:
        return Finding(ERROR, "server", f"{name} is too old", "use Redis 7.0 or newer, or Valkey")
    return Finding(OK, "server", name)


def _memory(told: Mapping[str, str]) -> Finding:
    used, most = told.get("used_memory", ""), told.get("maxmemory", "")
    if not used.isdecimal() or not most.isdecimal():
        return Finding(NOTE, "memory", "cannot tell how full it is", _UNKNOWN)
    if not int(most):
        return Finding(OK, "memory", f"{_mb(used)} used, no maxmemory")
    says = f"{_mb(used)} of {_mb(most)} used"
    share = int(used) / int(most)
    if share < _NEAR:
        return Finding(OK, "memory", says)
    level, what = (ERROR, _FULL) if share >= 1 else (WARNING, f"nearly {_FULL}")
    return Finding(level, "memory", f"{what}{says}", "raise maxmemory, or clear idle memories")


def _mb(number: str) -> str:
    return f"{int(number) / 1_048_576:,.1f} MB"


def eviction(told: Mapping[str, str]) -> Finding:
    """What a full server does with memories, from its INFO."""
    policy = told.get("maxmemory_policy")
    if policy is None:
        return Finding(NOTE, "eviction", "cannot tell the policy", _UNKNOWN)
    if policy != "noeviction":
        says = f"{policy}: a full server drops keys silently"
        return Finding(ERROR, "eviction", says, "set maxmemory-policy noeviction")
    return Finding(OK, "eviction", policy)


def _files(told: Mapping[str, str], fsync: str | None) -> Iterator[Finding]:
    """The append-only file and the snapshots: whether acknowledged writes reach the disk."""
    yield _disk(told, fsync)
    for field, says in _FAILED.items():
        if told.get(field, "ok") != "ok":
            yield Finding(WARNING, "disk", says, "free disk space, and read the server's log")


def _disk(told: Mapping[str, str], fsync: str | None) -> Finding:
    if (on := told.get("aof_enabled")) is None:
        return Finding(NOTE, "disk", "cannot tell whether there is an append-only file", _UNKNOWN)
    if on == "0":
        says = "no append-only file: a restart loses what came after the last snapshot"
        return Finding(WARNING, "disk", says, "set appendonly yes")
    if told.get("aof_last_write_status", "ok") != "ok":
        says = "writing the append-only file failed: the last acknowledged writes are in memory only until it succeeds"
        return Finding(ERROR, "disk", says, "free disk space, and do not stop the server while this is reported")
    if fsync not in _FSYNC:
        return Finding(NOTE, "disk", "an append-only file; cannot tell appendfsync", _UNKNOWN)
    level, means = _FSYNC[fsync]
    do = "set appendfsync everysec, or always" if level != OK else ""
    return Finding(level, "disk", f"an append-only file, appendfsync {fsync}: {means}", do)


def of_clocks(mine: int, workers: Sequence[Worker]) -> Iterator[Finding]:
    """Clocks that differ from the server's by two seconds or more; `mine` is this machine's minus the server's, in ms."""
    clocks = [("this machine", mine), *((f"worker {worker.name}", worker.skew_ms) for worker in workers)]
    wrong = [(who, skew) for who, skew in clocks if abs(skew) >= SKEW_MS]
    for who, skew in wrong:
        says = f"{who} is {_span(abs(skew))} {'ahead of' if skew > 0 else 'behind'} the server"
        yield Finding(
            WARNING, "clocks", says, "have NTP set it: messages without a timestamp are dated and ordered by it"
        )
    if not wrong:
        yield Finding(OK, "clocks", f"server, this machine and {amount(len(workers), 'worker')} agree")


def of_agents_clocks(ahead: Mapping[str, float]) -> Iterator[Finding]:
    """Agents with messages that were recently dated ahead of the server's clock, each with its largest lead in seconds."""
    if ahead:
        says = f"{_some(ahead)}: messages dated up to {_span(1000 * max(ahead.values()))} ahead of the server"
        do = "set the clock of their writers, or write times with an offset; until then the order of arrival counts"
        yield Finding(WARNING, "clocks", says, do)


def of_workers(
    workers: Sequence[Worker], version: str, queues: Iterable[str], *, refuses: bool = False
) -> Iterator[Finding]:
    """Whether workers live, and serve each of the `queues`: for one that none serves nothing is handed out.

    `refuses`: the store refuses writes, and with them the workers' signs of life.
    """
    if not workers and refuses:
        says = "unknown which are alive: the store refuses their heartbeats"
        yield Finding(NOTE, "workers", says, "see the line `store`")
        return
    if not workers:
        do = "start one (om up, or celery -A om_workers.app worker) with this OM_REDIS_URL and OM_PREFIX"
        yield Finding(ERROR, "workers", "no worker is alive", do)
        return
    yield Finding(OK, "workers", f"{len(workers)} alive: {_some(worker.name for worker in workers)}")
    if foreign := [worker for worker in workers if worker.layout != LAYOUT]:
        says = f"{_some(worker.name for worker in foreign)}: of a version that writes memories in another layout"
        yield Finding(ERROR, "workers", says, "stop them: workers of two layouts damage each other's memories")
    others = sorted({worker.version for worker in workers} - {version})
    if others:
        yield Finding(NOTE, "workers", f"of version {', '.join(others)}; this is {version}", "upgrade what is older")
    if all(worker.queues for worker in workers):  # one of an earlier version does not say which it serves
        served = {name for worker in workers for name in worker.queues}
        for name in queues:
            if name not in served:
                do = f"start one that does: celery -A om_workers.app worker -Q {name}, or one without -Q"
                yield Finding(WARNING, "workers", f"none of them serves the queue {name}", do)


def of_settings(workers: Sequence[Worker], fingerprint: str) -> Iterator[Finding]:
    """Workers that go by other settings than this command line, whose fingerprint it is."""
    others = [worker.name for worker in workers if worker.settings not in {"", fingerprint}]
    if others:
        says = f"{_some(others)}: other settings are in force there than om sees here"
        yield Finding(WARNING, "settings", says, _SAME_SETTINGS)


_SAME_SETTINGS = (
    "if a file was changed just now, wait half a minute; else give them and om the same files and OM_ variables (om config show "
    "says what is seen here, and why), and restart those whose variables were others, or whose base file was taken away"
)


def of_ticks(ticks: Mapping[str, Ticked | None], now: int, *, alive: bool) -> Iterator[Finding]:
    """Whether beats send and workers get what they send; `now` is server ms."""
    if not alive:
        return
    late = {name: tick for name, tick in ticks.items() if tick and now - tick.at > patience_ms(tick.interval)}
    for name, tick in late.items():
        says = f"the {name} tick, due every {tick.interval:g} s, ran {_span(now - tick.at)} ago"
        yield Finding(ERROR, "ticks", says, _BEAT)
    if ticks.get("observer") is None:
        says = "no observer tick is on record (a record is kept for a day)"
        yield Finding(ERROR, "ticks", says, f"wait for an observer_interval if this has just begun; else {_BEAT}")
        return
    ran = [f"{name} {_span(now - tick.at)} ago" for name, tick in ticks.items() if tick and name not in late]
    never = [name for name, tick in ticks.items() if tick is None]
    if never:
        says = f"not run yet: {', '.join(never)}"
        yield Finding(NOTE, "ticks", says, "wait: the first comes an interval after a beat starts")
    if ran:
        yield Finding(OK, "ticks", ", ".join(ran))


_BEAT = (
    "see that a beat runs (celery -A om_workers.app beat), that it has the workers' OM_BROKER_URL, and that a worker "
    "serves the queues ticks and maintenance"
)


def patience_ms(interval: float) -> float:
    """How long (ms) something that comes every `interval` s may be away before it is said."""
    return _MISSED * interval * 1000 + _GRACE_MS


def of_lag(waiting: Iterable[Waiting], intervals: Mapping[str, float]) -> Iterator[Finding]:
    """How long what is due has waited to be taken up."""
    for each in waiting:
        if each.longest > patience_ms(intervals[each.what]):
            says = f"{_are_due(each)}, {'it' if each.due == 1 else 'the first of them'} for {_span(each.longest)}"
            do = f"see that a worker serves the queue {each.what} (om queues); else add workers, or raise their -c; "
            yield Finding(WARNING, "lag", says, f"{do}see their log for failed ticks")
        else:
            yield Finding(OK, "lag", _are_due(each))


def of_backlog(queue: str, behind: FleetBacklog | None, interval: float) -> Iterator[Finding]:
    """Whether the fleet falls behind, by how much, and how many workers would do."""
    if behind is None or behind.seconds < _MISSED * interval:
        return
    waits = amount(behind.due, "scope waits", "scopes wait")
    says = f"{waits} to {queue} and no worker has room, for {_span(behind.seconds * 1000)}"
    if behind.grows < 0:
        left = _span(-1000 * behind.due / behind.grows)
        yield Finding(NOTE, "backlog", f"{says}; as it goes, it is worked off in {left}", "wait, or add workers")
        return
    more = f"add {amount(max(1, behind.more), 'worker')} of {behind.tasks} tasks to keep up"
    do = f"{more}, {max(1, behind.soon):,} to be done in 10 min"
    yield Finding(WARNING, "backlog", f"{says}; it grows by {behind.grows * 60:,.0f} a minute", do)


def _are_due(waiting: Waiting) -> str:
    return f"{amount(waiting.due, 'scope is', 'scopes are')} due to {waiting.what}"


def of_queues(queues: Mapping[str, int]) -> Iterator[Finding]:
    """How many tasks wait in the broker; never many, so that a backlog is looked for in the due index (`of_lag`)."""
    yield Finding(OK, "broker", amount(sum(queues.values()), "task waits", "tasks wait"))


def of_resources(found: Standings, configured: Mapping[str, str]) -> Iterator[Finding]:
    """Quarantine, pauses, and memories whose scope is another than the configured one, of those that were looked at."""
    standings = found.conditions
    broken = [each.resource for each in standings if each.broken]
    if broken:
        says = f"{_some(broken)}: keys hold what is not ours, all else was looked at"
        yield Finding(WARNING, "broken", says, "om verify names the keys: remove them, and find who writes them")
    rejected = [each for each in standings if each.rejected]
    if rejected:
        entries = amount(sum(each.rejected for each in rejected), "entry", "entries")
        says = f"{entries} of {_some(each.resource for each in rejected)}"
        yield Finding(WARNING, "quarantine", says, f"read the reasons: om rejected list {rejected[0].resource}")
    for to in sorted(set(configured.values())):
        moved = [each.resource for each in standings if each.scope and configured[each.resource] == to != each.scope]
        if moved:
            says = f"{_some(moved)}: another one is in force than the configured {to}, until it is moved"
            yield Finding(WARNING, "scope", says, f"om migrate-scope {moved[0]} --to {to}, or configure the other one")
    paused = [each.resource for each in standings if each.paused]
    if paused:
        yield Finding(NOTE, "paused", _some(paused), f"om resume {paused[0]} lets it go on")
    looked = len([each for each in standings if each.resource != "unknown"])
    some = [f"looked at were the {looked:,} that workers looked at last"] if looked < found.known else []
    if some or not rejected:
        says = ", ".join([f"{found.known:,} known", *some, *([] if rejected else ["nothing in quarantine"])])
        yield Finding(OK, "resources", says)


def of_composed(faults: Iterable[ComposedFault], of_users: Iterable[ComposedFault] | None = ()) -> Iterator[Finding]:
    """Memories that settings compose and that are left out, or hold nothing, and rights that no link needs.

    `of_users` is None where users of Redis cannot be listed.
    """
    if of_users is None:
        says = "the rights of Redis users were not checked: this user may not list them"
        yield Finding(NOTE, "compose", says, "run om doctor as the administrator of Redis")
    for fault in (*faults, *(of_users or ())):
        says = f"{_some(fault.agents)} {fault.link} {fault.composed}, which {fault.why}"
        yield Finding(WARNING if fault.left_out else NOTE, "compose", says, fault.do)


def of_hooks(faults: Iterable[HookFault]) -> Iterator[Finding]:
    """Hooks that are not here, which may be right where they run elsewhere, and those that failed of late."""
    for fault in faults:
        whose = _some(name or "all agents" for name in fault.agents)
        if fault.why:
            do = f"mend it, or take it out of hooks.{fault.point}: docs/hooks.md; om hooks try shows what it answers"
            yield Finding(WARNING, "hooks", f"{fault.hook} ({fault.point} of {whose}) failed: {fault.why}", do)
        else:
            do = (
                "install its package, or set its secret, where the workers run; before_context: where contexts are read"
            )
            yield Finding(NOTE, "hooks", f"{fault.hook} ({fault.point} of {whose}) cannot be asked from here", do)


def of_crashes(crashes: Iterable[Event], now: int) -> Iterator[Finding]:
    """Chunks and other tasks at which worker processes froze within a day."""
    for each in crashes:
        if each.chunk:
            what = f"chunk {each.chunk} of {each.resource} (thread {each.thread})"
            says = (
                f"a worker froze on {what} {_span(now - each.at)} ago: {amount(each.crashes or 1, 'attempt')} crashed"
            )
            do = f"{_AFTER_CRASHES}: om rejected list {each.resource}; {_STACKS}"
        else:
            what = f"at {each.task}" if each.task else "outside of any task"
            says = f"a worker froze {what}{f' of {each.resource}' if each.resource else ''} {_span(now - each.at)} ago"
            do = _STACKS
        yield Finding(WARNING, "crashes", says, do)


_AFTER_CRASHES = "after two, a chunk is observed in halves, and a single message goes to the quarantine"
_STACKS = "the worker's log shows where it was (worker_frozen, and the stacks after it); report that as a defect"


def of_model_faults(faults: Iterable[ModelFault]) -> Iterator[Finding]:
    """Models with unusable answers, and scopes with failing reflections."""
    for fault in faults:
        role, times = _ROLES[fault.task], f"{amount(fault.times, 'time')} within two hours"
        if fault.model:
            quote = f': "{fault.quote}"' if fault.quote else ""
            says = f"{fault.scope}: {fault.model} as {role.capitalize()} {_UNUSABLE[fault.why]}, {times}{quote}"
            do = f"name another {role}_model, or try {_PROMPTS[role]}: condensed; docs/models.md describes both"
        else:
            says = f"{fault.scope}: its reflections fail ({fault.why}), {times}; its observations stay as they are"
            do = "read the reason in the workers' log (reflected, outcome failed), then see docs/troubleshooting.md"
        yield Finding(WARNING, "models", says, do)


def of_reviews(waiting: Sequence[WaitingReview], now: int) -> Iterator[Finding]:
    """Reflections that wait for somebody's review, and those that should count by now; nothing where none waits."""
    late = [each for each in waiting if now - each.expires_at > _LATE_MS]
    if late:
        says = f"{_some(each.resource for each in late)}: the review of a reflection ended, and it does not count yet"
        do = f"see that {late[0].resource} is not paused and that workers reflect, or om review {late[0].resource}"
        yield Finding(WARNING, "reviews", says, do)
    if len(waiting) > len(late):
        longest = _span(now - min(each.asked_at for each in waiting))
        says = f"{amount(len(waiting), 'reflection waits', 'reflections wait')} for a review, the first for {longest}"
        yield Finding(NOTE, "reviews", says, "om review lists them")


def of_budgets(found: Iterable[UsedUp], unpriced: Sequence[str]) -> Iterator[Finding]:
    """Budgets that are used up today, and models that no budget in dollars can bound."""
    for agents, budget in found:
        goes_on = "the extractive model stands in" if budget.then == "extractive" else "no model is asked"
        says = f"budget reached: {budget.setting} {budget.limit:,} of {_some(agents)}; {goes_on} until the next UTC day"
        yield Finding(WARNING, "budget", says, f"raise {budget.setting}, or let it be: om costs shows what was used")
    for name in unpriced:
        says = f"nobody knows what {name} costs: a budget in dollars does not bound it"
        yield Finding(WARNING, "budget", says, f"state models.{name}.prices, or bound its calls or tokens")


def of_breakers(states: Mapping[str, BreakerState]) -> Iterator[Finding]:
    """Models that are not asked, or less than they might be: an open breaker is trouble, what a provider asks for is not."""
    for name, state in states.items():
        if state.word == "open":
            how = f"for {_span(1000 * state.wait)} more" if state.wait else "until one call shows that it answers again"
            says = f"{name} is passed over {how}: it failed {state.failures:,} times in a row"
            yield Finding(WARNING, "models", says, _BREAKER)
        elif state.word == "partial":
            alone = f"for {state.agent or 'test calls'} alone, for {_span(1000 * state.wait)} more"
            says = f"{name} is passed over {alone}: it failed again and again, or refused every call (429)"
            yield Finding(WARNING, "models", says, _BREAKER_OF_ONE)
        elif state.word == "busy":
            says = f"{name} is passed over for {_span(1000 * state.wait)} more: its provider asked for a pause (429)"
            yield Finding(NOTE, "models", says, _LIMITS)
        elif state.word == "held":
            at_once = f"at most {state.room:,} times at once"
            if not state.room:
                at_once = f"fewer times at once for {state.agent or 'test calls'} alone"
            says = f"{name} is asked {at_once}: its provider refused calls lately (429)"
            yield Finding(NOTE, "models", says, _LIMITS)


def of_webhooks(states: Sequence[WebhookState], now: int) -> Iterator[Finding]:
    """Webhooks that nothing reaches (any more), and what could not be sent; nothing where there are none. `now` in Unix ms."""
    late = [each for each in states if each.oldest and not each.disabled and now - each.oldest > _LATE_MS]
    for each in late:
        wait, minutes = amount(each.waiting, "delivery waits", "deliveries wait"), (now - each.oldest) // 60_000
        says = f"{each.id}: {wait}, the oldest for {minutes:,} min"
        do = "look why in the workers' log (delivery_failed), and mend the receiver: they are tried again for a day"
        yield Finding(WARNING, "webhooks", says, do)
    for each in states:
        if each.disabled:
            says = f"{each.id} is disabled: {each.disabled}"
            do = f"om webhooks remove {each.id}, or mend its receiver and om webhooks enable {each.id}"
            yield Finding(WARNING, "webhooks", says, do)
        if each.dead:
            says = f"{amount(each.dead, 'delivery', 'deliveries')} of {each.id} could not be made"
            do = f"om webhooks dead {each.id} says why; om webhooks retry {each.id} sends them once more"
            yield Finding(WARNING, "webhooks", says, do)
    if states and not late and not any(each.disabled or each.dead for each in states):
        waiting = sum(each.waiting for each in states)
        yield Finding(OK, "webhooks", f"{len(states):,}, {amount(waiting, 'delivery waits', 'deliveries wait')}")


def of_archive(state: ArchiveState | None, meaning: str, now: int, *, is_begun: bool = False) -> Iterator[Finding]:
    """Whether the past gets to the archive and can be read there; nothing where there is none. `now` in server ms.

    `meaning` is what the configured backend means, if it is another than Redis. `is_begun`: whether workers have used an archive.
    """
    if meaning:
        yield Finding(NOTE, "storage", meaning, "om archive status says how the archive is")
    if state is None:
        if is_begun:
            yield Finding(ERROR, "archive", "a part of the past was archived, and here is no archive named", _UNTOLD)
        return
    fault, backlog = state.backlog.fault, state.backlog
    if fault:
        says = f"nothing was archived for {_span(now - fault.since)} ({_waiting(state)}): {fault.why}"
        yield Finding(ERROR, "archive", says, _ARCHIVE)
    elif backlog.behind_ms > _LATE_MS:
        says = f"{_waiting(state)}, the first for {_span(backlog.behind_ms)}: it stays in Redis meanwhile"
        yield Finding(
            WARNING, "archive", says, "see that a worker serves the queue maintenance (om queues), and their log"
        )
    if state.refusal:
        yield Finding(ERROR, "archive", f"{state.where} cannot be read from here: {state.refusal}", _ARCHIVE)
    elif not fault and backlog.behind_ms <= _LATE_MS:
        yield Finding(OK, "archive", f"{state.where}: {state.told}; {_waiting(state)}")


def _waiting(state: ArchiveState) -> str:
    return amount(state.backlog.due, "resource is due to be looked at", "resources are due to be looked at")


_UNTOLD = "set archive.url (OM_ARCHIVE__URL) to the address that the workers have, for every process"
_ARCHIVE = (
    "mend that; nothing is lost: Redis keeps what is not archived, workers go on by themselves, and until then answers about the "
    "past are partial"
)
_LATE_MS = 600_000  # a delivery that waits longer than this failed several times
_ROLES = {"observe": "observer", "reflect": "reflector", "try": "observer"}
_PROMPTS = {"observer": "observer.prompt", "reflector": "reflection.prompt"}
_UNUSABLE = {
    "echo": "repeats its instructions",
    "refusal": "declines",
    "empty": "notes nothing of what users state",
    "loop": "is caught in a loop",
    "unreadable": "answers without notes",
    "loss": "loses more than reflection.max_loss permits",
}
_LIMITS = "if that does not end, give it limits below the provider's, or raise those"
_BREAKER_OF_ONE = (
    "read why in the workers' log (outcome failed), and look at this agent's instruction, prompt and timeouts; where it is the "
    "only one that asks, mend key, address or network"
)
_BREAKER = (
    "read why in the workers' log (outcome failed); mend key, address or network: it is asked again by itself; another model "
    "in its list answers meanwhile"
)


def _some(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _NAMED:,} more" if len(every) > _NAMED else ""
    return ", ".join(every[:_NAMED]) + more


def _span(ms: float) -> str:
    seconds = ms / 1000
    for name, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 1.9 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.1f} s"
