"""Which events a webhook takes, where it may lead, and what of it stands in no log."""

import base64

import msgspec
import pytest

from om_api import InvalidInputError
from om_api.domain.events import GAP, KINDS, Event
from om_api.domain.webhooks import signing
from om_api.domain.webhooks.addresses import is_public
from om_api.domain.webhooks.delivery import ATTEMPTS, delivery_of, wait_s
from om_api.domain.webhooks.webhook import Webhook, check_events, check_resources, check_url

URL = "https://example.org/om?key=k"


def hook(**fields):
    return Webhook(**{"id": "3f1c20a9be77", "url": URL, "secret": "whsec_c2VjcmV0", "after": "100-5", **fields})


def test_an_event_is_taken_by_its_kind_its_resource_and_its_place():
    for wanted, event, taken in [
        ({}, Event(kind="failed", id="100-6", resource="harold"), True),
        ({}, Event(kind="failed", id="100-5", resource="harold"), False),
        ({}, Event(kind="failed", id="99-9", resource="harold"), False),
        ({}, Event(kind="failed", id="100-10", resource="harold"), True),
        ({}, Event(kind="budget_reached", id="101-0"), True),
        ({"disabled": "gone"}, Event(kind="failed", id="101-0"), False),
        ({"events": ("failed",)}, Event(kind="failed", id="101-0"), True),
        ({"events": ("failed",)}, Event(kind="sealed", id="101-0"), False),
        ({"events": ("failed",)}, Event(kind=GAP, id="101-0"), True),
        ({"events": ("failed",)}, Event(kind=GAP, id="99-0"), False),
        ({"resources": ("worker-*",)}, Event(kind="failed", id="101-0", resource="worker-1"), True),
        ({"resources": ("worker-*",)}, Event(kind="failed", id="101-0", resource="Worker-1"), False),
        ({"resources": ("worker-*",)}, Event(kind="failed", id="101-0"), False),
        ({"resources": ("ada", "worker-[12]")}, Event(kind="failed", id="101-0", resource="worker-2"), True),
    ]:  # fmt: skip
        assert hook(**wanted).takes(event) is taken, (wanted, event, taken)


def test_events_and_resources_are_checked_and_refused_with_what_is_permitted():
    with pytest.raises(InvalidInputError) as told:
        check_events(["reflected", "refected"])
    assert "'refected'" in str(told.value)
    assert all(kind in str(told.value) for kind in KINDS)
    assert check_events(["failed", "reflected", "failed"]) == ("failed", "reflected")
    for glob in ("", "a b", "wörker", "a/b", "x" * 201, "{a,b}"):
        with pytest.raises(InvalidInputError, match=r"fits nobody's name; permitted: .*\* \? \[a-z\]"):
            check_resources(["harold", glob])
    assert (check_resources([]), check_resources(["b", "a", "b"])) == (("*",), ("b", "a"))


def test_check_url_accepts_public_https_and_refuses_the_rest_with_the_reason():
    for url in (URL, "https://example.org:8443", "https://8.8.8.8/x", "https://[2606:4700::1111]/x"):
        assert check_url(url, allow_private=False) == url, url
    for url, why in [
        ("http://example.org", "https://<host>; http:// takes webhooks.allow_private"),
        ("ftp://example.org", "https://<host>"), ("example.org", "https://<host>"), ("https://", "https://<host>"),
        ("https:///path", "https://<host>"), ("https://user:pass@example.org", "leave out name, password"),
        ("https://example.org/#top", "#fragment"), ("https://example.org:99999", "host or port"),
        ("https://[::1", "host or port"), ("https://exämple.org", "ASCII"),
        ("https://example.org/a b", "without spaces"), ("https://example.org\\@127.0.0.1/", "ASCII"),
        ("https://example.org/\n", "ASCII"), ("https://" + "x" * 2_000, "up to 2,000"),
        ("https://127.0.0.1", "127.0.0.1 is no public address; webhooks.allow_private: true permits"),
        ("https://[::ffff:10.0.0.1]/", "no public address"), ("https://169.254.169.254/latest", "no public address"),
        ("https://localhost", "no public address"), ("https://x.localhost:1", "no public address"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError) as told:
            check_url(url, allow_private=False)
        assert why in str(told.value), (url, why)
    for url in ("http://127.0.0.1:8000/x", "https://localhost", "http://hooks.internal"):
        assert check_url(url, allow_private=True) == url


def test_nothing_of_a_webhook_but_its_host_gets_into_a_log_by_accident():
    assert (repr(hook()), str(hook()), hook().host) == (*["Webhook(3f1c20a9be77, example.org)"] * 2, "example.org")


PRIVATE = [
    "127.0.0.1", "127.8.8.8", "10.1.1.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.127.255.255", "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "192.0.2.1", "198.18.0.1", "192.0.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1",
    "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1", "::7f00:1", "2001:db8::1", "2001::1", "100::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b:1::1",
    "2002:7f00:1::", "2002:a00:1::",
]  # fmt: skip
PUBLIC = [
    "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    "2002:808:808::",
]  # fmt: skip


def test_is_public_is_what_everybody_can_reach():
    for address in PRIVATE:
        assert not is_public(address), address
    for address in PUBLIC:
        assert is_public(address), address
    with pytest.raises(ValueError, match=r"example\.org"):
        is_public("example.org")


HOOK = Webhook(id="3f1c20a9be77", url="https://example.org", secret="whsec_")


def test_deliveries_have_one_name_and_wait_longer_each_time_and_signatures_are_those_of_the_standard():
    for attempts, seconds in ((1, 15), (2, 60), (3, 240), (4, 960), (5, 3_840), (6, 15_360), (7, 61_440)):
        assert wait_s(attempts, 0.5) == seconds, (attempts, seconds)
        assert wait_s(attempts, 0) == pytest.approx(0.8 * seconds), (attempts, seconds)
        assert wait_s(attempts, 1) == pytest.approx(1.2 * seconds), (attempts, seconds)
    waits = [wait_s(attempt, 0.5) for attempt in range(1, ATTEMPTS)]
    assert (ATTEMPTS, round(sum(waits) / 3_600)) == (8, 23)
    assert wait_s(ATTEMPTS, 0.5) is None
    event = Event(kind="reflected", id="1763630400000-7", at=1_763_630_400_000, resource="harold", generation=3)
    delivery = delivery_of(HOOK, event)
    assert delivery == delivery_of(HOOK, event)
    assert delivery.id == "msg_3f1c20a9be77_1763630400000-7_reflected"
    assert delivery.body.encode() == msgspec.json.encode(event)
    orders = [delivery_of(HOOK, Event(kind="failed", id=name)).order
              for name in ("1763630400000-2", "1763630400000-10", "1763630400000-4095", "1763630400001-0")]  # fmt: skip
    assert orders == sorted(set(orders))
    # From the documents of https://www.standardwebhooks.com, and of every library that speaks it.
    signed = signing.signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b'{"test": 2432232314}'
    )
    assert signed == "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    secret = signing.new_secret()
    headers = signing.headers(secret, "msg_1", 1_763_600_000, b"{}")
    expected = signing.signature(secret, "msg_1", 1_763_600_000, b"{}")
    assert headers == {"webhook-id": "msg_1", "webhook-timestamp": "1763600000", "webhook-signature": f"v1,{expected}"}
    for text, good in [
        ("whsec_" + base64.b64encode(b"k" * 32).decode(), True), (base64.b64encode(b"k" * 24).decode(), True),
        ("whsec_" + base64.b64encode(b"k" * 23).decode(), False),
        ("whsec_" + base64.b64encode(b"k" * 65).decode(), False), ("whsec_" + "?" * 40, False), ("", False),
    ]:  # fmt: skip
        assert signing.is_secret(text) is good, (text, good)
