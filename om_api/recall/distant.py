"""A part of the past of which only the head is known: it counts among what is searched, and holds none of the words sought."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from om_api.recall.segment import Postings


@dataclass(slots=True)
class Distant:
    """A chunk's messages that were not fetched, because none of them can answer: how many, and how many terms they have.

    `first_at`: when the first was said (Unix ms).
    """

    thread: str
    size: int
    length: int
    languages: frozenset[str]
    first_at: int

    def postings(self, terms: Iterable[str]) -> list[Postings]:
        """Nowhere: else it would have been fetched."""
        return [{} for _ in terms]

    def lengths(self) -> Sequence[int]:
        """Nobody asks: nothing is found here."""
        return ()

    def times(self) -> Sequence[int]:
        """None in the days that are sought: else it would have been fetched."""
        return ()

    def at(self, place: int) -> int:
        """When the first was said, whatever the place: parts are put in order by it."""
        del place
        return self.first_at

    def role(self, place: int) -> str:
        """Nobody asks."""
        raise LookupError(place)

    def check(self, place: int) -> int:
        """Nobody asks: who looks for an id fetches what may hold it."""
        raise LookupError(place)
