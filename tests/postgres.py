"""A Postgres of a test's own, where one is installed: its port and its folder are its own; it may be killed and paused.

What a laptop lacks is skipped there, and fails in CI, which installs it.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from servers import Daemon
from world import wait_until

from om_api.cli.embedded import HOST

_PASSWORD = "loopback"
_QUICK = ("-c", "fsync=off")  # its processes are killed, the power is not cut


def folder_of_programs() -> Path:
    """Where the newest installed server's programs are."""
    named = os.environ.get("TEST_POSTGRES")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if named or found:
        return Path(named) if named else found[-1].parent
    missing = "postgresql is not installed: apt-get install postgresql brings it, or TEST_POSTGRES names its bin"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


class Postgres(Daemon):
    """A server at `url`; `with` ends it. `folder` has its log; its data are beside, where its own user may go."""

    starts_s = 30.0

    def __init__(self, folder: Path, *options: str) -> None:
        programs = folder_of_programs()
        self._home = Path(tempfile.mkdtemp(prefix="om-postgres-"))
        data = str(self._home / "data")
        super().__init__(folder, *_as_user(), str(programs / "postgres"), "-D", data, *(options or _QUICK))
        self._command += ["-p", str(self.port), "-h", HOST, "-k", ""]
        self.url = f"postgresql://om:{_PASSWORD}@{HOST}:{self.port}/postgres"
        self._make(programs, data)

    def _make(self, programs: Path, data: str) -> None:
        secret = self._home / "password"
        secret.write_text(_PASSWORD)
        if os.geteuid() == 0:
            user = pwd.getpwnam(_user())
            for path in (self._home, secret):
                os.chown(path, user.pw_uid, user.pw_gid)
        command = [*_as_user(), str(programs / "initdb"), "-D", data, "-U", "om", "-A", "scram-sha-256"]
        command += ["-E", "UTF8", "--locale=C", "--no-sync", f"--pwfile={secret}"]
        subprocess.run(command, check=True, capture_output=True, timeout=60, cwd=self._home)

    def __exit__(self, *_: object) -> None:
        self.go_on()
        if self.alive:
            self.stop()
        super().__exit__()
        shutil.rmtree(self._home, ignore_errors=True)

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.Error:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it without waiting for whoever is connected."""
        self.go_on()
        left = self._children()
        super().stop(how)
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left), "the end of its processes")

    def empty_database(self) -> str:
        """The address of a database that nobody else uses."""
        name = f"om_{secrets.token_hex(4)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"{self.url.rpartition('/')[0]}/{name}"

    def _hold(self, number: signal.Signals) -> None:
        """It is many processes, and the first answers nobody itself."""
        super()._hold(number)
        for pid in self._children():
            with suppress(ProcessLookupError):  # a connection's process ends with its connection
                os.kill(pid, number)

    def _children(self) -> list[int]:
        if not self.alive:
            return []
        found = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [int(pid) for pid in found.read_text().split()]


def _user() -> str:
    return next((name for name in ("postgres", "nobody") if _is_user(name)), "nobody")


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _as_user() -> list[str]:
    """The server refuses to be root's; it ends with whoever started it, as without this."""
    if os.geteuid() != 0:
        return []
    return [
        shutil.which("setpriv") or "setpriv",
        f"--reuid={_user()}",
        f"--regid={pwd.getpwnam(_user()).pw_gid}",
        "--clear-groups",
        "--pdeathsig",
        "KILL",
    ]
