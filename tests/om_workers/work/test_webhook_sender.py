"""One attempt: to an address that was judged and to no other, signed, and with an error that shows nothing of the address."""

import asyncio
import socket
import ssl
from pathlib import Path

import httpx2
import pytest
from receiver import receiving

from om_api.domain.events import Event
from om_api.domain.webhooks import signing
from om_api.domain.webhooks.delivery import delivery_of
from om_api.domain.webhooks.webhook import Webhook
from om_api.outbound import posting
from om_workers.work.webhook_sender import send

CERTIFICATE = Path(__file__).parents[2] / "data" / "hooks.test.pem"  # of that name and no other, with its key
PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.7"
NOT_PUBLIC = "its host leads to an address that is not public: see webhooks.allow_private"


def hook(url):
    return Webhook(id="3f1c20a9be77", url=url, secret=signing.new_secret())


def attempt(url, *, private=False, patience=5.0):
    webhook = hook(url)
    delivery = delivery_of(webhook, Event(kind="reflected", id="100-0", resource="harold"))
    return asyncio.run(send(webhook, delivery, 1_763_600_000, allow_private=private, patience=patience))


@pytest.fixture
def receiver():
    with receiving() as one:
        yield one


@pytest.fixture
def names(monkeypatch):
    """What a name leads to: each time it is looked up the next of its lists of addresses."""
    known, asked = {}, []

    def look_up(host, port, **_):
        asked.append(host)
        if host not in known:
            raise socket.gaierror("no such name")
        found = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(posting.socket, "getaddrinfo", look_up)
    known["asked"] = asked
    return known


@pytest.fixture
def connected(monkeypatch):
    """The requests that would have gone out, answered with 200."""
    seen = []

    def answer(request):
        seen.append(request)
        return httpx2.Response(200)

    monkeypatch.setattr(posting, "_client", lambda: httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
    return seen


@pytest.fixture(autouse=True)
def _trust_of_its_own():
    """Whom to trust is read once in a process."""
    posting._trusted.cache_clear()
    yield
    posting._trusted.cache_clear()


def test_a_name_that_leads_elsewhere_the_second_time_is_connected_to_where_it_was_judged(names, connected):
    """A connection by name would look it up once more, and reach what the name leads to by then."""
    names["hooks.example.org"] = [[PUBLIC], [PRIVATE]]

    assert attempt("https://hooks.example.org:8443/om?k=v").error == ""
    (request,) = connected
    assert (request.url.host, request.url.port, request.url.raw_path) == (PUBLIC, 8443, b"/om?k=v")
    assert request.headers["host"] == "hooks.example.org:8443"
    assert request.extensions["sni_hostname"] == "hooks.example.org"
    assert names["asked"] == ["hooks.example.org"]


@pytest.mark.parametrize(
    "addresses", [[PRIVATE], [PUBLIC, PRIVATE], ["127.0.0.1"], ["169.254.169.254"], ["100.64.1.1"]]
)
def test_a_name_with_an_address_that_is_not_public_is_not_connected_to(names, connected, addresses):
    names["hooks.example.org"] = [addresses]

    assert attempt("https://hooks.example.org/").error == NOT_PUBLIC
    assert connected == []
    assert attempt("https://hooks.example.org/", private=True).error == ""


def test_a_webhook_that_was_permitted_once_is_judged_by_what_is_permitted_now(receiver):
    told = attempt(receiver.url)

    assert "allow_private" in told.error
    assert receiver.came == []
    assert attempt(receiver.url, private=True).error == ""


@pytest.mark.parametrize(
    ("host", "trusted", "error"),
    [
        ("hooks.test", True, ""),
        ("other.test", True, "its certificate cannot be trusted"),
        ("hooks.test", False, "its certificate cannot be trusted"),
    ],
)
def test_a_receiver_must_have_the_certificate_of_its_name_though_its_address_is_connected_to(
    names, receiver, monkeypatch, host, trusted, error
):
    context, asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    context.load_cert_chain(CERTIFICATE)
    context.sni_callback = lambda _, name, __: asked.append(name)
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    names[host] = [["127.0.0.1"]]

    assert attempt(f"https://{host}:{receiver.port}/", private=True).error == error
    assert asked == [host]
    assert len(receiver.came) == (error == "")


def test_of_several_addresses_the_next_is_tried_when_one_is_not_there(names, receiver):
    names["hooks.test"] = [["127.0.0.2", "127.0.0.1"]]

    assert attempt(f"http://hooks.test:{receiver.port}/", private=True).error == ""
    (came,) = receiver.came
    assert came.headers["host"] == f"hooks.test:{receiver.port}"


@pytest.mark.parametrize(
    ("status", "error", "gone"),
    [
        (200, "", False),
        (299, "", False),
        (301, "answered 301: redirects are not followed", False),
        (400, "answered 400", False),
        (410, "answered 410", True),
        (500, "answered 500", False),
    ],
)
def test_an_answer_is_judged_by_its_status(receiver, status, error, gone):
    receiver.says.append(status)

    assert attempt(receiver.url, private=True) == (error, gone)
    assert len(receiver.came) == 1


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("https://no-such-name.example.org/k", "its host name has no address"),
        (f"https://{'x' * 80}.example.org/k", "its host name has no address"),
        ("http://127.0.0.1:9/k", "cannot be reached"),
    ],
)
def test_a_receiver_that_is_not_there_is_told_in_words_of_ours(monkeypatch, url, error):
    real = socket.getaddrinfo

    def look_up(host, *given, **how):
        if host.startswith("no-such-name"):
            raise socket.gaierror("away")
        return real(host, *given, **how)

    monkeypatch.setattr(posting.socket, "getaddrinfo", look_up)

    assert attempt(url, private=True).error == error


def test_a_connection_that_breaks_is_a_failure(receiver):
    """A server that speaks no TLS, asked for it."""
    told = attempt(receiver.url.replace("http://", "https://"), private=True)

    assert told.error in {"cannot be reached", "the connection broke"}


def test_no_connection_is_used_twice(receiver):
    """One that was made to an address for one name would be taken for another name that leads to it."""
    webhook = hook(receiver.url)
    delivery = delivery_of(webhook, Event(kind="reflected", id="100-0"))

    async def twice():
        return [await send(webhook, delivery, 1, allow_private=True, patience=5.0) for _ in range(2)]

    assert [each.error for each in asyncio.run(twice())] == ["", ""]
    assert len({each.port for each in receiver.came}) == 2


def test_no_proxy_of_the_environment_comes_between(receiver, monkeypatch):
    """It would look the name up once more, and connect to whatever that says."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    assert attempt(receiver.url, private=True).error == ""
