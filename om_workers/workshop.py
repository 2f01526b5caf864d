"""What every unit of work is handed: settings, the store, a heartbeat, models, and ways to pass work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from om_api import in_force

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.in_force import InForce
    from om_api.settings import MemorySettings, Settings
    from om_api.store.connection import Connection
    from om_api.store.keys import Keys
    from om_api.store.steps import Steps
    from om_api.store.writing import Clock
    from om_api.values import Scope
    from om_workers.asking import Asking
    from om_workers.heartbeat import Heartbeat
    from om_workers.llm.registry import Registry
    from om_workers.presence import Presence
    from om_workers.stopping import Stopping
    from om_workers.telling import Telling

T = TypeVar("T")


class Dispatch(Protocol):
    """Passes work on by ids; nothing that a message says travels with it."""

    def observe(self, scope: str, lease: str) -> None:
        """Have a scope looked at; `lease` is the claim it was handed out with."""

    def reflect(self, scope: str, lease: str) -> None:
        """Have a scope's observations looked at."""

    def adopt(self, *keys: str) -> None:
        """Have messages keys adopted that plain writers wrote."""

    def waiting(self, queue: str) -> int:
        """How many tasks wait in a queue that no worker has taken; 0 where the broker cannot tell."""

    def held(self, queue: str) -> list[str]:
        """The scopes whose tasks this process has taken off a queue and not begun."""


class Workshop(NamedTuple):
    """Made by wiring.py, handed to whoever works."""

    settings: Settings
    connection: Connection
    keys: Keys
    clock: Clock
    count: Callable[[str], int]
    heartbeat: Heartbeat
    presence: Presence
    registry: Registry
    asking: Asking
    stopping: Stopping
    dispatch: Dispatch
    telling: Telling

    def run(self, steps: Steps[T]) -> T:
        """Do steps against the store."""
        return self.connection.run(steps)

    def agent(self, scope: Scope) -> MemorySettings:
        """The settings of a scope's agent."""
        return self.settings.for_agent(scope.resource)

    def in_force(self, scope: Scope) -> InForce:
        """The same as the record carries them."""
        return in_force.of(self.agent(scope))

    def lock_name(self, scope: Scope, what: str) -> str:
        """The lock of one kind of work on a scope."""
        tail = f":{scope.thread}" if scope.thread else ""
        return self.keys.of(scope.resource).lock(what + tail)
