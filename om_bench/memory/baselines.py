"""Baselines: what else a context of so many tokens could be made of."""

import logging
import random
from datetime import UTC, datetime

try:
    import bm25s
except ImportError:  # the extra `bench` is not installed
    bm25s = None

from collections.abc import Callable, Iterable, Iterator, Sequence

from om_api.domain.errors import SettingsError
from om_api.domain.messages import Message
from om_bench.harness.stems import INSTALL, stems
from om_bench.harness.talks import TalkQuestion, seen

_SEED = 1
logging.getLogger("bm25s").setLevel(logging.WARNING)  # it would tell of every index that it builds


def shown(messages: Iterable[Message]) -> str:
    """Messages as plain text, each on a line, under the dates of their days."""
    return "\n".join(_lines(messages))


def _lines(messages: Iterable[Message]) -> Iterator[str]:
    day = ""
    for message in messages:
        now = f"{datetime.fromtimestamp(message.at / 1000, UTC):%b %d, %Y}"
        if now != day:
            yield f"Date: {now}"
            day = now
        yield " ".join(seen(message).split())


def last(messages: Sequence[Message], tokens: int, count: Callable[[str], int]) -> str:
    """The newest messages that fit."""
    return shown(_fitting(messages[::-1], messages, tokens, count))


def at_random(messages: Sequence[Message], tokens: int, count: Callable[[str], int]) -> str:
    """Any messages that fit, the same ones every time."""
    order = list(messages)
    random.Random(_SEED).shuffle(order)
    return shown(_fitting(order, messages, tokens, count))


class Searched:
    """BM25 over the messages: a context of its own for each question, which a memory that is written ahead cannot have."""

    def __init__(self, messages: Sequence[Message]) -> None:
        if bm25s is None:
            raise SettingsError(INSTALL)
        self._messages = messages
        self._index = bm25s.BM25()
        self._index.index([_words(seen(message)) for message in messages], show_progress=False)

    def find(self, question: TalkQuestion, tokens: int, count: Callable[[str], int]) -> str:
        """The best messages that fit, in their own order."""
        scores = self._index.get_scores(_words(question.text) or [""])
        order = sorted(range(len(self._messages)), key=lambda place: (-float(scores[place]), place))
        return shown(_fitting([self._messages[place] for place in order], self._messages, tokens, count))


def _words(text: str) -> list[str]:
    return [stem for stem in stems(text) if stem]


def _fitting(
    order: Iterable[Message], messages: Sequence[Message], tokens: int, count: Callable[[str], int]
) -> list[Message]:
    """The first of an order that fit together, with a header for each of their days, as they came."""
    taken: set[str] = set()
    days: set[int] = set()
    for message in order:
        day = message.at // 86_400_000
        cost = count(seen(message)) + 1 + (day not in days) * count("Date: Jan 01, 2000\n")
        if cost > tokens:
            break
        tokens -= cost
        taken.add(message.id)
        days.add(day)
    return [message for message in messages if message.id in taken]
