"""Settings that stand in the store: one hash, an agent's name or glob -> a document as its file would be."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from om_api.domain.errors import QuotaReachedError
from om_api.settings.stored_layers import StoredTexts
from om_api.store.driver.replies import word
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.keys import Keys

MOST = 1_000  # entries
MOST_BYTES = 4 * 2**20  # of all of them
MOST_OF_A_KEY = MOST // 4  # entries last saved with one API key
MOST_BYTES_OF_A_KEY = MOST_BYTES // 4
_REMOVE = "redis-cli shows it (HGETALL), and removes what is not yours (HDEL, DEL)"


def read(keys: Keys, known: StoredTexts) -> Steps[StoredTexts]:
    """What the store says now: `known` itself while that is what it says. Never more than is read in bounds."""
    reply = yield from Verb("settings", [keys.settings], [known.digest, MOST, MOST_BYTES], _said)
    if reply[0] in _INSTEAD:
        return StoredTexts(mistake=_INSTEAD[reply[0]].format(keys.settings, reply[1].decode("ascii", "replace")))
    digest, texts = reply[0].decode(), reply[1:]
    return known if digest and digest == known.digest else StoredTexts(digest, _texts(texts))


def keep(
    keys: Keys,
    name: str,
    was: bytes | None,
    text: str | None,
    relied_on: Mapping[str, bytes] = MappingProxyType({}),
    by: str = "",
) -> Steps[bool]:
    """Put a text in the place of the entry that `was` read, None removing it; False if it is another one by now.

    False also if one of the entries that the change relies on is another one, b"" being none. An entry counts
    against the API key `by` that saved it last; without one, as from the command line, only the store's bounds apply. Raises
    QuotaReachedError where there is no room, in all or of this key.
    """
    others = [word for pair in relied_on.items() for word in pair]
    bounds = [MOST, MOST_BYTES, by, MOST_OF_A_KEY, MOST_BYTES_OF_A_KEY]
    arguments = [name, was or b"", text or "", *bounds, *others]
    did = yield from Verb("keep_settings", [keys.settings, keys.settings_by], arguments, word)
    if did in {"full", "full_of_key"}:
        entries, size, of = MOST, MOST_BYTES, ""
        if did == "full_of_key":
            entries, size, of = MOST_OF_A_KEY, MOST_BYTES_OF_A_KEY, " of this key"
        raise QuotaReachedError(
            f"no room for more settings in the store: at most {entries:,} agents and {size:,} bytes{of}; remove some first (om"
            " config unset), or use a glob"
        )
    return did == "kept"


_INSTEAD = {
    b"kind": f"{{}} is a {{}} and no hash: {_REMOVE}",
    b"entries": f"{{}} holds {{}} entries; permitted: {MOST:,}; {_REMOVE}",
    b"bytes": f"{{}} holds {{}} bytes; permitted: {MOST_BYTES:,}; {_REMOVE}",
}


def _said(reply: Any) -> list[bytes]:
    return list(reply)


def _texts(said: list[bytes]) -> dict[str, bytes]:
    pairs = zip(said[::2], said[1::2], strict=True)
    return {name.decode("utf-8", "replace"): text for name, text in pairs}
