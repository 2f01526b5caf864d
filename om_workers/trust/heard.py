"""What was heard: the words of those who are trusted, and of those who are not, as notes are held against them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from om_api.domain.notes.marks import Kind, Mark
from om_workers.trust.about import language_of, names, tells_of_somebody, tells_of_user
from om_workers.trust.assents import assented
from om_workers.trust.looks import Look, look_of
from om_workers.trust.reading import sentences, words_of
from om_workers.trust.sayings import Saying

_FOLLOWS = 2  # sentences behind an order that are of a piece with it
_BRIEF = 400  # characters of a saying that is all of a piece with an order in it
TOLD = 0.6  # the share of a note's words from which on it is what a saying says
_NEARLY = 0.75
_NOTES = "en"  # the language of notes that do not tell theirs
_MOST = 100  # pieces that a note is compared with
_SEVERAL = "several sources"
_CODE = 2  # letters of a language's code, where a script's name has more


class HeardWords(NamedTuple):
    """Something that is said: its words, by whom, and as what it would be quoted."""

    source: str
    words: frozenset[str]
    kind: Kind = "order"


_NOBODY = HeardWords("", frozenset())


class Heard:
    """The words of sayings by whom they are, of what was quoted `before`, and of the earlier notes that are `vouched` for."""

    def __init__(self, sayings: Sequence[Saying], before: Sequence[Mark] = (), vouched: Sequence[str] = ()) -> None:
        self._sayings, self._lines = [*sayings, *assented(sayings)], vouched
        self.before = [HeardWords(mark.source, words_of(mark.said), mark.kind) for mark in before]

    @cached_property
    def harmless(self) -> bool:
        """Whether nothing that is not trusted was said: notes stand as they are then."""
        return not self.before and all(each.trusted for each in self._sayings) and not self._repeated_orders

    @cached_property
    def orders(self) -> list[HeardWords]:
        """The sentences that speak to a model, of those whom nobody trusts."""
        found = [piece for each in self._strangers for piece in _orders(each, Look.ADDRESSES)]
        return _few([*self.before, *found, *self._repeated_orders])

    def orders_like(self, text: str) -> Iterator[HeardWords]:
        """The same, less what was quoted before and names nothing that a text names: what that shares are common words."""
        called = names(text)
        before = frozenset(self.before) if called else frozenset[HeardWords]()
        return (each for each in self.orders if each not in before or called & each.words)

    def quoted_before(self, told: frozenset[str]) -> list[HeardWords]:
        """What was quoted before that some words may repeat: what has the same words, else all of it."""
        same = self._quoted.get(told)
        return [same] if same else self._before

    @cached_property
    def _quoted(self) -> dict[frozenset[str], HeardWords]:
        return {each.words: each for each in reversed(self.before)}

    @cached_property
    def _before(self) -> list[HeardWords]:
        return _few(self.before)

    @cached_property
    def suspects(self) -> list[str]:
        """Who gives a model orders in this very conversation: whatever else looks like one is hardly a user's wish then."""
        return [each.source for each in self._strangers if look_of(each.text) is Look.ORDERS]

    @cached_property
    def distrusted(self) -> list[HeardWords]:
        """What each says whom nobody trusts."""
        return _few([HeardWords(each.source, words) for each, words in self._words if not each.trusted])

    @cached_property
    def claimants(self) -> list[HeardWords]:
        """Those who may say nothing of the user that stands: what the user himself pastes may well be true of him."""
        said = ((each.source, words) for each, words in self._words if not (each.trusted or each.pasted))
        return _few([HeardWords(source, words) for source, words in said])

    @cached_property
    def telling(self) -> list[HeardWords]:
        """The sentences of claimants that tell of a user or some person."""
        strangers = (each for each in self._strangers if not each.pasted and tells_of_somebody(each.text))
        said = ((each.source, text) for each in strangers for text in sentences(each.text) if tells_of_somebody(text))
        return _few([HeardWords(source, words_of(text)) for source, text in said])

    @cached_property
    def own(self) -> frozenset[str]:
        """The words of people who speak for themselves."""
        return frozenset[str]().union(*(words for _, words in self._people))

    @cached_property
    def ours(self) -> frozenset[str]:
        """The words of all who are trusted, less what an assistant repeats of an order or of a claim about the user."""
        said = (text for each in self._assistants for text in sentences(each.text) if not self._is_repeated(text))
        return self.own.union(*map(words_of, said))

    def best(self, told: frozenset[str], pieces: Iterable[HeardWords]) -> tuple[float, HeardWords]:
        """Which of some pieces says most of what words tell, and how much of it."""
        near = (each for each in pieces if not told.isdisjoint(each.words))
        return max(
            ((self.share(told, each.words), each) for each in near), key=lambda each: each[0], default=(0.0, _NOBODY)
        )

    def share(self, told: frozenset[str], known: frozenset[str]) -> float:
        """How much of what words tell is among others: rare ones tell more."""
        whole = sum(map(self._worth, told))
        return sum(map(self._worth, told & known)) / whole if whole else 0.0

    def known(self, told: frozenset[str], words: frozenset[str]) -> float:
        """How much of what words tell is among others, or in one earlier note on the user that says nearly all of it."""
        return max(self.share(told, words), self._noted(told))

    def alone(self, told: frozenset[str]) -> float:
        """How much of it that saying says which says most of it, of people who speak for themselves."""
        own = max((self.share(told, words) for _, words in self._people), default=0.0)
        return max(own, self._noted(told))

    def _noted(self, told: frozenset[str]) -> float:
        """How much of it one earlier note on the user says, that says nearly all of it."""
        shares = (self.share(told, line) for line in self._vouched)
        return max((share for share in shares if share >= _NEARLY), default=0.0)

    def named_by(self, text: str, pieces: Iterable[HeardWords]) -> str:
        """Who alone says the names in a text, in whatever language he says the rest; "" where somebody trusted says one too."""
        called = names(text)
        if not called or called & self.ours.union(*self._vouched):
            return ""
        named, piece = self.best(called, pieces)
        return piece.source if named >= TOLD else ""

    def in_another_language(self, text: str) -> bool:
        """Whether people speak for themselves in another language than that of a text: their words cannot be compared then."""
        return bool(self._languages - {language_of(text) or _NOTES})

    def in_another_script(self, text: str) -> bool:
        """Whether they write it so that not even names can be compared."""
        return any(len(each) > _CODE for each in {language_of(text) or _NOTES} ^ self._languages)

    @cached_property
    def _languages(self) -> set[str]:
        return {language_of(each.text) for each, _ in self._people} - {""}

    @cached_property
    def _strangers(self) -> list[Saying]:
        return [each for each in self._sayings if not each.trusted]

    @cached_property
    def _assistants(self) -> list[Saying]:
        return [each for each in self._sayings if each.trusted and not each.own]

    @cached_property
    def _repeated_orders(self) -> list[HeardWords]:
        """What an assistant says that only somebody else can have told it to say."""
        return _few([piece for each in self._assistants for piece in _orders(each, Look.ORDERS)])

    def _is_repeated(self, text: str) -> bool:
        suspect = tells_of_user(text) or look_of(text)
        if not (suspect or self.orders or self.telling):
            return False
        told = words_of(text)
        heard, _ = self.best(told, [*self.orders, *self.telling, *(self.distrusted if suspect else ())])
        return heard >= TOLD and heard > self.share(told, self.own)

    @cached_property
    def _vouched(self) -> list[frozenset[str]]:
        """The words of earlier notes on the user, by line."""
        return [words_of(line) for line in self._lines if tells_of_user(line)]

    @cached_property
    def _people(self) -> list[tuple[Saying, frozenset[str]]]:
        """What people say for themselves, with its words."""
        return [(each, words) for each, words in self._words if each.trusted and each.own]

    @cached_property
    def _words(self) -> list[tuple[Saying, frozenset[str]]]:
        """Each saying with its words."""
        return [(each, words_of(each.text)) for each in self._sayings]

    def _worth(self, word: str) -> float:
        return self._worths.get(word, self._unheard)

    @cached_property
    def _worths(self) -> dict[str, float]:
        counted = Counter(word for _, words in self._words for word in words)
        return {word: math.log(1 + (len(self._sayings) + 1) / (1 + times)) for word, times in counted.items()}

    @cached_property
    def _unheard(self) -> float:
        return math.log(2 + len(self._sayings))


def _few(pieces: Sequence[HeardWords]) -> list[HeardWords]:
    """The pieces, each once, at most about 200 of them, so that comparing a note with them takes linear time.

    Of more than 100, neighbours from one source are taken together; where there are too many sources, those of several.
    """
    few = _joined([*dict.fromkeys(pieces)], lambda each: (each.source, each.kind))
    if len(few) <= 2 * _MOST:
        return few
    return _joined(sorted(few, key=lambda each: each.kind), lambda each: each.kind)


def _joined(pieces: Sequence[HeardWords], alike: Callable[[HeardWords], object]) -> list[HeardWords]:
    """The pieces, of more than 100 neighbours that are alike together."""
    size, joined = -(-len(pieces) // _MOST), list[HeardWords]()
    for _, group in groupby(pieces, key=alike):
        run = [*group]
        for some in (run[at : at + size] for at in range(0, len(run), size)):
            source = some[0].source if len({each.source for each in some}) == 1 else _SEVERAL
            words = frozenset[str]().union(*(each.words for each in some))
            joined.append(HeardWords(source, words, some[0].kind))
    return joined


def _orders(saying: Saying, least: Look) -> Iterator[HeardWords]:
    """The sentences of a saying that look like orders, each with those that are of a piece with it."""
    if not look_of(saying.text) >= least:
        return
    said, left = sentences(saying.text), 0
    joined = [f"{one} {other}" for one, other in zip(said, [*said[1:], ""], strict=True)]
    whole = len(saying.text) <= _BRIEF and look_of(saying.text) is Look.ORDERS
    for text, both in zip(said, joined, strict=True):
        look = look_of(text)
        left = _FOLLOWS + 1 if Look.ORDERS in (look, look_of(both)) else max(left - 1, 0)
        if (look >= least or left or whole) and (words := words_of(text)):
            yield HeardWords(saying.source, words)
