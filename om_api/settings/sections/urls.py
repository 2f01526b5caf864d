"""Addresses of servers, and their passwords kept out of sight."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from om_api.domain.errors import SettingsError

CLUSTERS = ("redis+cluster", "rediss+cluster")
SCHEMES = ("redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel", *CLUSTERS)
_LOGIN = re.compile(r"://[^:@/]*:")
_QUERY = re.compile(r"(?P<name>[?&][a-z_]*password=)[^&]*", re.IGNORECASE)


def safe_url(url: str) -> str:
    """Return the address with every password in it replaced by ***."""
    # Up to the last @: a password may hold an @ or a / of its own, and hiding too much does no harm.
    login, at, server = url.rpartition("@")
    found = _LOGIN.search(login)
    return _QUERY.sub(r"\g<name>***", f"{login[: found.end()]}***{at}{server}" if found else url)


def has_password(url: str) -> bool:
    """Say whether an address carries a password."""
    return _LOGIN.search(url.rpartition("@")[0]) is not None or _QUERY.search(url) is not None


def with_password(url: str, password: str) -> str:
    """Return the address with the password put in, unless it has one of its own."""
    if has_password(url):
        return url
    scheme, _, rest = url.partition("://")
    user, at, server = rest.rpartition("@")
    return f"{scheme}://{user if at else ''}:{quote(password, safe='')}@{server}"


def build_url(host: str, port: int, db: int, username: str) -> str:
    """Write the address of one Redis server; a bare IPv6 host gets its brackets."""
    login = f"{quote(username, safe='')}@" if username else ""
    return f"redis://{login}{f'[{host}]' if ':' in host else host}:{port}/{db}"


def is_redis_url(url: str) -> bool:
    """Say whether an address has a scheme that the store knows, and something after it."""
    scheme, _, rest = url.partition("://")
    return scheme in SCHEMES and bool(rest) and not re.search(r"\s", url)


def is_cluster_url(url: str) -> bool:
    """Say whether an address names nodes of a Cluster."""
    return url.partition("://")[0] in CLUSTERS


def _one_of(values: Mapping[str, Any]) -> Callable[[str], Any]:
    return lambda text: values[text.lower()]


def _number(text: str) -> float:
    number = float(text)
    if not 0 < number < _LONGEST_S:
        raise ValueError("out of range")
    return number


_LONGEST_S = 1e6
_SWITCH = _one_of({"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False})
_CERTIFICATES = {name: name for name in ("none", "optional", "required")}
_CERTIFICATES |= {f"cert_{name}": name for name in _CERTIFICATES}
_TLS_VERSIONS = {"771": 771, "tlsv1_2": 771, "tlsv1.2": 771, "772": 772, "tlsv1_3": 772, "tlsv1.3": 772}
_OPTIONS: dict[str, tuple[Callable[[str], Any], str]] = {
    "ssl_cert_reqs": (
        _one_of(_CERTIFICATES),
        "none, optional or required (or CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED)",
    ),
    "ssl_check_hostname": (_SWITCH, "true or false"),
    "ssl_min_version": (_one_of(_TLS_VERSIONS), "TLSv1_2 or TLSv1_3"),
    **dict.fromkeys(("ssl_ca_certs", "ssl_ca_path", "ssl_ca_data", "ssl_ciphers"), (str, "a text")),
    **dict.fromkeys(("ssl_certfile", "ssl_keyfile", "ssl_password"), (str, "a text")),
    "socket_timeout": (_number, "seconds"),
    "socket_connect_timeout": (_number, "seconds"),
    "socket_keepalive": (_SWITCH, "true or false"),
    "health_check_interval": (int, "whole seconds"),
    "max_connections": (int, "a whole number"),
    "protocol": (_one_of({"2": 2, "3": 3}), "2 or 3"),
    "client_name": (str, "a text"),
    "db": (int, "a whole number"),
    "username": (str, "a text"),
    "password": (str, "a text"),
}


def split_options(url: str) -> tuple[str, dict[str, Any]]:
    """The URL of a Redis server without its query, and the options of the query as redis-py takes them.

    TLS options may be spelled as in Celery and kombu (`ssl_cert_reqs=CERT_NONE`). Raises SettingsError for an unknown option,
    a bad value, or a TLS option in a URL without TLS.
    """
    parts = urlsplit(url)
    options: dict[str, Any] = {}
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        if name not in _OPTIONS:
            raise SettingsError(f"unknown option in the URL of Redis: {name[:40]}; permitted: {', '.join(_OPTIONS)}")
        read, permitted = _OPTIONS[name]
        try:
            options[name] = read(text)
        except (ValueError, KeyError):
            raise SettingsError(f"bad value of the option {name} in the URL of Redis; permitted: {permitted}") from None
    tls = next((name for name in options if name.startswith("ssl_")), None)
    if tls and not parts.scheme.startswith("rediss"):
        raise SettingsError(f"the option {tls} in the URL of Redis needs TLS; write the URL with rediss://")
    return urlunsplit(parts._replace(query="")), options
