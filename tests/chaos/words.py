"""What is kept of every message, word for word: raw, sealed, or behind an observation."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import redis

MARK = re.compile(r"\[\[(w\d+-\d+)\]\]")
_HOLD_WORDS = ("messages", "sealed", "source")

Thread = tuple[str, str]  # a resource and a thread of it


class Words(NamedTuple):
    """What was said, where, and how late among its thread's messages."""

    where: Thread
    at: float
    said: str


def read(client: redis.Redis, prefix: str, resource: str = "*") -> dict[str, Words]:
    """The words of all messages by their ids, of one resource or of all."""
    found: dict[str, Words] = {}
    for kind in _HOLD_WORDS:
        for key in client.scan_iter(f"{prefix}:{{{resource}}}:{kind}:*", count=1000):
            whose = key.decode().removeprefix(prefix + ":{").partition("}:")[0]
            for member, at in client.zrange(key, 0, -1, withscores=True):
                message = json.loads(member)
                where = whose, str(message.get("thread_id", ""))
                found[message["id"]] = Words(where, at, str(message.get("content", "")))
    return found


def name_of(words: Mapping[str, Words], id_: str) -> str:
    """What a message is called here: the mark in its words, so that it is the same one under any id; else its id."""
    mark = MARK.search(words[id_].said) if id_ in words else None
    return mark[1] if mark else id_


def wrong(words: Mapping[str, Words], histories: Mapping[Thread, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """What of whole histories is not kept exactly once each, in the order in which it was said."""
    for thread, said in histories.items():
        kept = [own.said for own in sorted(words.values(), key=lambda own: own.at) if own.where == thread]
        asked, held = Counter(said), Counter(kept)
        for text in asked | held:
            if asked[text] != held[text]:
                mark = MARK.search(text)
                counted = f"was said {asked[text]} times in {thread}, and is kept {held[text]} times"
                yield mark[1] if mark else "", f"{text!r} {counted}"
        if asked == held and kept != list(said):
            at = next(n for n, (one, other) in enumerate(zip(kept, said, strict=True)) if one != other)
            yield "", f"the history of {thread} is kept in another order from its message {at} on"
