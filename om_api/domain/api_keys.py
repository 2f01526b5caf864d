"""API keys: what one may do, to whose memories, and how it is recognised without being kept."""

import hashlib
import hmac
import re
import secrets
from enum import StrEnum
from typing import NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError, OMError
from om_api.domain.learned import learned
from om_api.domain.push_limits import ANYBODY, Pusher, PushLimits
from om_api.domain.values import check_id

EVERY = "*"
LONGEST_LABEL = 40
_TOKEN = re.compile(r"om_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


class Role(StrEnum):
    """What a key may do; each role may also do what the ones before it may."""

    READER = "reader"
    WRITER = "writer"
    OPERATOR = "operator"

    def includes(self, needed: "Role") -> bool:
        """Whether this role may do what needs another one."""
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(needed)


class ExpiredKeyError(OMError):
    """A token is right, and its key has expired."""


class Proof(NamedTuple):
    """What is left of a token without its secret: the key's id, and the secret's hash (SHA-256, hex)."""

    id: str
    hash: str


@learned
class ApiKey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A key as it is kept: whom it is bound to, and hashes (SHA-256, hex) of its secret, and of the one before it.

    `label` is what its owner calls it. From `expires_at` (Unix ms) on it opens nothing; 0: it lasts. `rate`, such as 60/m,
    is how often it may ask; "": as often as it likes. `push_messages` and `push_bytes` are how many it may push to any one
    resource in a second; 0: as many as it likes.

    The secret is 256 random bits, so there is nothing to guess and nothing a slow hash would protect: that is for
    passwords. `previous` is accepted until `previous_until` (Unix ms), so that a rotation need not stop an agent.
    """

    id: str
    role: Role
    resources: tuple[str, ...]
    hash: str
    created_at: int
    rotated_at: int = 0
    previous: str = ""
    previous_until: int = 0
    label: str = ""
    expires_at: int = 0
    rate: str = ""
    push_messages: float = 0
    push_bytes: float = 0

    @property
    def pusher(self) -> Pusher:
        """Who it is to what pushes are limited by: nobody, unless it is limited."""
        limits = PushLimits(self.push_messages, self.push_bytes)
        return Pusher(self.id, limits) if any(limits) else ANYBODY

    @property
    def changes_with_time(self) -> bool:
        """Whether what it opens depends on what time it is."""
        return bool(self.previous or self.expires_at)

    def has_expired(self, now_ms: int) -> bool:
        """Whether it opens nothing any more."""
        return 0 < self.expires_at <= now_ms

    @property
    def bound(self) -> tuple[str, ...] | None:
        """The resources that it is bound to; None: every one."""
        return None if EVERY in self.resources else self.resources

    def covers(self, resource: str) -> bool:
        """Whether it is bound to this resource, or to every one."""
        return EVERY in self.resources or resource in self.resources

    def fits(self, given: str, now_ms: int) -> bool:
        """Whether a secret of this hash is this key's. Takes the same time for every wrong one."""
        before = self.previous if now_ms < self.previous_until else ""
        return hmac.compare_digest(given, self.hash) | hmac.compare_digest(given, before)


class Token(NamedTuple):
    """What a client sends: the key's id, by which it is found, and the secret, by which it is recognised."""

    id: str
    secret: str

    def __str__(self) -> str:
        """Write the token as a client sends it."""
        return f"om_{self.id}_{self.secret}"

    @property
    def proof(self) -> Proof:
        """What may be kept of it."""
        return Proof(self.id, hashed(self.secret))

    @classmethod
    def parse(cls, text: str) -> "Token | None":
        """Read what `str` wrote; None for anything else."""
        found = _TOKEN.fullmatch(text)
        return cls(found[1], found[2]) if found else None


NOBODY = ApiKey(
    id="", role=Role.READER, resources=(), hash="0" * 64, created_at=0
)  # compared with where there is no key


def new_secret() -> str:
    """256 random bits, in 43 letters."""
    return secrets.token_urlsafe(32)


def new_key_id() -> str:
    """A key's public name."""
    return secrets.token_hex(6)


def hashed(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def check_resources(names: tuple[str, ...]) -> tuple[str, ...]:
    """The resources a key is to be bound to; raises InvalidInputError unless there is one, and each is an id or `*`."""
    if not names:
        raise InvalidInputError("a key is bound to at least one resource: name it, or * for every one")
    return tuple(sorted({name if name == EVERY else check_id(name, "resource") for name in names}))


def check_label(text: str) -> str:
    """What a key is to be called; raises InvalidInputError unless it is one short line, or nothing."""
    if len(text) > LONGEST_LABEL or not text.isprintable():
        raise InvalidInputError(f"label {text[:60]!r} is none: it is one line of at most {LONGEST_LABEL} characters")
    return text.strip()
