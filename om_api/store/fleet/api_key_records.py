"""The API keys of a store: one hash, a key's id -> what is kept of it, which is never its secret."""

from collections.abc import Iterable, Sequence

import msgspec

from om_api.domain.api_keys import (
    NOBODY,
    ApiKey,
    ExpiredKeyError,
    Proof,
    Role,
    Token,
    check_label,
    check_resources,
    hashed,
    new_key_id,
    new_secret,
)
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.push_limits import PushLimits
from om_api.domain.requests.request_rate import RequestRate
from om_api.domain.values import Outcome
from om_api.store.driver.replies import as_bytes, as_hash, as_int, as_list, nothing, says, server_ms, write
from om_api.store.driver.steps import Steps, Verb, batch
from om_api.store.memory.keys import Keys

_TRIES = 5
_AS_MUCH_AS_IT_LIKES = PushLimits()
_LONGEST_S = 36_500 * 86_400


def create(
    keys: Keys,
    resources: Sequence[str],
    role: str,
    *,
    label: str = "",
    expires_s: float = 0,
    rate: str = "",
    limits: PushLimits = _AS_MUCH_AS_IT_LIKES,
) -> Steps[tuple[ApiKey, Token]]:
    """A new key and its token, which can never be had again; it expires after `expires_s`, 0: never.

    Raises InvalidInputError for a role, a rate, a limit or a time that is none.
    """
    bound, called, known = check_resources(tuple(resources)), check_label(label), _role(role)
    messages, size = limits.checked()
    if rate:
        RequestRate.parse(rate)
    lasts = _lasting(expires_s)
    token = Token(new_key_id(), new_secret())
    at = _to_the_second((yield from server_ms()))
    key = ApiKey(
        id=token.id, role=known, resources=bound, hash=hashed(token.secret), created_at=at, label=called,
        expires_at=at + lasts if lasts else 0, rate=rate, push_messages=messages, push_bytes=size,
    )  # fmt: skip
    yield from write(("HSETNX", keys.api_keys, key.id, msgspec.json.encode(key)))
    return key, token


def _lasting(expires_s: float) -> int:
    """For how many ms a key lasts, 0: for good; raises InvalidInputError for a time that is none."""
    if expires_s and not 1 <= expires_s <= _LONGEST_S:
        raise InvalidInputError(
            f"a key expires after a second at least, and after {_LONGEST_S // 86_400:,} days at most"
        )
    return round(expires_s * 1_000)


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise InvalidInputError(f"role {name[:40]!r} is none of {', '.join(Role)}") from None


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
    ended = as_int("HDEL", keys.api_keys, key_id).writing()
    gone, _ = yield from batch(ended, as_int("HDEL", keys.api_keys_used, key_id).writing())
    return Outcome.CLEARED if gone else Outcome.SUPERSEDED


def rotate(keys: Keys, key_id: str, grace_s: float = 0) -> Steps[tuple[ApiKey, Token]]:
    """A new secret for a key; the old one is accepted for `grace_s` more.

    Raises NotFoundError when there is no such key, InvalidInputError when it has expired.

    Time 0: it is read. Time 1: its owner revokes it. Time 2: it is written only if it is still what was read, so what
    was revoked stays revoked.
    """
    for _ in range(_TRIES):
        now, was = yield from batch(server_ms(), as_bytes("HGET", keys.api_keys, key_id))
        if was is None:
            break
        key, token = msgspec.json.decode(was, type=ApiKey), Token(key_id, new_secret())
        if key.has_expired(now):
            raise InvalidInputError(
                f"key {key_id} has expired: om keys create makes another, om keys revoke removes it"
            )
        changed = _rotated(key, token, _to_the_second(now), grace_s)
        args = [key_id, was, msgspec.json.encode(changed)]
        if (yield from Verb("rekey", [keys.api_keys], args, says(b"rest"))):
            return changed, token
    raise NotFoundError(f"there is no key {key_id[:40]} (any more): om keys list names them")


def _rotated(key: ApiKey, token: Token, now_ms: int, grace_s: float) -> ApiKey:
    return msgspec.structs.replace(
        key,
        hash=hashed(token.secret),
        rotated_at=now_ms,
        previous=key.hash if grace_s else "",
        previous_until=now_ms + round(grace_s * 1_000) if grace_s else 0,
    )


def recognise(keys: Keys, proof: Proof | None) -> Steps[ApiKey | None]:
    """The key of whoever has a proof; None for any other. The same comparison whether or not there is such a key.

    One round trip; one more for the server's time where a key expires, or has had another token. Raises ExpiredKeyError
    where it has expired, for whoever has the right secret alone.
    """
    found = yield from as_bytes("HGET", keys.api_keys, proof.id if proof else "")
    key = msgspec.json.decode(found, type=ApiKey) if found else NOBODY
    now_ms = (yield from server_ms()) if key.changes_with_time else 0
    fits = key.fits(proof.hash if proof else "", now_ms)
    if not (fits and found and proof):
        return None
    if key.has_expired(now_ms):
        raise ExpiredKeyError(f"key {key.id} has expired: om keys create makes another")
    return key


def use(keys: Keys, ids: Iterable[str]) -> Steps[None]:
    """Note that keys were used just now."""
    yield from Verb("key_used", [keys.api_keys, keys.api_keys_used], list(ids), nothing)


def uses(keys: Keys) -> Steps[dict[str, int]]:
    """When each key was used last (Unix ms), about; who was never used is left out."""
    found = yield from as_hash("HGETALL", keys.api_keys_used)
    return {name.decode(): int(at) for name, at in found.items()}
