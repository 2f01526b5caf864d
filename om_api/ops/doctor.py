"""`om doctor`'s eyes: reads the store, the broker and the settings, and says what is wrong and what to do about it."""

import socket
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from om_api.billing import budgets, models, prices
from om_api.broker import rabbitmq
from om_api.domain.errors import SettingsError, StoreError
from om_api.domain.extras import installed
from om_api.language.words import amount
from om_api.ops import archive_state, diagnosis, eviction, hook_faults, recent_faults
from om_api.ops.composed_faults import composed_faults, user_faults
from om_api.ops.diagnosis import ERROR, NOTE, OK, WARNING, Finding
from om_api.redaction.making import redactor
from om_api.settings import Settings
from om_api.settings.sections.urls import is_redis_url
from om_api.store.archiving import archivable
from om_api.store.driver.connection import Connection, connected
from om_api.store.fleet import breaker, health, presence, webhook_records
from om_api.store.fleet.backlog import backlog
from om_api.store.fleet.presence import Worker
from om_api.store.memory.keys import Keys, keys_of
from om_api.store.memory.quarantine import UNKNOWN
from om_api.store.reviews import review_index
from om_api.telemetry import opening

_FORBIDDEN = "NOPERM"
_COLLECTOR_S = 2.0  # that a collector is waited for
_PORTS = {"http": 80, "https": 443}
_ARCHIVE_S = 2.0  # that an archive is waited for


class Checkup(NamedTuple):
    """Everything that was found; `reached` is False when the store could not be asked."""

    findings: tuple[Finding, ...]
    reached: bool = True

    @property
    def troubles(self) -> tuple[Finding, ...]:
        """What somebody should act on."""
        return tuple(finding for finding in self.findings if finding.trouble)


def examine(settings: Settings) -> Checkup:
    """Look at everything once; raises nothing for a store that is away: that is what it is there to say."""
    own = [
        *_settings(settings),
        *_models(settings),
        *_prompt_cache(settings),
        *_redaction(settings),
        *_telemetry(settings),
    ]
    own += diagnosis.of_hooks(hook_faults.missing(settings))
    try:
        with connected(settings.redis_url) as connection:
            found = list(_store(settings, connection))
    except StoreError as error:
        where = Settings.safe_url(settings.redis_url)
        return Checkup((_refused("store", f"{where}: {Settings.safe_url(str(error))}"), *own), reached=False)
    return Checkup((*found, *_broker(settings), *eviction.of_broker(settings), *own))


def reach(url: str) -> None:
    """Raise StoreError unless a server answers at an address of Redis or RabbitMQ; other brokers are not asked."""
    if rabbitmq.is_rabbitmq_url(url):
        rabbitmq.waiting(url, ())
    elif is_redis_url(url):
        with connected(url) as connection:
            connection.run(presence.clocks())


def _store(settings: Settings, connection: Connection) -> Iterator[Finding]:
    keys, run = keys_of(settings), connection.run
    now = run(presence.clocks())
    refusal = run(health.probe(keys))
    if refusal:
        yield _refused("store", str(refusal))
    else:
        yield Finding(OK, "store", f"{Settings.safe_url(settings.redis_url)} answers and takes writes")
    servers = run(health.servers())
    yield from diagnosis.of_servers(servers, run(health.unserved()), refuses=bool(refusal))
    yield from diagnosis.of_replicas(servers, _waited(settings))
    workers = run(health.workers(keys))
    yield from diagnosis.of_clocks(now.skew, workers)
    yield from diagnosis.of_agents_clocks(run(recent_faults.of_clocks(keys)))
    yield from diagnosis.of_workers(workers, installed(), health.QUEUES, refuses=bool(refusal))
    if not settings.broken_base:
        yield from diagnosis.of_settings(workers, settings.fingerprint)
    yield from diagnosis.of_ticks(run(health.ticks(keys)), now.server, alive=bool(workers))
    yield from diagnosis.of_crashes(run(recent_faults.of_workers(keys)), now.server)
    yield from _pace(settings, keys, connection, workers)
    yield from diagnosis.of_breakers(run(breaker.states(keys, models.with_breaker(settings))))
    yield from _waiting(keys, connection, now.server)
    state = archive_state.look(settings, lambda: run(archivable.backlog(keys)), timeout_s=_ARCHIVE_S)
    begun = archivable.is_begun(keys)
    yield from diagnosis.of_archive(state, settings.memory.storage.meaning, now.server, is_begun=run(begun))
    standings = run(health.standings(keys))
    configured = {each.resource: settings.for_agent(each.resource).scope for each in standings.conditions}
    yield from diagnosis.of_resources(standings, configured)
    agents = [name for name in configured if name != UNKNOWN]
    yield from diagnosis.of_composed(run(composed_faults(settings, keys, agents)), run(user_faults(settings, keys)))
    yield from diagnosis.of_budgets(
        run(budgets.used_up(settings, keys, agents, now.server)), prices.unenforceable(settings)
    )


def _waiting(keys: Keys, connection: Connection, now: int) -> Iterator[Finding]:
    """What waits for others, and what of theirs failed: receivers of deliveries, hooks, models, reviewers of reflections."""
    webhooks = connection.run(webhook_records.every(keys))
    yield from diagnosis.of_webhooks(connection.run(webhook_records.states(keys, webhooks)), now)
    yield from diagnosis.of_hooks(connection.run(hook_faults.failed(keys)))
    yield from diagnosis.of_model_faults(connection.run(recent_faults.of_models(keys)))
    yield from diagnosis.of_reviews(connection.run(review_index.waiting(keys)), now)


def _pace(settings: Settings, keys: Keys, connection: Connection, workers: Sequence[Worker]) -> Iterator[Finding]:
    """Whether what is due is taken up in time, and else how many workers would do."""
    run = connection.run
    ticks, lasting, waiting = run(health.ticks(keys)), run(presence.lasting(keys)), run(health.waiting(keys))
    intervals = {"observe": settings.memory.observer_interval, "reflect": settings.memory.reflector_interval}
    yield from diagnosis.of_lag(waiting, intervals)
    for tick, queue in (("observer", "observe"), ("reflector", "reflect")):
        yield from diagnosis.of_backlog(queue, backlog(queue, ticks[tick], workers, lasting), intervals[queue])


def _waited(settings: Settings) -> int:
    """How many replicas a push of any agent waits for, at most."""
    every = (settings.memory, *map(settings.for_agent, settings.agents()))
    return max(each.durability.wait_replicas for each in every)


def _refused(about: str, text: str) -> Finding:
    """A refusal of the store's: its last sentence says what to do."""
    says, _, do = text.rstrip(". ").rpartition(". ")
    return Finding(ERROR, about, says or do, do if says else "see docs/operations.md")


def _broker(settings: Settings) -> Iterator[Finding]:
    try:
        url = settings.broker_url
    except SettingsError as error:
        yield Finding(ERROR, "broker", "none", str(error))
        return
    is_rabbitmq = rabbitmq.is_rabbitmq_url(url)
    if not is_redis_url(url) and not is_rabbitmq:
        says = "cannot tell how many tasks wait: it is neither Redis nor RabbitMQ"
        yield Finding(NOTE, "broker", says, "look at its own tools, or Flower")
        return
    try:
        yield from diagnosis.of_queues(rabbitmq.waiting(url, health.QUEUES) if is_rabbitmq else _lengths(url))
    except (StoreError, SettingsError) as error:
        if _FORBIDDEN in str(error):
            yield Finding(NOTE, "broker", "cannot tell how many tasks wait: this user may not look", "ask Flower")
        else:
            yield _refused("broker", f"{Settings.safe_url(url)}: {error}".replace("OM_REDIS_URL", "OM_BROKER_URL"))


def _lengths(url: str) -> dict[str, int]:
    with connected(url) as connection:
        return connection.run(health.queues())


def _settings(settings: Settings) -> Iterator[Finding]:
    for problem in settings.problems:
        do = "correct it (om config check); processes that run keep what a broken file said before"
        yield Finding(WARNING, "settings", f"{problem.file}: {problem.text}", do)
    for hidden in settings.loaded.hidden():
        yield Finding(NOTE, "settings", str(hidden), f"om config set {hidden.agent} with each that should apply")
    if not settings.problems:
        yield Finding(OK, "settings", f"in force, {amount(len(settings.agents()), 'override')}")


def _redaction(settings: Settings) -> Iterator[Finding]:
    """Whether whoever is redacted can be, here: by packages and keys; no key is shown."""
    named = {"": settings.memory, **{name: settings.for_agent(name) for name in settings.agents()}}
    on = {name: each.redaction for name, each in named.items() if each.redaction.is_on}
    for name, own in on.items():
        try:
            redactor(own, name)
        except SettingsError as error:
            whose = name or "all agents"
            yield Finding(ERROR, "redaction", f"{whose}: nothing is stored, or sent to a model", str(error))


def _telemetry(settings: Settings) -> Iterator[Finding]:
    """Whether a collector can be reached, where spans or figures go to one."""
    for whereto in {opening.endpoint(settings, "traces"), opening.endpoint(settings, "metrics")} - {None}:
        at = urlsplit(whereto or "")
        try:
            socket.create_connection((at.hostname or "", at.port or _PORTS[at.scheme]), _COLLECTOR_S).close()
        except (OSError, KeyError, ValueError) as error:
            says = f"{Settings.safe_url(whereto or '')} cannot be reached: {type(error).__name__}"
            do = "start the collector, or correct telemetry.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT; work goes on without it"
            yield Finding(WARNING, "telemetry", says, do)


def _prompt_cache(settings: Settings) -> Iterator[Finding]:
    """When what is ready waits no longer for the prompt cache of the agents' model, where it does."""
    if settings.memory.prompt_cache.timing != "threshold" and (lifetime := settings.memory.cache.lifetime_ms):
        whose = settings.memory.actor_model or "the agents"
        says = f"that of {whose} is cold {amount(lifetime // 1000, 'second')} after its last use"
        yield Finding(OK, "prompt cache", f"{says}; om stats AGENT says when")


def _models(settings: Settings) -> Iterator[Finding]:
    names = models.in_use(settings)
    lacking = {name: variable for name in names if (variable := models.missing_key(settings, name))}
    for name, variable in lacking.items():
        do = f"set {variable} where the workers run, or choose another model (the workers say model_not_available)"
        yield Finding(NOTE, "models", f"{name} cannot be used from here: {variable} is not set", do)
    if not lacking:
        yield Finding(OK, "models", ", ".join(names))
    for role, name in models.by_role(settings):
        model = settings.models.get(name)
        if reason := models.why_not(role, (name, model.model if model else "")):
            do = f"name another {role}_model (docs/which-models.md says which)"
            yield Finding(WARNING, "models", f"{name} as {role.capitalize()}: {reason}", do)
