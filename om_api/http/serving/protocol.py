"""One connection: uvicorn's own, which by itself reads a head of any length, for any time, and waits for readers forever."""

from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from om_api.http.serving.connections import Connections
from om_api.http.serving.limits import MAX_BODY, MAX_PIPELINED
from om_api.http.serving.problems import on_the_wire

_FRAMING = 8  # bytes around each byte of a body at most: chunks of one byte take five


class _RefusedError(Exception):
    """Ends the parsing of a request that was refused: the parser tells only that something was raised."""


class Protocol(HttpToolsProtocol):
    """A connection whose heads are bounded in bytes, number and time, and whose other side must keep moving.

    `look` must be called every second or so.
    """

    def __init__(self, config: Any, *args: Any, **options: Any) -> None:
        super().__init__(config, *args, **options)
        self._connections: Connections = config.app.state.connections
        self._limits = self._connections.limits
        self._place: str | None = None
        self._active: Any = None  # the request that is being answered; `cycle` is the one that arrived last
        self._in_head = True  # a request is awaited, or its head is arriving
        self._named = 0  # bytes of its line and its headers, as far as they are whole
        self._besides = 0  # bytes of it that are no body
        self._body = 0
        self._since = 0.0  # when what is waited for began, and how much of it had moved or was left then
        self._mark = 0
        self._refused = False

    # -- what the transport tells -------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Take it, or turn it away."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._place = self._connections.enter(self.client)
        if self._place is None:
            self._refuse(503, "there are too many connections: repeat in a moment, over fewer of them", "connections")
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give its place back, and tell whoever answers that nobody listens."""
        if self._place is not None:
            self._connections.leave(self._place)
        self._hang_up()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what arrived; a head in pieces that are no longer than it may be."""
        self._unset_keepalive_if_required()
        if self._in_head and not self._besides:
            self._since = self.loop.time()
        while data and not (self._refused or self.transport.is_closing()):
            size = self._limits.header_bytes if self._in_head else len(data)
            self._take(data[:size])
            data = data[size:]
        if self._refused:
            self._discard(len(data))

    def pause_writing(self) -> None:
        """Begin to watch how much the other side takes."""
        self._since, self._mark = self.loop.time(), self.transport.get_write_buffer_size()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Watch what the other side sends again."""
        self._since, self._mark = self.loop.time(), self._body
        super().resume_writing()

    def _take(self, piece: bytes) -> None:
        self._besides += len(piece)
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserError:
            self.send_400_response("this is no request of HTTP/1.1: correct it")
        except httptools.HttpParserUpgrade:
            pass  # nothing else is spoken here: it is answered as if that had not been asked
        most = self._limits.header_bytes
        if self._besides > (most if self._in_head else 2 * most + _FRAMING * self._body):
            self._refuse_head()

    def _discard(self, size: int) -> None:
        """Take what comes after an answer, which its sender has perhaps not read yet, and throw it away; up to a limit."""
        self._body += size
        if self._body - self._mark > MAX_BODY:
            self.transport.abort()

    # -- what the parser tells ----------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._named = self._body = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of a request's line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer."""
        self._count(len(name) + len(value) + len(": \r\n"))
        super().on_header(name, value)
        if len(self.headers) > self._limits.headers:
            self._refuse_head()
            raise _RefusedError

    def on_headers_complete(self) -> None:
        """Have the request answered, when those before it are."""
        if len(self.pipeline) >= MAX_PIPELINED:
            self._refuse(503, "there are too many requests at once: wait for the answers", "pipelined requests")
            raise _RefusedError
        self._in_head, self._since, self._mark = False, self.loop.time(), 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body; what nobody will read is thrown away."""
        self._besides -= len(body)
        if self.cycle.response_complete:
            self._discard(len(body))
        else:
            self._body += len(body)
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Await the next request."""
        self._in_head, self._besides = True, 0
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self._named += size
        if self._named > self._limits.header_bytes:
            self._refuse_head()
            raise _RefusedError

    # -- what whoever answers tells -----------------------------------------------------------------------------------

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._active = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Await the rest of the request, if any is left, and then the next one."""
        self._since, self._mark = self.loop.time(), self._body
        super().on_response_complete()

    # -- time, and the end --------------------------------------------------------------------------------------------

    def look(self, now: float) -> None:
        """End the connection if the other side has let us wait for longer than it may."""
        late = now - self._since >= self._limits.header_timeout
        if self.flow.read_paused and not self.flow.write_paused:
            self._since, self._mark = now, self._body  # it is we who let it wait
        elif not late:
            return
        elif self.flow.write_paused:
            self._pace(now, self._mark - (left := self.transport.get_write_buffer_size()), left)
        elif self._refused or self.transport.is_closing() or not (self._in_head or self._answering):
            self.transport.abort()
        elif not self._in_head:
            self._pace(now, self._body - self._mark, self._body)
        elif not self._answering and (self._besides or self._active is None):
            self._refuse(408, "the head of the request took too long: send it at once", "slow heads")

    def _pace(self, now: float, moved: int, mark: int) -> None:
        """End a connection on which too little moved since the last look."""
        if moved < self._limits.least_rate * (now - self._since):
            self._refuse(408, "the body took too long: send it faster", "slow bodies or readers")
        self._since, self._mark = now, mark

    def shutdown(self) -> None:
        """End in order; nobody waits for whoever was refused."""
        if self._refused:
            self.transport.abort()
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request."""
        self._refuse(400, msg, "what is no HTTP")

    def _refuse_head(self) -> None:
        most = f"{self._limits.header_bytes:,} bytes and {self._limits.headers} headers"
        self._refuse(431, f"the head of the request is longer than the {most} that are permitted", "long heads")

    def _refuse(self, status: int, detail: str, reason: str) -> None:
        """Say why, if nobody is being answered, and end. What is still sent is taken a while, or the answer would be lost."""
        if self._refused:
            return
        self._refused = True
        self._connections.refused[reason] += 1
        others = self._answering and (self._in_head or self._active.response_started)
        self._hang_up()
        if others:
            self.transport.abort()
            return
        self.transport.write(on_the_wire(status, detail))
        self._since, self._mark, self._body = self.loop.time(), 0, 0
        if self.transport.can_write_eof():
            self.transport.write_eof()

    @property
    def _answering(self) -> bool:
        return self._active is not None and not self._active.response_complete

    def _hang_up(self) -> None:
        """Have whoever answers find that nobody listens."""
        if self._active is not None:
            self._active.disconnected = not self._active.response_complete
            self._active.message_event.set()
