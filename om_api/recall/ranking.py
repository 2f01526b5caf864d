"""Ranking: how well a message answers a query by its words, and the place of another scorer that reads its text."""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec


class Bm25(msgspec.Struct, frozen=True):
    """BM25 (Robertson and Walker), with the rarity of words among all messages that are searched.

    `k1` bounds what a word said again adds, `b` is how far long messages are held back.
    """

    k1: float = 0.9
    b: float = 0.4

    def rarity(self, having: int, size: int) -> float:
        """What a word is worth that `having` of `size` messages have."""
        return math.log(1 + (size - having + 0.5) / (having + 0.5))

    def scores(
        self, found: Sequence[tuple[float, Mapping[int, int]]], lengths: Sequence[int], average: float
    ) -> dict[int, float]:
        """The scores of messages that have any of some words: what each is worth, and how often it stands where.

        `lengths` are those of all messages of their source, `average` that of all sources.
        """
        least, more, top = self.k1 * (1 - self.b), self.k1 * self.b / average, 1 + self.k1
        scores: dict[int, float] = {}
        for worth, postings in found:
            whole = worth * top
            for place, times in postings.items():
                scores[place] = scores.get(place, 0.0) + whole * times / (times + least + more * lengths[place])
        return scores


class Ranker(Protocol):
    """Another scorer, such as an embedder: it reads the texts of the best that the words found, and orders them anew.

    `pool`: how many of them it wants to read.
    """

    pool: int

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, the higher the better."""
        ...
