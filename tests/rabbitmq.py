"""A RabbitMQ of a test's own, where one is installed: its ports and its folder are its own, and it may be killed."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Self

from ports import reserve_port
from servers import Daemon

from om_api.broker import rabbitmq
from om_api.cli.embedded import HOST, end
from om_api.domain.errors import StoreError

_PLACES = (
    "/usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server",
    "/opt/rabbitmq*/sbin/rabbitmq-server",
)  # no wrapper of a service
_CONFIG = """
loopback_users = none
disk_free_limit.absolute = 50MB
default_user = om
default_pass = loopback
"""


def binary() -> str:
    """Where the server is; '' where none is installed. `TEST_RABBITMQ` names one elsewhere."""
    found = (str(path) for place in _PLACES for path in Path("/").glob(place.removeprefix("/")))
    return os.environ.get("TEST_RABBITMQ") or next(found, "")


class RabbitMQ(Daemon):
    """A broker at `url`; `with` ends it, and the daemon by which its node is named."""

    starts_s = 60.0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, binary())
        self._epmd_port, self._dist_port = reserve_port(), reserve_port()
        self.url = f"amqp://om:loopback@{HOST}:{self.port}//"
        self.environ = {**os.environ, **self._environ()}
        self._epmd: subprocess.Popen[bytes] | None = None
        (folder / "rabbitmq.conf").write_text(_CONFIG)

    def __enter__(self) -> Self:
        self._epmd = self.launched([shutil.which("epmd") or "epmd", "-port", str(self._epmd_port)])
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._epmd is not None:
            end(self._epmd, 5)

    def answers(self) -> bool:
        """Whether somebody may log in."""
        try:
            rabbitmq.waiting(self.url, (), 2)
        except StoreError:
            return False
        return True

    def _environ(self) -> dict[str, str]:
        folder = str(self.folder)
        return {
            "HOME": folder,  # for its cookie
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": HOST,
            "RUNNING_UNDER_SYSTEMD": "1",  # no shell stays between us and it
            "RABBITMQ_NODENAME": f"om-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": HOST,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._dist_port),
            "RABBITMQ_MNESIA_BASE": folder,
            "RABBITMQ_LOG_BASE": folder,
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/none",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +S 1:1",  # it shares the machine
        }
