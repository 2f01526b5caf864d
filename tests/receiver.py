"""A receiver of webhooks: a real HTTP server of a test's own, which keeps what came and answers as it is told to."""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Came(NamedTuple):
    """A request as it came, its headers by lower-case name, and the port of the connection that it came on."""

    path: str
    headers: dict[str, str]
    body: bytes
    port: int


class Receiver:
    """`came` is what it got; `says` are the next statuses, then 204. While `held` is clear nobody is answered.

    Each answer has the `body`, a byte each `pause`.
    """

    def __init__(self) -> None:
        self.came: list[Came] = []
        self.says: deque[int] = deque()
        self.body = b""
        self.pause = 0.0
        self.held = threading.Event()
        self.held.set()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?secret=in-the-query"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # connections may be kept

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.came.append(
                    Came(self.path, {k.lower(): v for k, v in self.headers.items()}, body, self.client_address[1])
                )
                receiver.held.wait(30)
                with contextlib.suppress(OSError):  # who waited no longer is gone
                    self.send_response(receiver.says.popleft() if receiver.says else 204)
                    self.send_header("location", receiver.url)
                    self.send_header("content-length", str(len(receiver.body)))
                    self.end_headers()
                    for byte in receiver.body if receiver.pause else ():
                        self.wfile.write(bytes([byte]))
                        time.sleep(receiver.pause)
                    self.wfile.write(b"" if receiver.pause else receiver.body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver, while the block runs."""
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.held.set()
        receiver.server.shutdown()
        thread.join()
        receiver.server.server_close()
