"""A RabbitMQ of a test's own, where one is installed: its ports and its folder are its own, and it may be killed."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from om_api.broker import rabbitmq
from om_api.cli.embedded import HOST, end, free_port, launch
from om_api.domain.errors import StoreError

_PLACES = (
    "/usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server",
    "/opt/rabbitmq*/sbin/rabbitmq-server",
)  # no wrapper of a service
_START_S = 60
_STOP_S = 20
_CONFIG = """
loopback_users = none
disk_free_limit.absolute = 50MB
default_user = om
default_pass = loopback
"""


def binary() -> str:
    """Where the server is; '' where none is installed. `OM_TEST_RABBITMQ` names one elsewhere."""
    found = (str(path) for place in _PLACES for path in Path("/").glob(place.removeprefix("/")))
    return os.environ.get("OM_TEST_RABBITMQ") or next(found, "")


class RabbitMQ:
    """A broker at `url`; `with` ends it, and the daemon by which its node is named."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port, self._epmd_port, self._dist_port = free_port(), free_port(), free_port()
        self.url = f"amqp://om:loopback@{HOST}:{self.port}//"
        self._process: subprocess.Popen[bytes] | None = None
        self._epmd: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rabbitmq.conf").write_text(_CONFIG)

    def __enter__(self) -> Self:
        try:
            self._epmd = self._launch([shutil.which("epmd") or "epmd", "-port", str(self._epmd_port)])
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._process, self._epmd):
            if process is not None:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                end(process, _STOP_S)

    def start(self) -> None:
        """Start it on what its folder holds, and wait until it takes tasks."""
        self._process = self._launch([binary()])
        until = time.monotonic() + _START_S
        while not self.answers():
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError(f"RabbitMQ did not start; its log: {self._folder / 'rabbitmq.log'}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End it in order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(_STOP_S)

    def answers(self) -> bool:
        """Whether somebody may log in."""
        try:
            rabbitmq.waiting(self.url, (), 2)
        except StoreError:
            return False
        return True

    def _launch(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "rabbitmq.log").open("ab") as log:
            return launch(command, output=log, environ={**os.environ, **self._environ()}, orphaned=signal.SIGKILL)

    def _environ(self) -> dict[str, str]:
        folder = str(self._folder)
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
