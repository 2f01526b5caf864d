"""Ranking: how well a message answers a query by its words, and the place of another scorer that reads its text."""

import math
from collections.abc import Sequence
from typing import Protocol

import msgspec


class Bm25(msgspec.Struct, frozen=True):
    """BM25 (Robertson and Walker), with the rarity of words among all messages that are searched.

    `k1` bounds what a word said again adds, `b` is how far long messages are held back.
    """

    k1: float = 1.2
    b: float = 0.75

    def rarity(self, having: int, size: int) -> float:
        """What a word is worth that `having` of `size` messages have."""
        return math.log(1 + (size - having + 0.5) / (having + 0.5))

    def hold(self, length: int, average: float) -> float:
        """What a message of so many terms is held back by."""
        return self.k1 * (1 - self.b + self.b * length / average)


class Ranker(Protocol):
    """Another scorer, such as an embedder: it reads the texts of the best that the words found, and orders them anew."""

    pool: int  # how many of them it wants to read

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, the higher the better."""
        ...
