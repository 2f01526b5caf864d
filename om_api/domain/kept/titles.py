"""What threads are called, and what else their owner says of them."""

import json
from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.extractors import TITLE
from om_api.domain.nesting import check_depth
from om_api.domain.values import MemoryMode, shown

SUGGESTED = "observer"  # who a title is by that gives way to the next suggestion
LEAST, MOST = 3, 80  # characters of a suggested title
_LONGEST = 200  # of one that somebody gives
_LONGEST_METADATA = 4_096  # bytes of its JSON
_AROUND = "\"'`*_#“”‘’ "


def suggestion(extracted: Mapping[str, Any]) -> str:
    """The title that an Observer suggests, on one line; "" where it suggests none, or what is none."""
    said = extracted.get(TITLE)
    title = " ".join(said.split()).strip(_AROUND).rstrip(".") if isinstance(said, str) else ""
    return title if LEAST <= len(title) <= MOST and title.isprintable() else ""


def check_title(title: object) -> str:
    """A title that somebody gives a thread, "" to take it back; raises InvalidInputError."""
    if not isinstance(title, str) or len(title) > _LONGEST or not title.isprintable():
        raise InvalidInputError(
            f"title {shown(title)!r} is none: use one line of at most {_LONGEST} characters, or nothing to have one suggested"
        )
    return title.strip()


def check_metadata(metadata: object) -> bytes:
    """What somebody says of a thread, as JSON; raises InvalidInputError."""
    if not isinstance(metadata, Mapping):
        raise InvalidInputError(f"metadata {shown(metadata)!r} is none: use an object such as {{'project': 'roof'}}")
    try:
        json.dumps(metadata, allow_nan=False)
        text = msgspec.json.encode(metadata)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"metadata cannot be written as JSON: {str(error)[:200]}") from None
    check_depth(text, "metadata")
    if len(text) > _LONGEST_METADATA:
        raise InvalidInputError(f"metadata is of {len(text):,} bytes as JSON: at most {_LONGEST_METADATA:,}")
    return text


def check_memory_mode(mode: MemoryMode) -> MemoryMode:
    """A thread's memory mode; raises InvalidInputError."""
    modes = get_args(MemoryMode)
    if not isinstance(mode, str) or mode not in modes:
        raise InvalidInputError(f"invalid memory mode: {shown(mode)!r}; use one of {', '.join(modes)}")
    return mode


def metadata_of(text: str) -> dict[str, Any]:
    """What a thread's hash says of metadata; nothing where somebody wrote what is none."""
    try:
        found = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
