"""Tokens that open the stream of events for a moment, where no header can be sent: kept as their hashes, and not for long."""

from om_api.domain.api_keys import Proof, hashed, new_secret
from om_api.store.driver.replies import as_bytes, write
from om_api.store.driver.steps import Steps
from om_api.store.memory.keys import Keys

LASTS_S = 60


def create(keys: Keys, proof: Proof) -> Steps[str]:
    """A token that is as good as the key's own for events, for LASTS_S; it ends with the key, and with the key's secret."""
    token = f"oms_{new_secret()}"
    kept = f"{proof.id}|{proof.hash}"
    yield from write(("SET", keys.stream_token(hashed(token)), kept, "EX", LASTS_S))
    return token


def proof_of(keys: Keys, token: str) -> Steps[Proof | None]:
    """Whose token it is; None for one that nobody knows (any more)."""
    found = yield from as_bytes("GET", keys.stream_token(hashed(token)))
    return Proof(*found.decode().split("|")) if found else None
