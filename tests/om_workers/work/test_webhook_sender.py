"""One attempt: to an address that was judged and to no other, signed, and with an error that shows nothing of the address."""

import asyncio
import socket
import ssl
from pathlib import Path

import httpx2
import pytest

from om_api.domain.events import Event
from om_api.domain.webhooks import signing
from om_api.domain.webhooks.delivery import delivery_of
from om_api.domain.webhooks.webhook import Webhook
from om_api.outbound import posting
from om_workers.work.webhook_sender import send

CERTIFICATE = Path(__file__).parents[2] / "data" / "hooks.test.pem"  # of that name and no other, with its key
PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.7"
NOT_PUBLIC = "its host leads to an address that is not public: see webhooks.allow_private"


def attempt(url, *, private=False, patience=5.0):
    webhook = Webhook(id="3f1c20a9be77", url=url, secret=signing.new_secret())
    delivery = delivery_of(webhook, Event(kind="reflected", id="100-0", resource="harold"))
    return asyncio.run(send(webhook, delivery, 1_763_600_000, allow_private=private, patience=patience))


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
    seen = []

    def answer(request):
        seen.append(request)
        return httpx2.Response(200)

    monkeypatch.setattr(posting, "_client", lambda: httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
    return seen


@pytest.fixture(autouse=True)
def _trust_of_its_own():
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


def test_a_name_with_an_address_that_is_not_public_is_not_connected_to(names, connected):
    for addresses in ([PRIVATE], [PUBLIC, PRIVATE], ["127.0.0.1"], ["169.254.169.254"], ["100.64.1.1"]):
        names["hooks.example.org"] = [addresses]
        assert attempt("https://hooks.example.org/").error == NOT_PUBLIC, addresses
        assert connected == []
    assert attempt("https://hooks.example.org/", private=True).error == ""


@pytest.mark.parametrize(("host", "trusted"), [("hooks.test", True), ("other.test", True), ("hooks.test", False)])
def test_a_receiver_must_have_the_certificate_of_its_name_though_its_address_is_connected_to(
    names, receiver, monkeypatch, host, trusted
):
    context, asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    context.load_cert_chain(CERTIFICATE)
    context.sni_callback = lambda _, name, __: asked.append(name)
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    names[host] = [["127.0.0.1"]]
    error = "" if (host, trusted) == ("hooks.test", True) else "its certificate cannot be trusted"
    assert attempt(f"https://{host}:{receiver.port}/", private=True).error == error
    assert asked == [host]
    assert len(receiver.came) == (error == "")


def test_an_answer_is_judged_by_its_status(receiver):
    rows = [(200, "", False), (299, "", False), (301, "answered 301: redirects are not followed", False),
            (400, "answered 400", False), (410, "answered 410", True), (500, "answered 500", False)]  # fmt: skip
    for n, (status, error, gone) in enumerate(rows, 1):
        receiver.says.append(status)
        assert attempt(receiver.url, private=True) == (error, gone), status
        assert len(receiver.came) == n


def test_a_receiver_that_is_not_there_is_told_in_words_of_ours(names):
    rows = [("https://no-such-name.example.org/k", "its host name has no address"),
            (f"https://{'x' * 80}.example.org/k", "its host name has no address"),
            ("http://127.0.0.1:9/k", "cannot be reached")]  # fmt: skip
    names["127.0.0.1"] = [["127.0.0.1"]]
    for url, error in rows:
        assert attempt(url, private=True).error == error, url


def test_no_proxy_of_the_environment_comes_between(receiver, monkeypatch):
    """It would look the name up once more, and connect to whatever that says."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert attempt(receiver.url, private=True).error == ""
