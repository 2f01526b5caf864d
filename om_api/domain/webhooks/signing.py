"""Signing a delivery as Standard Webhooks says (https://www.standardwebhooks.com), so that receivers need no code of ours."""

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
_BYTES, _LEAST, _MOST = 32, 24, 64


def new_secret() -> str:
    """256 random bits, as verifying libraries take them."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def is_secret(text: str) -> bool:
    """Whether a text is a secret that cannot be guessed, as Standard Webhooks have it: 24 to 64 bytes."""
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError:
        return False
    return _LEAST <= len(key) <= _MOST


def headers(secret: str, delivery: str, at: int, body: bytes) -> dict[str, str]:
    """What is sent beside a body: which delivery it is, when (Unix s) it was signed, and the signature of all three."""
    return {
        "webhook-id": delivery,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{signature(secret, delivery, at, body)}",
    }


def signature(secret: str, delivery: str, at: int, body: bytes) -> str:
    """HMAC-SHA256 of `id.timestamp.body`, in base64."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.digest(key, f"{delivery}.{at}.".encode() + body, hashlib.sha256)).decode()
