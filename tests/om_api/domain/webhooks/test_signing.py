"""Signatures are those of the standard: its own example, and what its rules make of ours."""

import base64
import hashlib
import hmac

import pytest

from om_api.domain.webhooks import signing


def test_the_standards_own_example_comes_out():
    """From the documents of https://www.standardwebhooks.com, and of every library that speaks it."""
    signed = signing.signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        b'{"test": 2432232314}',
    )

    assert signed == "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_is_256_bits_and_each_one_is_another():
    secrets = {signing.new_secret() for _ in range(20)}

    assert len(secrets) == 20
    assert {len(base64.b64decode(each.removeprefix("whsec_"))) for each in secrets} == {32}


def test_the_headers_name_the_delivery_and_the_time_that_are_signed():
    secret = signing.new_secret()
    headers = signing.headers(secret, "msg_1", 1_763_600_000, b"{}")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, b"msg_1.1763600000.{}", hashlib.sha256).digest()).decode()

    assert headers == {
        "webhook-id": "msg_1",
        "webhook-timestamp": "1763600000",
        "webhook-signature": f"v1,{expected}",
    }


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("whsec_" + base64.b64encode(b"k" * 32).decode(), True),
        (base64.b64encode(b"k" * 24).decode(), True),
        ("whsec_" + base64.b64encode(b"k" * 23).decode(), False),
        ("whsec_" + base64.b64encode(b"k" * 65).decode(), False),
        ("whsec_" + "?" * 40, False),
        ("", False),
    ],
)
def test_a_secret_is_one_that_cannot_be_guessed(text, good):
    assert signing.is_secret(text) is good
