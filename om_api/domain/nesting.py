"""How deep JSON of callers may nest: one limit, so that stored JSON can be read at any depth of the reader's stack."""

from om_api.domain.errors import InvalidInputError

MAX_DEPTH = 100  # levels
_NO_BRACKETS = bytes({*range(256)} - {*b"[]{}"})


def check_depth(written: bytes, what: str = "it") -> None:
    """Raise InvalidInputError for JSON that nests deeper than MAX_DEPTH levels. It is not parsed; time is linear."""
    if written.count(b"{") + written.count(b"[") <= MAX_DEPTH:
        return
    depth = 0
    for byte in _brackets(written):
        depth += 1 if byte in b"{[" else -1
        if depth > MAX_DEPTH:
            raise InvalidInputError(f"{what} nests deeper than {MAX_DEPTH} levels of JSON")


def _brackets(written: bytes) -> bytes:
    """The brackets of JSON, without those in its texts; each step of it is short, however long the JSON is."""
    texts = written.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
    return b"".join(texts[::2]).translate(None, _NO_BRACKETS)
