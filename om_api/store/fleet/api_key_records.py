"""The API keys of a store: one hash, a key's id -> what is kept of it, which is never its secret."""

from collections.abc import Sequence

import msgspec

from om_api.domain.api_keys import NOBODY, ApiKey, Role, Token, check_resources, hashed, new_key_id, new_secret
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome
from om_api.store.driver.replies import as_bytes, as_int, as_list, says, server_ms, write
from om_api.store.driver.steps import Steps, Verb, batch
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

_TRIES = 5


def create(keys: Keys, resources: Sequence[str], role: str) -> Steps[tuple[ApiKey, Token]]:
    """A new key and its token, which can never be had again; raises InvalidInputError for a role nobody knows."""
    bound = check_resources(tuple(resources))
    try:
        known = Role(role)
    except ValueError:
        raise InvalidInputError(f"role {role[:40]!r} is none of {', '.join(Role)}") from None
    token = Token(new_key_id(), new_secret())
    at = _to_the_second((yield from due.server_ms()))
    key = ApiKey(id=token.id, role=known, resources=bound, hash=hashed(token.secret), created_at=at)
    yield from write(("HSETNX", keys.api_keys, key.id, msgspec.json.encode(key)))
    return key, token


def _to_the_second(ms: int) -> int:
    return ms // 1_000 * 1_000


def every(keys: Keys) -> Steps[list[ApiKey]]:
    """Every key, the oldest first."""
    found = yield from as_list("HVALS", keys.api_keys)
    return sorted(
        (msgspec.json.decode(value, type=ApiKey) for value in found), key=lambda key: (key.created_at, key.id)
    )


def revoke(keys: Keys, key_id: str) -> Steps[Outcome]:
    """End a key at once; `superseded` when there is none (any more)."""
    gone = yield from as_int("HDEL", keys.api_keys, key_id).writing()
    return Outcome.CLEARED if gone else Outcome.SUPERSEDED


def rotate(keys: Keys, key_id: str, grace_s: float = 0) -> Steps[Token]:
    """A new secret for a key; the old one is accepted for `grace_s` more. Raises InvalidInputError when there is no such key.

    Time 0: it is read. Time 1: its owner revokes it. Time 2: it is written only if it is still what was read, so what
    was revoked stays revoked.
    """
    for _ in range(_TRIES):
        now, was = yield from batch(server_ms(), as_bytes("HGET", keys.api_keys, key_id))
        if was is None:
            break
        token, now_ms = Token(key_id, new_secret()), _to_the_second(now)
        key = msgspec.json.decode(was, type=ApiKey)
        changed = msgspec.structs.replace(
            key,
            hash=hashed(token.secret),
            rotated_at=now_ms,
            previous=key.hash if grace_s else "",
            previous_until=now_ms + round(grace_s * 1_000) if grace_s else 0,
        )
        args = [key_id, was, msgspec.json.encode(changed)]
        if (yield from Verb("rekey", [keys.api_keys], args, says(b"rest"))):
            return token
    raise InvalidInputError(f"there is no key {key_id[:40]} (any more): om keys list names them")


def recognise(keys: Keys, text: str) -> Steps[ApiKey | None]:
    """The key a token belongs to; None for any other text. The same comparison whether or not there is such a key.

    One round trip; one more for the server's time where a key has had another token.
    """
    token = Token.parse(text)
    found = yield from as_bytes("HGET", keys.api_keys, token.id if token else "")
    key = msgspec.json.decode(found, type=ApiKey) if found else NOBODY
    now_ms = (yield from due.server_ms()) if key.previous else 0
    fits = key.fits(token.secret if token else "", now_ms)
    return key if fits and found and token else None
