"""What `om queues` shows: what waits in the broker and in the due indexes, and who works it off."""

import msgspec

from om_api.broker import rabbitmq
from om_api.domain.errors import SettingsError, StoreError
from om_api.settings import Settings
from om_api.settings.sections.urls import is_redis_url
from om_api.store.driver.connection import connected
from om_api.store.fleet import health, presence
from om_api.store.fleet.presence import Ticked, Worker
from om_api.store.memory.keys import keys_of


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue: tasks that wait in it (None: the broker cannot be asked), and how many living workers serve it."""

    name: str
    tasks: int | None
    workers: int


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """A due index: scopes due by now, for how long (s) the first of them has been, and scopes that wait for their time.

    Those on lease and those that wait to be idle are among the latter.
    """

    name: str
    due: int
    oldest: float
    waiting: int


class Tick(msgspec.Struct, frozen=True, kw_only=True):
    """A tick: how many seconds ago it ran (None: not for a day), and how often it should (s)."""

    name: str
    ago: float | None
    interval: float | None


class Queues(msgspec.Struct, frozen=True, kw_only=True):
    """Everything at once. `unacked`: tasks that workers hold and have not begun; `problem`: why the broker cannot be asked."""

    queues: list[Queue]
    unacked: int | None
    due: list[Index]
    ticks: list[Tick]
    workers: list[Worker]
    problem: str = ""


def look(settings: Settings) -> Queues:
    """Look once; raises StoreError when the store is away. A broker that cannot be asked is a `problem`."""
    keys = keys_of(settings)
    with connected(settings.redis_url) as connection:
        run = connection.run
        now, workers = run(presence.clocks()).server, run(health.workers(keys))
        indexes, ticks = run(health.waiting(keys)), run(health.ticks(keys))
    tasks, unacked, problem = _broker(settings)
    return Queues(
        queues=[
            Queue(name=name, tasks=tasks.get(name), workers=sum(name in worker.queues for worker in workers))
            for name in health.QUEUES
        ],
        unacked=unacked,
        due=[Index(name=w.what, due=w.due, oldest=w.longest / 1000, waiting=w.scopes - w.due) for w in indexes],
        ticks=[_as_tick(name, ticked, now) for name, ticked in ticks.items()],
        workers=workers,
        problem=problem,
    )


def _as_tick(name: str, ticked: Ticked | None, now: int) -> Tick:
    if ticked is None:
        return Tick(name=name, ago=None, interval=None)
    return Tick(name=name, ago=max(0, now - ticked.at) / 1000, interval=ticked.interval)


def _broker(settings: Settings) -> tuple[dict[str, int], int | None, str]:
    """Tasks by queue, those that are unacknowledged, and why that is not known."""
    try:
        url = settings.broker_url
        if rabbitmq.is_rabbitmq_url(url):
            return rabbitmq.waiting(url, health.QUEUES), None, ""
        if not is_redis_url(url):
            return {}, None, "the broker is neither Redis nor RabbitMQ: ask its own tools, or Flower"
        with connected(url) as connection:
            return connection.run(health.queues()), connection.run(health.unacked()), ""
    except (StoreError, SettingsError) as error:
        return {}, None, f"the broker cannot be asked: {error}".replace("OM_REDIS_URL", "OM_BROKER_URL")
