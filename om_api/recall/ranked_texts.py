"""Ranking a handful of texts that no index holds: which of them answer a query by their words, best first."""

from collections.abc import Sequence

from om_api.recall.analysis import analyse, asked_pieces, is_anywhere, is_stop, language_of, piece_variants
from om_api.recall.query import MOST_WORDS
from om_api.recall.ranking import Bm25
from om_api.recall.wording import words_of

_READ = 8_000  # characters of a query
_WEIGHING = Bm25()


def ranked(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """The places of the texts that have any word of a query, with how well they answer it; of equal ones the first first."""
    read = [analyse(text) for text in texts]
    languages = {each.language for each in read}
    lengths = [each.length for each in read]
    found: list[tuple[float, dict[int, int]]] = []
    for piece in _pieces(query[:_READ]):
        variants = piece_variants(piece, languages)
        counts = {place: _times(variants, each.terms) for place, each in enumerate(read)}
        having = {place: times for place, times in counts.items() if times}
        found.append((_WEIGHING.rarity(len(having), len(texts)), having))
    scores = _WEIGHING.scores(found, lengths, max(sum(lengths) / max(len(texts), 1), 1))
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))


def _pieces(query: str) -> list[str]:
    """The words that are looked for: those that say something, or all of a query of little words."""
    pieces, language = asked_pieces(query), language_of(words_of(query), query)
    return ([piece for piece in pieces if not is_stop(piece, language)] or pieces)[:MOST_WORDS]


def _times(variants: frozenset[str], terms: dict[str, int]) -> int:
    """How often a text has any of some terms; one that `is_anywhere` is found within others."""
    times = sum(terms.get(variant, 0) for variant in variants)
    for variant in filter(is_anywhere, variants):
        times += sum(count for term, count in terms.items() if variant[1:] in term)
    return times
