"""Which events a webhook takes, where it may lead, and what of it stands in no log."""

import pytest

from om_api import InvalidInputError
from om_api.domain.events import GAP, KINDS, Event
from om_api.domain.webhooks.webhook import Webhook, check_events, check_resources, check_url

URL = "https://example.org/om?key=k"


def hook(**fields):
    return Webhook(**{"id": "3f1c20a9be77", "url": URL, "secret": "whsec_c2VjcmV0", "after": "100-5", **fields})


@pytest.mark.parametrize(
    ("wanted", "event", "taken"),
    [
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
    ],
)
def test_an_event_is_taken_by_its_kind_its_resource_and_its_place(wanted, event, taken):
    assert hook(**wanted).takes(event) is taken


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(InvalidInputError) as told:
        check_events(["reflected", "refected"])

    assert "'refected'" in str(told.value)
    assert all(kind in str(told.value) for kind in KINDS)
    assert check_events(["failed", "reflected", "failed"]) == ("failed", "reflected")


@pytest.mark.parametrize("glob", ["", "a b", "wörker", "a/b", "x" * 201, "{a,b}"])
def test_what_could_be_nobodys_name_is_refused(glob):
    with pytest.raises(InvalidInputError, match=r"fits nobody's name; permitted: .*\* \? \[a-z\]"):
        check_resources(["harold", glob])


def test_no_glob_is_every_resource():
    assert (check_resources([]), check_resources(["b", "a", "b"])) == (("*",), ("b", "a"))


@pytest.mark.parametrize("url", [URL, "https://example.org:8443", "https://8.8.8.8/x", "https://[2606:4700::1111]/x"])
def test_https_to_a_public_address_or_a_name_is_accepted(url):
    assert check_url(url, allow_private=False) == url


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.org", "https://<host>; http:// takes webhooks.allow_private"),
        ("ftp://example.org", "https://<host>"),
        ("example.org", "https://<host>"),
        ("https://", "https://<host>"),
        ("https:///path", "https://<host>"),
        ("https://user:pass@example.org", "leave out name, password"),
        ("https://example.org/#top", "#fragment"),
        ("https://example.org:99999", "host or port"),
        ("https://[::1", "host or port"),
        ("https://exämple.org", "ASCII"),
        ("https://example.org/a b", "without spaces"),
        ("https://example.org\\@127.0.0.1/", "ASCII"),
        ("https://example.org/\n", "ASCII"),
        ("https://" + "x" * 2_000, "up to 2,000"),
        ("https://127.0.0.1", "127.0.0.1 is no public address; webhooks.allow_private: true permits"),
        ("https://[::ffff:10.0.0.1]/", "no public address"),
        ("https://169.254.169.254/latest", "no public address"),
        ("https://localhost", "no public address"),
        ("https://x.localhost:1", "no public address"),
    ],
)
def test_any_other_address_is_refused_with_what_would_do(url, why):
    with pytest.raises(InvalidInputError) as told:
        check_url(url, allow_private=False)

    assert why in str(told.value)


def test_ones_own_network_is_permitted_by_a_setting():
    for url in ("http://127.0.0.1:8000/x", "https://localhost", "http://hooks.internal"):
        assert check_url(url, allow_private=True) == url


def test_nothing_of_a_webhook_but_its_host_gets_into_a_log_by_accident():
    assert (repr(hook()), str(hook()), hook().host) == (*["Webhook(3f1c20a9be77, example.org)"] * 2, "example.org")
