"""Messages that are in no segment yet, searched as they are: the same interface as a segment's, and as Distant's."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from om_api.recall.analysis import AUTO, analyse, is_anywhere
from om_api.recall.segment import Findable, Postings, check_of


class Source(Protocol):
    """Messages of one thread that can be searched: a Segment or Loose. A place is a message's number in it, from 0.

    `size`: how many messages; `length`: how many terms they have together; `languages`: those met.
    """

    thread: str
    size: int
    length: int
    languages: frozenset[str]

    def postings(self, terms: Iterable[str]) -> list[Postings]:
        """Where each term stands, and how often; empty if nowhere."""
        ...

    def lengths(self) -> Sequence[int]:
        """How many terms each message has."""
        ...

    def times(self) -> Sequence[int]:
        """When each message was said, in Unix ms."""
        ...

    def at(self, place: int) -> int:
        """When a message was said, in Unix ms."""
        ...

    def role(self, place: int) -> str:
        """Who said it."""
        ...

    def check(self, place: int) -> int:
        """Four bytes of its id, see `check_of`."""
        ...


class Loose:
    """Raw and sealed messages of one thread; a text that was read once is not read again."""

    def __init__(self, thread: str, messages: Sequence[Findable], language: str = AUTO) -> None:
        self.thread, self.size, self._messages = thread, len(messages), messages
        read = [analyse(message.text, language) for message in messages]
        self.languages = frozenset({analysis.language for analysis in read})
        self._terms = [analysis.terms for analysis in read]
        self._lengths = [analysis.length for analysis in read]
        self.length = sum(self._lengths)

    def postings(self, terms: Iterable[str]) -> list[Postings]:
        """Where each term stands, and how often; empty if nowhere."""
        return [self._look(term) for term in terms]

    def _look(self, term: str) -> Postings:
        if is_anywhere(term):
            return self._anywhere(term[1:])
        return {place: terms[term] for place, terms in enumerate(self._terms) if term in terms}

    def _anywhere(self, part: str) -> Postings:
        found = (sum(times for term, times in terms.items() if part in term) for terms in self._terms)
        return {place: times for place, times in enumerate(found) if times}

    def lengths(self) -> Sequence[int]:
        """How many terms each message has."""
        return self._lengths

    def times(self) -> Sequence[int]:
        """When each message was said, in Unix ms."""
        return [message.at for message in self._messages]

    def at(self, place: int) -> int:
        """When a message was said, in Unix ms."""
        return self._messages[place].at

    def role(self, place: int) -> str:
        """Who said it."""
        return self._messages[place].role

    def check(self, place: int) -> int:
        """Four bytes of its id, see `check_of`."""
        return check_of(self._messages[place].id)
