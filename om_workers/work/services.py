"""What every unit of work is handed: settings, the store, a heartbeat, models, and ways to pass work on."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from om_api.client.redacting import Redacting
from om_api.domain.values import Scope
from om_api.settings import MemorySettings, Settings, recorded_settings
from om_api.settings.recorded_settings import RecordedSettings
from om_api.store.driver.connection import Connection
from om_api.store.driver.steps import Askable
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock
from om_workers.calls.model_calls import ModelCalls
from om_workers.calls.redacted_requests import RedactedRequests
from om_workers.calls.registry import Registry
from om_workers.process.event_publisher import EventPublisher
from om_workers.process.heartbeat import Heartbeat
from om_workers.process.presence import Presence
from om_workers.process.stopping import Stopping

T = TypeVar("T")


class TaskQueues(Protocol):
    """Pass work on by ids; nothing that a message says travels with it."""

    def observe(self, scope: str, lease: str) -> None:
        """Have a scope looked at; `lease` is the claim it was handed out with."""

    def reflect(self, scope: str, lease: str) -> None:
        """Have a scope's observations looked at."""

    def adopt(self, *keys: str) -> None:
        """Have messages keys adopted that plain writers wrote."""

    def ticks(self, name: str, n: int) -> None:
        """Have n more ticks of this name run, which share what the first one found too much for itself."""

    def try_models(self, n: int) -> None:
        """Have n of the test calls made that somebody asked for."""

    def waiting(self, queue: str) -> int:
        """How many tasks wait in a queue that no worker has taken; 0 where the broker cannot tell."""

    def held(self, queue: str) -> list[str]:
        """The scopes whose tasks this process has taken off a queue and not begun."""


class Services(NamedTuple):
    """Made by wiring.py, handed to whoever works."""

    settings: Settings
    connection: Connection
    keys: Keys
    redacting: Redacting
    requests: RedactedRequests
    clock: ServerClock
    count: Callable[[str], int]
    heartbeat: Heartbeat
    presence: Presence
    registry: Registry
    models: ModelCalls
    stopping: Stopping
    queues: TaskQueues
    events: EventPublisher

    def run(self, steps: Askable[T]) -> T:
        """Do steps against the store."""
        return self.connection.run(steps)

    def agent(self, scope: Scope) -> MemorySettings:
        """The settings of a scope's agent."""
        return self.settings.for_agent(scope.resource)

    def in_force(self, scope: Scope) -> RecordedSettings:
        """The same as the record carries them."""
        return recorded_settings.of(self.agent(scope))

    def lock_name(self, scope: Scope, what: str) -> str:
        """The lock of one kind of work on a scope."""
        tail = f":{scope.thread}" if scope.thread else ""
        return self.keys.of(scope.resource).lock(what + tail)
