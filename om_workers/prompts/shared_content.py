"""Whether notes share evidence with the messages they were made of: a name, a number, an identifier, a content word.

A refusal, filler or an invented note shares none, in whatever language it is written. An honest note shares some even if
it is translated or condensed: names, numbers, identifiers and many stems stay the same.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from om_api.domain.messages import Message
from om_api.domain.texts.normal_forms import normalize
from om_api.language.calendar import DAY_NAMES
from om_api.language.words import CHATTER, STOP, stem, word_set
from om_api.patterns.pattern import Pattern
from om_api.recall.analysis import language_of
from om_api.recall.function_words import ALSO_LITTLE, LITTLE_WORDS
from om_api.recall.stemming import fold
from om_api.recall.wording import is_unparted, pieces, words_of

LARGE = 40  # words of messages: with more of them, one shared word may be chance
_LONG, _SHARE, _SHARE_OF_LONG = 200, 0.15, 0.35  # pairs of messages; the share of the pairs of notes that they hold
_GRAMMAR = Pattern(
    "[\u3041-\u309f]{1,2}|[습입합됩][니]|니다|어요|아요|해요|세요|하는"
)  # pairs of Japanese and Korean endings
# words with which models write about their task
_ABOUT_NOTES = word_set(
    """able accept allow anything answer appropriate assist available cannot comply content conversation decline details
    discuss empty error everything event exchange facts fulfil harmful help inform information language large mention
    message messages model noteworthy nothing note notes observation observations observe permitted please policies
    policy previous previously privacy private process provide recorded refuse relevant reply report request response
    retry safety sensitive server session someone something sorry stated summary text unable understand update user
    assistant agent violate worth"""
)
_CARRY_NOTHING = frozenset(map(stem, STOP | (CHATTER - DAY_NAMES) | _ABOUT_NOTES | ALSO_LITTLE["english"]))
_LITTLE = {language: frozenset(stem(fold(word)) for word in words) for language, words in LITTLE_WORDS.items()}


class SharedContent(NamedTuple):
    """The stems and numbers of a text that carry something, and its pairs of characters in scripts without blanks."""

    words: frozenset[str]
    pairs: frozenset[str]

    @property
    def size(self) -> int:
        """The number of words and pairs."""
        return len(self.words) + len(self.pairs)


def content_of(text: str) -> SharedContent:
    """The content of a text; words that are mere grammar, small talk or about notes are left out."""
    words, pairs = set[str](), set[str]()
    found = dict.fromkeys(words_of(normalize("NFKC", text)))
    for word in found:
        if is_unparted(word):
            pairs.update(pair for pair in pieces(word) if not _GRAMMAR.fullmatch(pair))
        elif word[0].isalnum():
            words.update(map(stem, map(fold, pieces(word))))
    words -= _CARRY_NOTHING | _LITTLE["english"] | _LITTLE.get(language_of(found, text), frozenset())
    return SharedContent(frozenset(word for word in words if len(word) > 1 or word.isdigit()), frozenset(pairs))


def text_of(messages: Iterable[Message]) -> str:
    """The text of messages with their speakers, tool calls and results."""
    return "\n".join(chain.from_iterable(map(_texts, messages)))


def shared_size(notes: SharedContent, messages: SharedContent) -> int:
    """How many words notes share with messages; three pairs of characters count as one."""
    return len(notes.words & messages.words) + len(notes.pairs & messages.pairs) // 3


def shares_content(notes: SharedContent, messages: SharedContent) -> bool:
    """Whether notes share a word with messages, or two (or one with a digit) where these are long, or enough pairs."""
    words = notes.words & messages.words
    least = 1 if len(messages.words) <= LARGE else min(2, len(notes.words))
    if words and (len(words) >= least or not all(map(str.isalpha, words))):
        return True
    pairs = notes.pairs & messages.pairs
    share = _SHARE_OF_LONG if len(messages.pairs) > _LONG else _SHARE
    return bool(pairs) and len(pairs) >= share * len(notes.pairs)


def _texts(message: Message) -> Iterator[str]:
    yield message.speaker
    for part in message.parts:
        yield from _strings({name: value for name, value in part.items() if name != "type"})


def _strings(value: Any) -> Iterator[str]:
    """The texts and numbers within a JSON value, in their order."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [*reversed([*each.values()]), *reversed([*each])]
        elif isinstance(each, list):
            waiting += reversed(each)
        else:
            yield str(each)
