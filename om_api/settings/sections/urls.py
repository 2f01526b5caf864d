"""Addresses of servers, and their passwords kept out of sight."""

import re
from urllib.parse import quote

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
