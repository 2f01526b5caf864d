"""Sessions of pages: whoever signed in with a key shows a token instead, kept as its hash, until it expires or is ended."""

from om_api.domain.api_keys import Proof, hashed, new_secret
from om_api.store.driver.replies import as_bytes, write
from om_api.store.driver.steps import Steps
from om_api.store.memory.keys import Keys

LASTS_S = 12 * 3_600


def begin(keys: Keys, proof: Proof) -> Steps[str]:
    """A token that is as good as the key's own for pages, for LASTS_S; it ends with the key, and with the key's secret."""
    token = new_secret()
    yield from write(("SET", keys.session(hashed(token)), f"{proof.id}|{proof.hash}", "EX", LASTS_S))
    return token


def proof_of(keys: Keys, token: str) -> Steps[Proof | None]:
    """Who signed in; None for a token that nobody knows (any more)."""
    found = yield from as_bytes("GET", keys.session(hashed(token)))
    return Proof(*found.decode().split("|")) if found else None


def end(keys: Keys, token: str) -> Steps[None]:
    """Have a token open nothing from now on."""
    yield from write(("UNLINK", keys.session(hashed(token))))
