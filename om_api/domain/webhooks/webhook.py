"""A webhook: where events are sent, which of them, and until when."""

import re
import secrets
from collections.abc import Collection
from fnmatch import fnmatchcase
from urllib.parse import SplitResult, urlsplit

import msgspec

from om_api.domain.api_keys import EVERY
from om_api.domain.errors import InvalidInputError
from om_api.domain.events import GAP, Event, Wanted
from om_api.domain.learned import learned
from om_api.domain.webhooks.addresses import is_public

MOST = 100  # webhooks of one store
MOST_OF_A_KEY = 20  # of them made with one API key
LONGEST_URL = 2_000
GONE = "its receiver answered 410 Gone"
ID = re.compile(r"[0-9a-f]{12}")
_GLOB = re.compile(r"[A-Za-z0-9._:@+*?\[\]!-]{1,200}")
_URL = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")  # so that every reader of it reads the same


@learned
class Webhook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where events are sent: of these kinds (none: all), of resources that fit one of the globs, behind the event `after`.

    `secret` signs deliveries. `disabled` says why nothing is sent any more, "" while something is. `by` is the API key that it
    was made with, "" where an administrator made it.
    """

    id: str
    url: str
    secret: str
    events: tuple[str, ...] = ()
    resources: tuple[str, ...] = (EVERY,)
    after: str = "0-0"
    created_at: int = 0
    disabled: str = ""
    by: str = ""

    def takes(self, event: Event) -> bool:
        """Whether an event is to be sent; a gap is to be, whatever was asked for, since it may have held anything."""
        if self.disabled or place(event.id) <= place(self.after):
            return False
        if event.kind == GAP:
            return True
        return (not self.events or event.kind in self.events) and any(
            fnmatchcase(event.resource, glob) for glob in self.resources
        )

    def __repr__(self) -> str:
        """What may stand in a log: neither the secret nor the address."""
        return f"Webhook({self.id}, {self.host})"

    @property
    def host(self) -> str:
        """Where it leads to, and nothing of what a path or a query may keep secret."""
        return urlsplit(self.url).hostname or ""


def place(event_id: str) -> tuple[int, int]:
    """Where an event stands among all others."""
    ms, _, number = event_id.partition("-")
    return int(ms), int(number or 0)


def new_id() -> str:
    """A webhook's public name."""
    return secrets.token_hex(6)


def check_events(names: Collection[str]) -> tuple[str, ...]:
    """Kinds of events, in the order given; raises InvalidInputError for one that does not exist."""
    return tuple(dict.fromkeys(Wanted.of(names, ()).kinds))


def check_resources(globs: Collection[str]) -> tuple[str, ...]:
    """Ids of resources, or globs of them; raises InvalidInputError for what could fit none. None: every one."""
    for glob in globs:
        if not _GLOB.fullmatch(glob):
            permitted = "permitted: 1 to 200 of A-Z a-z 0-9 . _ : @ + - and the globs * ? [a-z] [!a]"
            raise InvalidInputError(f"resource {glob[:80]!r} fits nobody's name; {permitted}")
    return tuple(dict.fromkeys(globs)) or (EVERY,)


def check_url(url: str, *, allow_private: bool) -> str:
    """An address to which events may be sent; raises InvalidInputError, which says why not. Its name is looked up later."""
    if len(url) > LONGEST_URL or not _URL.fullmatch(url):
        raise _unusable(
            f"it must be up to {LONGEST_URL:,} ASCII characters without spaces (a name as xn--…, the rest with %)"
        )
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise _unusable("its host or port cannot be read; use https://<host>[:<port>]/<path>") from None
    _check_parts(parts, host, allow_private=allow_private)
    return url


def _check_parts(parts: SplitResult, host: str, *, allow_private: bool) -> None:
    if parts.scheme not in ({"https", "http"} if allow_private else {"https"}) or not host:
        raise _unusable("it must begin with https://<host>; http:// takes webhooks.allow_private: true")
    if "@" in parts.netloc or parts.fragment:
        raise _unusable("leave out name, password and #fragment: deliveries are signed instead")
    if not allow_private and _is_private(host):
        raise _unusable(f"{host} is no public address; webhooks.allow_private: true permits those of your own network")


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not is_public(host)
    except ValueError:  # a name
        return False


def _unusable(why: str) -> InvalidInputError:
    return InvalidInputError(f"the URL cannot be a webhook's: {why}")
