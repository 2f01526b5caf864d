"""The members of an entry as one text that people can query: a JSON array of `[score, member]`.

A member that is JSON stands in it as it was written; any other is `[score, null, "<base64>"]`. Bytes and scores come back
exactly.
"""

import math
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import msgspec

from om_api.domain.errors import ArchiveError

_EXACT: Final = float(2**53)  # whole numbers below are written without a point
_DEEPEST: Final = 200  # levels: readers of JSON in databases give up at 1,000 or by the size of their stack
_TEXTS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_OTHERS: Final = bytes({*range(256)} - {*b"[]{}"})


class _Pair(msgspec.Struct, array_like=True):
    score: float
    member: msgspec.Raw
    encoded: str | None = None


_pairs = msgspec.json.Decoder(list[_Pair]).decode


def to_body(members: Sequence[tuple[bytes, float]]) -> str:
    """Write members; raises ArchiveError for a score that is no finite number."""
    pairs = [(member, _number(score)) for member, score in members]
    body = b"[%b]" % b",".join(b"[%b,%b]" % (score, member) for member, score in pairs)
    if not _is_legible(body, [member for member, _ in pairs]):
        body = b"[%b]" % b",".join(b"[%b,%b]" % (score, _written(member)) for member, score in pairs)
    return body.decode()


def from_body(body: str) -> tuple[tuple[bytes, float], ...]:
    """Read what `to_body` wrote; raises ArchiveError for what it did not write."""
    try:
        return tuple((_member(pair), pair.score) for pair in _pairs(body))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise ArchiveError("its body is not what was archived: restore the archive from a backup") from None


def _number(score: float) -> bytes:
    score = float(score)
    if not math.isfinite(score):
        raise ArchiveError(f"a member's score is {score}, and no finite number")
    is_plain = score.is_integer() and abs(score) < _EXACT and (score or math.copysign(1, score) > 0)
    return b"%d" % int(score) if is_plain else repr(score).encode()


def _written(member: bytes) -> bytes:
    return member if _is_legible(b"[[0,%b]]" % member, [member]) else b'null,"%b"' % b64encode(member)


def _member(pair: _Pair) -> bytes:
    return bytes(pair.member) if pair.encoded is None else b64decode(pair.encoded, validate=True)


def _is_legible(body: bytes, members: list[bytes]) -> bool:
    """Whether members come back from within a body as they are, and whether every reader of JSON takes it."""
    try:
        msgspec.json.decode(body)
        return [bytes(pair.member) for pair in _pairs(body)] == members and all(map(_is_flat, members))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def _is_flat(member: bytes) -> bool:
    if member.count(b"[") + member.count(b"{") <= _DEEPEST:
        return True
    brackets = _TEXTS.sub(b"", member).translate(None, _OTHERS)
    return max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0) <= _DEEPEST
