"""About how many bytes of memory something takes once it was decoded and rendered: what caches are bounded by."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from om_api.domain.messages import Message
from om_api.domain.values import Stored
from om_api.store.driver.replies import Pair

_ENTRY = 1_200  # an empty message: its member, score, value, block and turn, and its place in the lists of them
_RENDERED = 3  # where tags are escaped what is said stands in the value, in a block, and in a turn or the text of all
_NAME = 60  # an id of usual length
FIELD = 150  # a field of a hash, without its value


def of(pair: Pair, value: object) -> int:
    """What a member takes, with what it says and what is rendered of that."""
    return _ENTRY + len(pair[0]) + _said(value)


def of_hash(fields: Mapping[bytes, bytes]) -> int:
    """What a hash takes that is kept as it was read."""
    return FIELD * len(fields) + sum(map(len, fields.values()))


def _said(value: object) -> int:
    if isinstance(value, Message):
        beside = _deep(value.metadata) if value.metadata else 0
        if isinstance(value.content, str):
            return beside + _RENDERED * sys.getsizeof(value.content)
        return beside + _RENDERED * _deep(value.content)
    if isinstance(value, Stored):
        said = value.observation
        return _RENDERED * sys.getsizeof(said.text) + _NAME * len(said.message_ids)
    return 0


def _deep(value: Any) -> int:
    """What nested lists and dicts take, with all that is in them but names: of these the decoder makes one for all."""
    size, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        size += sys.getsizeof(one)
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return size
