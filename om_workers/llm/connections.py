"""What all providers' connections have in common."""

from __future__ import annotations

import logging

import httpx2

from om_api.errors import SettingsError

LIMITS = httpx2.Limits(max_connections=1_000, max_keepalive_connections=100)  # more than any worker has threads
NO_KEY = "none"  # a server without keys minds none, but no SDK works without one
CLOSING_S = 5.0


def check_address(url: str) -> None:
    """Raise SettingsError for an address that no request could be sent to."""
    try:
        httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise SettingsError(f"base_url is no address ({error}); correct it") from error


def quiet(*loggers: str) -> None:
    """Have SDKs log errors only: a call is told of in its task's one line."""
    for name in (*loggers, "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.ERROR)
