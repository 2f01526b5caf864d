"""One server for memories, and RabbitMQ for tasks, which is killed by itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from chaos.server import AofServer
from rabbitmq import RabbitMQ

from om_api.broker import rabbitmq


class RabbitPlace(AofServer):
    """Where a run's memories are; tasks wait in a RabbitMQ. `failovers` are starts of it after a kill."""

    def __init__(self, folder: Path, fsync: str) -> None:
        super().__init__(folder, fsync)
        self._broker = RabbitMQ(folder / "rabbitmq")
        self.failovers = 0

    def __enter__(self) -> Self:
        self._broker.__enter__()
        return super().__enter__()  # which ends both if it fails

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._broker.__exit__()

    @property
    def broker_url(self) -> str:
        return self._broker.url

    def waiting(self, queues: Sequence[str]) -> int:
        """How many tasks wait in queues of the broker; raises StoreError."""
        return sum(rabbitmq.waiting(self.broker_url, queues, 2).values())

    def do(self, what: str) -> None:
        """Kill the broker, or start it again."""
        if what == "kill broker":
            self._broker.kill()
        else:
            self._broker.start()
            self.failovers += 1
