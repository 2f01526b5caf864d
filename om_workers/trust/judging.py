"""Judging: what a note is made of decides whether it may stand, or is only quoted."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from om_api.domain.notes.marks import Kind, Mark
from om_api.language.words import stems
from om_workers.trust.disguises import plain
from om_workers.trust.looks import Look, is_imperative, look_of
from om_workers.trust.sayings import Saying

_SENTENCE = re.compile(r"(?<=[.!?;…])[\"”')]?\s+|(?<=[。！？])|[\n\r\u2028\u2029]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_FOLLOWS = 2  # sentences behind an order that are of a piece with it
_BRIEF = 400  # characters of a saying that is all of a piece with an order in it
_SAID = 0.3  # the share of a note's words from which on a saying has anything to do with it
_TOLD = 0.6  # from which on it is what the saying says
_NEARLY = 0.75
_HALF = 0.5
_HARDLY = 0.1
_ABOUT = re.compile(
    r"\b(?:the )?user(?:'s|’s)?\b"
    r"(?! (?:id|name|names|agent|agents|interface|account|accounts|table|count|guide|manual|stories|story|data)\b)"
    r"|\b(?:my name is|call me|i(?:'m| am) (?:allergic|called|the owner|(?:the |an )?admin\w*)"
    r"|i (?:always |never |really )?(?:prefer|like|love|hate|want|need|live|work|agree|approve|authori[sz]e|consent)"
    r"|my (?:password|address|bank|account|iban|phone|e-?mail|wallet|preferred|favou?rite|birthday|boss|wife|husband)"
    r" (?:is|number is))\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:(?:Primary|Secondary|Pattern|Insight|User asked|User|Assistant|System|Tool|tool [\w.-]+|[\w.-]{1,60}): )+"
)


class _Heard(NamedTuple):
    """Something that is said: its words, by whom, and as what it would be quoted."""

    source: str
    words: frozenset[str]
    kind: Kind = "order"


_NOBODY = _Heard("", frozenset())


class Judge:
    """Says of notes whether they may stand, by the sayings they were made of and by what was quoted `before`.

    `vouched` are lines of earlier notes that stand: what is said of the user in them was judged. `unknown` is whose an order is
    that nobody in the sayings gives.
    """

    def __init__(
        self,
        sayings: Sequence[Saying],
        before: Sequence[Mark] = (),
        vouched: Sequence[str] = (),
        unknown: str = "the assistant",
    ) -> None:
        self._sayings, self._lines, self._unknown = sayings, vouched, unknown
        self._before = [_Heard(mark.source, words_of(mark.said), mark.kind) for mark in before]

    @cached_property
    def harmless(self) -> bool:
        """Whether nothing that is not trusted was said: notes stand as they are then."""
        return not self._before and all(each.trusted for each in self._sayings) and not self._repeated_orders

    @cached_property
    def _repeated_orders(self) -> list[_Heard]:
        """What an assistant says that only somebody else can have told it to say."""
        said = (each for each in self._sayings if each.trusted and not each.own)
        return [piece for each in said for piece in _orders(each, Look.ORDERS)]

    @cached_property
    def _orders(self) -> list[_Heard]:
        """The sentences that speak to a model, of those whom nobody trusts."""
        distrusted = (each for each in self._sayings if not each.trusted)
        found = [piece for each in distrusted for piece in _orders(each, Look.ADDRESSES)]
        return [*self._before, *found, *self._repeated_orders]

    @cached_property
    def _suspects(self) -> list[str]:
        """Who gives a model orders in this very conversation: whatever else looks like one is hardly a user's wish then."""
        return [each.source for each in self._sayings if not each.trusted and look_of(each.text) is Look.ORDERS]

    @cached_property
    def _weights(self) -> Counter[str]:
        return Counter(word for each in self._words for word in each)

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [words_of(each.text) for each in self._sayings]

    @cached_property
    def _own(self) -> frozenset[str]:
        """The words of people who speak for themselves."""
        own = (words for words, each in zip(self._words, self._sayings, strict=True) if each.trusted and each.own)
        return frozenset[str]().union(*own)

    @cached_property
    def _ours(self) -> frozenset[str]:
        """The words of all who are trusted, less what an assistant repeats of an order or of a claim about the user."""
        kept = list(self._own)
        for saying in self._sayings:
            if saying.trusted and not saying.own:
                kept += [
                    word for text in sentences(saying.text) if not self._is_repeated(text) for word in words_of(text)
                ]
        return frozenset(kept)

    def _is_repeated(self, text: str) -> bool:
        if not (_ABOUT.search(text) or look_of(text) or self._orders):
            return False
        told = words_of(text)
        heard, _ = self._best(
            told, [*self._orders, *(self._distrusted if _ABOUT.search(text) or look_of(text) else ())]
        )
        return heard >= _TOLD and heard > self._share(told, self._own)

    @cached_property
    def _distrusted(self) -> list[_Heard]:
        pairs = zip(self._sayings, self._words, strict=True)
        return [_Heard(each.source, words) for each, words in pairs if not each.trusted]

    @cached_property
    def _claimants(self) -> list[_Heard]:
        """Those who may say nothing of the user that stands: what the user himself pastes may well be true of him."""
        pairs = zip(self._sayings, self._words, strict=True)
        return [_Heard(each.source, words) for each, words in pairs if not (each.trusted or each.pasted)]

    @cached_property
    def _vouched(self) -> list[frozenset[str]]:
        """The words of earlier notes on the user, by line."""
        return [words_of(line) for line in self._lines if _ABOUT.search(line)]

    def _known(self, told: frozenset[str], words: frozenset[str]) -> float:
        """How much of what words tell is among others, or in one earlier note on the user that says nearly all of it."""
        return max(self._share(told, words), self._noted(told))

    def _noted(self, told: frozenset[str]) -> float:
        shares = (self._share(told, line) for line in self._vouched)
        return max((share for share in shares if share >= _NEARLY), default=0.0)

    def _share(self, told: frozenset[str], known: frozenset[str]) -> float:
        """How much of what words tell is among others: rare ones tell more."""
        whole = sum(map(self._worth, told))
        return sum(map(self._worth, told & known)) / whole if whole else 0.0

    def _worth(self, word: str) -> float:
        return math.log(1 + (len(self._sayings) + 1) / (1 + self._weights[word]))

    def _best(self, told: frozenset[str], pieces: Iterable[_Heard]) -> tuple[float, _Heard]:
        found = ((self._share(told, each.words), each) for each in pieces)
        return max(found, key=lambda each: each[0], default=(0.0, _NOBODY))

    def of(self, note: str, source: str = "") -> Mark | None:
        """How a sentence of notes is to be quoted; None for one that may stand. `source` is whose words the notes say it is."""
        said, quoted = without_label(note), note[len(label_of(note)) :]
        told, look = words_of(said), look_of(said)
        ordered, order = self._best(told, self._orders)
        if ordered >= _TOLD and ordered > self._alone(told):
            return Mark(order.kind, order.source, quoted)
        if look and (source := self._whose(told, look, order.source if ordered >= _SAID else "")):
            return Mark("order", source, quoted)
        if not self._is_named(source) and is_imperative(said) and (whose := self._told_by(told)):
            return Mark("order", whose, quoted)
        if not _ABOUT.search(said):
            return None
        claimed, claim = self._best(told, self._claimants)
        ours = self._known(told, self._ours) if claimed >= _SAID else 1.0
        return Mark("claim", claim.source, quoted) if ours < min(claimed, _HALF) else None

    def _is_named(self, source: str) -> bool:
        """Whether notes name somebody as a source whom nobody trusts: what he tells people to do is what he said."""
        named = source.strip(": ").removesuffix(" says").lower()
        return any(
            named in {each.source.lower(), each.source.removeprefix("tool ").lower()} for each in self._distrusted
        )

    def _told_by(self, told: frozenset[str]) -> str:
        """Who says something that nobody says who is trusted."""
        heard, piece = self._best(told, self._distrusted)
        return piece.source if heard >= _TOLD and self._known(told, self._ours) < _SAID else ""

    def _alone(self, told: frozenset[str]) -> float:
        """How much of it that saying says which says most of it, of people who speak for themselves."""
        pairs = zip(self._sayings, self._words, strict=True)
        own = (self._share(told, words) for each, words in pairs if each.trusted and each.own)
        return max(max(own, default=0.0), self._noted(told))

    def _whose(self, told: frozenset[str], look: Look, ordered: str) -> str:
        """Whose order a note is that looks like one; "" for what a user may have wished himself."""
        own = self._known(told, self._own)
        heard, piece = self._best(told, self._distrusted)
        if heard > own and heard >= _SAID:
            return ordered or piece.source
        if look is Look.ORDERS and own < _TOLD:
            return ordered or piece.source or self._unknown
        return ordered or self._suspects[0] if self._suspects and own < _SAID else ""

    def known(self, mark: Mark) -> Mark | None:
        """The mark as it was made before, of one that was copied."""
        told = words_of(mark.said)
        share, piece = self._best(told, self._before)
        return Mark(piece.kind, piece.source, mark.said) if share >= _TOLD else None

    def wished(self, said: str) -> bool:
        """Whether people say it for themselves."""
        return self._alone(words_of(said)) >= _TOLD

    def only_heard(self, text: str) -> bool:
        """Whether a text comes of words that nobody trusts alone, or would be quoted among notes."""
        if self.harmless:
            return False
        for said in [text, *sentences(text)]:
            told = words_of(said)
            heard, _ = self._best(told, self._distrusted)
            if self.of(said) or (heard >= _TOLD and self._known(told, self._ours) < _HARDLY):
                return True
        return False


def label_of(note: str) -> str:
    """The word at the beginning of a note on who says it, or what kind of note it is."""
    found = _LABEL.match(note)
    return found[0] if found else ""


def without_label(note: str) -> str:
    """A note as it is judged: without that word, or without the first one before a colon within it. No note is written so."""
    return _LABEL.sub("", note, count=1)


def words_of(text: str) -> frozenset[str]:
    """The words of a text that carry something, as they are compared; of a script without blanks its pairs of signs."""
    shown = plain(text)
    found = stems(shown)
    for run in () if shown.isascii() else _WIDE.findall(shown):
        found |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
    return frozenset(found)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [each.strip() for each in _SENTENCE.split(text) if each.strip()]


def _orders(saying: Saying, least: Look) -> list[_Heard]:
    """The sentences of a saying that look like orders, each with those that are of a piece with it."""
    if not look_of(saying.text) >= least:
        return []
    said, found, left = sentences(saying.text), list[_Heard](), 0
    joined = [f"{one} {other}" for one, other in zip(said, [*said[1:], ""], strict=True)]
    whole = len(saying.text) <= _BRIEF and look_of(saying.text) is Look.ORDERS
    for text, both in zip(said, joined, strict=True):
        look = look_of(text)
        left = _FOLLOWS + 1 if Look.ORDERS in (look, look_of(both)) else max(left - 1, 0)
        if look >= least or left or whole:
            found.append(_Heard(saying.source, words_of(text)))
    return [each for each in found if each.words]
