"""What a connection may send before anybody is known, how much of it, and for how long; on a transport that only remembers."""

import asyncio
import json
from types import SimpleNamespace

from structlog.testing import capture_logs
from uvicorn.server import ServerState

from om_api.http.serving.connections import Connections
from om_api.http.serving.limits import MAX_PIPELINED
from om_api.http.serving.server import configured
from om_api.settings.sections.api_settings import ApiSettings

LIMITS = ApiSettings()
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
BEGUN = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: x\r\n"
OK = b"HTTP/1.1 200 OK"


class Transport(asyncio.Transport):
    """A connection's other side."""

    def __init__(self, address="10.0.0.1"):
        super().__init__()
        self.address, self.sent, self.unsent = address, b"", 0
        self.closing = self.aborted = self.ended = False

    def get_extra_info(self, name, default=None):
        return (self.address, 5000) if name == "peername" else default

    def write(self, data):
        self.sent += data

    def get_write_buffer_size(self):
        return self.unsent

    def is_closing(self):
        return self.closing

    def close(self):
        self.closing = True

    def abort(self):
        self.closing = self.aborted = True

    def can_write_eof(self):
        return True

    def write_eof(self):
        self.ended = True

    def pause_reading(self):
        """What is fed comes anyway."""

    resume_reading = pause_reading


class House:
    """An app that answers everybody, or keeps them waiting; `asked` are the paths, `bodies` what was read."""

    def __init__(self, **limits):
        self.limits = ApiSettings(**limits)
        self.state = SimpleNamespace(connections=Connections(self.limits))
        self.asked, self.bodies, self.left = [], [], 0
        self.reads = self.waits = self.begins = False
        self.config = configured(self)
        self.config.load()
        self.config.loaded_app = self

    async def __call__(self, scope, receive, send):
        self.asked.append(scope["path"])
        if self.begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        if self.waits:
            await asyncio.Event().wait()
        while self.reads:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left += 1
                return
            self.bodies.append(message["body"])
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def connect(self, address="10.0.0.1"):
        protocol = self.config.http_protocol_class(self.config, ServerState(), {}, asyncio.get_running_loop())
        protocol.connection_made(transport := Transport(address))
        return protocol, transport


def play(scene, *given, **limits):
    """Let a scene happen: it is given the app, a connection, its transport and whatever else is given."""

    async def on_stage():
        house = House(**limits)
        before = asyncio.all_tasks()
        await scene(house, *house.connect(), *given)
        for task in asyncio.all_tasks() - before:
            task.cancel()
        return house

    return asyncio.run(on_stage())


def staged(**limits):
    """A test that is a scene."""

    def made(scene):
        def test():
            play(scene, **limits)

        test.__doc__ = scene.__doc__
        return test

    return made


async def turn():
    """Let whoever can go on go on."""
    for _ in range(5):
        await asyncio.sleep(0)


def later(seconds):
    return asyncio.get_running_loop().time() + seconds


def problem(transport, status):
    head, _, body = transport.sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"Content-Type: application/problem+json" in head
    return json.loads(body)["detail"]


def test_a_head_that_never_ends_is_refused_once_it_is_longer_than_it_may_be():
    async def scene(house, protocol, transport, begin, more):
        fed, feed = [], protocol.parser.feed_data
        protocol.parser = SimpleNamespace(feed_data=lambda data: fed.append(len(data)) or feed(data))
        protocol.data_received(begin)
        for _ in range(40):
            protocol.data_received(more * (65_536 // len(more)))
        assert "16,384 bytes and 100 headers" in problem(transport, 431)
        assert transport.ended
        assert sum(fed) <= 2 * LIMITS.header_bytes, more

    for given in [(BEGUN + b"X: ", b"a"), (BEGUN, b"a: b\r\n"), (b"", b"\r\n"), (b"GET /", b"a")]:
        house = play(scene, *given)
        assert (house.asked, house.state.connections.refused) == ([], {"long heads": 1}), given


def test_a_head_may_have_as_many_bytes_and_headers_as_it_may_and_no_more():
    async def scene(house, protocol, transport, most, too_much):
        protocol.data_received(most)
        await turn()
        assert transport.sent.startswith(OK)
        transport.sent = b""
        protocol.data_received(too_much)
        problem(transport, 431)

    bytes_, more = (BEGUN + b"X: " + b"a" * (LIMITS.header_bytes - len(BEGUN) + n) for n in (-107, 93))
    headers, one_more = (BEGUN + b"a: b\r\n" * number for number in (99, 100))
    for most, too_much in ((bytes_ + b"\r\n\r\n", more + b"\r\n\r\n"), (headers + b"\r\n", one_more + b"\r\n")):
        assert play(scene, most, too_much).asked == ["/healthz"]


def test_a_head_has_ten_seconds_however_it_comes():
    async def scene(house, protocol, transport, dripped):
        begun = later(0)
        for nth, byte in enumerate(dripped):
            now = begun + 9 * nth / len(dripped)
            protocol.loop = SimpleNamespace(time=lambda now=now: now)
            protocol.data_received(bytes([byte]))
            protocol.look(begun + 9)
        assert not transport.sent
        protocol.look(begun + 11)
        assert "send it at once" in problem(transport, 408)
        protocol.look(begun + 22)
        assert transport.aborted

    for dripped in (BEGUN + b"X: aaaaaaaaaaaa", b"\r\n" * 20):
        play(scene, dripped)


@staged()
async def test_a_connection_on_which_nothing_was_ever_asked_ends_and_one_that_is_kept_alive_does_not(
    house, protocol, transport
):
    """Catches a request that a proxy sends just when we close: it is lost, and nobody knows whether it was done."""
    silent, other = house.connect()
    silent.look(later(11))
    problem(other, 408)
    protocol.data_received(GET)
    await turn()
    assert 60 < protocol.timeout_keep_alive_task.when() - later(0) < 120  # longer than proxies keep theirs
    protocol.look(later(70))
    assert (transport.closing, transport.sent.count(OK)) == (False, 1)
    house.waits = True  # whoever is slow to answer is not the one who asks
    protocol.data_received(GET + b"\r\n")
    await turn()
    protocol.look(later(60))
    assert not transport.closing


def test_a_body_must_keep_coming():
    async def slow(house, protocol, transport):
        house.reads = True
        protocol.data_received(POST + b"Content-Length: 100000\r\n\r\n")
        for _ in range(9):
            protocol.data_received(b"x")
            await turn()
            protocol.look(later(1))
        assert not transport.sent
        protocol.look(later(11))
        assert "send it faster" in problem(transport, 408)
        await turn()

    async def at_the_least_rate(house, protocol, transport):
        house.reads = True
        loop, now = protocol.loop, later(0)
        protocol.loop = SimpleNamespace(time=lambda: now, create_task=loop.create_task, call_later=loop.call_later)
        protocol.data_received(POST + b"Content-Length: 100010\r\n\r\n")
        for _ in range(10):
            protocol.data_received(b"x" * 10_001)
            await turn()
            now += LIMITS.header_timeout
            protocol.look(now)
        assert transport.sent.startswith(OK)

    house = play(slow)
    assert (house.left, house.state.connections.refused) == (1, {"slow bodies or readers": 1})
    play(at_the_least_rate)


def test_what_is_sent_around_a_body_is_bounded_too():
    chunked = POST + b"Transfer-Encoding: chunked\r\n\r\n"
    chunks = (b"1;" + b"a" * 20 + b"\r\nx\r\n") * 5_000

    async def refused(house, protocol, transport, endless):
        house.reads = True
        protocol.data_received(chunked + endless)
        await turn()
        problem(transport, 431)

    async def two_heads(house, protocol, transport):
        house.reads = True
        protocol.data_received(chunked + b"1;" + b"a" * (2 * LIMITS.header_bytes - len(chunked) - 2))
        await turn()
        assert not transport.sent
        protocol.data_received(b"a")
        problem(transport, 431)

    async def one_byte_each(house, protocol, transport):
        house.reads = True
        protocol.data_received(chunked + b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n")
        await turn()
        assert transport.sent.startswith(OK)

    for endless in (b"1;" + b"a" * 65_536, b"0\r\n" + b"a: b\r\n" * 10_000, chunks):
        assert play(refused, endless).left == 1, endless[:10]
    play(two_heads)
    assert b"".join(play(one_byte_each).bodies) == b"x" * 20_000


def test_whoever_does_not_take_the_answer_is_left():
    async def scene(house, protocol, transport):
        house.begins = house.waits = True
        unread, other = house.connect()
        for connection, way in ((protocol, transport), (unread, other)):
            connection.data_received(GET)
            await turn()
            way.unsent = 1_000_000
        unread.flow.pause_reading()  # although we read nothing of theirs either
        protocol.pause_writing()
        unread.pause_writing()
        unread.look(later(LIMITS.header_timeout + 1))
        assert other.aborted
        now = later(0)
        for _ in range(3):  # at the least rate
            transport.unsent -= 10_001
            now += LIMITS.header_timeout
            protocol.look(now)
        assert not transport.closing
        protocol.look(now + 11)
        assert transport.aborted

    async def never_ended(house, protocol, transport):
        protocol.data_received(GET)
        await turn()
        transport.close()
        protocol.look(later(9))
        assert not transport.aborted
        protocol.look(later(11))
        assert transport.aborted

    play(scene)
    play(never_ended)


@staged()
async def test_what_comes_after_an_answer_or_a_refusal_is_thrown_away_for_a_while(house, protocol, transport):
    late, other = house.connect()
    refused, third = house.connect()
    for connection in (protocol, late):
        connection.data_received(POST + b"Content-Length: 100000000\r\n\r\n")
    refused.data_received(BEGUN + b"A: b\r\n" * (LIMITS.headers + 1))
    assert "headers" in problem(third, 431)
    await turn()
    for connection, way in ((protocol, transport), (refused, third)):
        for _ in range(8 * 2**20 // 65_536):  # as much as the longest body that is permitted
            connection.data_received(b"x" * 65_536)
        assert not way.aborted
        connection.data_received(b"x" * 65_536)
        assert way.aborted
    assert transport.sent.startswith(OK)
    late.look(later(9))
    assert not other.aborted
    late.look(later(11))
    assert other.aborted
    assert house.bodies == []


@staged()
async def test_requests_that_wait_for_the_answers_before_theirs_are_few(house, protocol, transport):
    protocol.data_received(GET * (1 + MAX_PIPELINED))
    await turn()
    for _ in range(MAX_PIPELINED):
        await turn()
    assert transport.sent.count(OK) == 1 + MAX_PIPELINED
    house.waits = True
    protocol.data_received(GET * (2 + MAX_PIPELINED))
    assert transport.aborted


@staged()
async def test_what_is_no_http_is_a_problem_but_not_in_the_middle_of_an_answer(house, protocol, transport):
    other, way = house.connect()
    other.data_received(b"\x16\x03\x01\r\n\r\n")
    assert "HTTP/1.1" in problem(way, 400)
    house.begins = house.waits = True
    protocol.data_received(GET)
    await turn()
    protocol.data_received(b"\x16\x03\x01\r\n\r\n")
    assert transport.aborted
    assert transport.sent.count(b"HTTP/1.1") == 1


@staged()
async def test_a_server_that_stops_waits_for_nobody_who_was_refused(house, protocol, transport):
    house.waits = True
    protocol.data_received(POST + b"Content-Length: 100000\r\n\r\n")
    await turn()
    protocol.shutdown()
    assert not transport.closing
    protocol.look(later(11))
    problem(transport, 408)
    protocol.shutdown()
    assert transport.aborted


def test_connections_are_bounded_for_each_address_and_in_all():
    async def scene(house, protocol, transport):
        mine, more, other, last = (house.connect(each)[1] for each in ("10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.3"))
        assert [each.closing for each in (mine, more, other, last)] == [False, True, False, True]
        assert "too many connections" in problem(more, 503)
        assert b"Retry-After: 1" in last.sent
        protocol.connection_lost(None)
        assert not house.connect("10.0.0.3")[1].closing

    house = play(scene, connections=3, connections_per_address=2)
    assert house.state.connections.refused == {"connections": 2}


def test_an_ipv6_network_is_one_address():
    for one, other, same in [
        ("2001:db8::1", "2001:db8::ffff:1", True), ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False), ("10.0.0.1", "10.0.0.2", False),
    ]:  # fmt: skip
        found = Connections(ApiSettings(connections_per_address=1))
        assert found.enter((one, 1)) is not None
        assert (found.enter((other, 1)) is None) is same, (one, other)


def test_what_was_turned_away_is_told_once_and_nothing_is_told_of_quiet_times():
    found = Connections(LIMITS)
    found.refused.update({"long heads": 2, "connections": 1})
    with capture_logs() as lines:
        for _ in range(2):
            found.tell()

    (line,) = lines
    assert (line["event"], line["long_heads"], line["connections"]) == ("connections_refused", 2, 1)
