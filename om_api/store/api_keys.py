"""The API keys of a store: one hash, a key's id -> what is kept of it, which is never its secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from om_api.api_keys import NOBODY, ApiKey, Role, Token, check_resources, hashed, new_key_id, new_secret
from om_api.errors import InvalidInputError
from om_api.store import due
from om_api.store.steps import Batch, Steps, Verb
from om_api.values import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from om_api.store.keys import Keys

_TRIES = 5


def create(keys: Keys, resources: Sequence[str], role: str) -> Steps[tuple[ApiKey, Token]]:
    """A new key and its token, which can never be had again; raises InvalidInputError for a role nobody knows."""
    bound, known = check_resources(tuple(resources)), _role(role)
    token = Token(new_key_id(), new_secret())
    ((seconds, _),) = yield Batch([("TIME",)])
    key = ApiKey(id=token.id, role=known, resources=bound, hash=hashed(token.secret), created_at=int(seconds) * 1_000)
    yield Batch([("HSETNX", keys.api_keys, key.id, msgspec.json.encode(key))], writes=True)
    return key, token


def _role(word: str) -> Role:
    try:
        return Role(word)
    except ValueError:
        raise InvalidInputError(f"role {word[:40]!r} is none of {', '.join(Role)}") from None


def every(keys: Keys) -> Steps[list[ApiKey]]:
    """Every key, the oldest first."""
    (found,) = yield Batch([("HVALS", keys.api_keys)])
    return sorted(
        (msgspec.json.decode(value, type=ApiKey) for value in found), key=lambda key: (key.created_at, key.id)
    )


def revoke(keys: Keys, key_id: str) -> Steps[Outcome]:
    """End a key at once; `superseded` when there is none (any more)."""
    (gone,) = yield Batch([("HDEL", keys.api_keys, key_id)], writes=True)
    return Outcome.CLEARED if int(gone) else Outcome.SUPERSEDED


def rotate(keys: Keys, key_id: str, grace_s: float = 0) -> Steps[Token]:
    """A new secret for a key; the old one is accepted for `grace_s` more. Raises InvalidInputError when there is no such key.

    Time 0: it is read. Time 1: its owner revokes it. Time 2: it is written only if it is still what was read, so what
    was revoked stays revoked.
    """
    for _ in range(_TRIES):
        (seconds, _), was = yield Batch([("TIME",), ("HGET", keys.api_keys, key_id)])
        if was is None:
            break
        token, now_ms = Token(key_id, new_secret()), int(seconds) * 1_000
        key = msgspec.json.decode(was, type=ApiKey)
        changed = msgspec.structs.replace(
            key,
            hash=hashed(token.secret),
            rotated_at=now_ms,
            previous=key.hash if grace_s else "",
            previous_until=now_ms + round(grace_s * 1_000) if grace_s else 0,
        )
        done = yield Verb("rekey", [keys.api_keys], [key_id, was, msgspec.json.encode(changed)])
        if done == b"rest":
            return token
    raise InvalidInputError(f"there is no key {key_id[:40]} (any more): om keys list names them")


def recognise(keys: Keys, text: str) -> Steps[ApiKey | None]:
    """The key a token belongs to; None for any other text. The same comparison whether or not there is such a key.

    One round trip; one more for the server's time where a key has had another token.
    """
    token = Token.parse(text)
    (found,) = yield Batch([("HGET", keys.api_keys, token.id if token else "")])
    key = msgspec.json.decode(found, type=ApiKey) if found else NOBODY
    now_ms = (yield from due.server_ms()) if key.previous else 0
    fits = key.fits(token.secret if token else "", now_ms)
    return key if fits and found and token else None
