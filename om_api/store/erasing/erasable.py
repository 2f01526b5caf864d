"""What is to be erased: a text, a message, or an observation; and whether something of a memory is, or tells, that."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.identity import continues
from om_api.domain.messages import Message
from om_api.domain.note_lines import split_source, told
from om_api.domain.texts.normal_forms import normalize, unescape
from om_api.domain.values import Observation
from om_api.domain.wire import parse_member
from om_api.language.likeness import Likeness
from om_api.language.words import stems
from om_api.store.memory.quarantine import Rejected

_OF_MESSAGES = frozenset({"role", "thread_id", "threadId", "resource_id", "resourceId"})
_OF_PARTS = frozenset({"type"})
_PARTS = frozenset({"content", "parts"})


class Erasable(Protocol):
    """What an owner wants gone. `everywhere`: whatever tells it goes, not only what was made of the messages that go.

    `observation` is the id of the one that is meant, "" = none: it goes, whatever is behind it.
    """

    everywhere: bool
    observation: str

    def is_message(self, member: bytes, message: Message) -> bool:
        """Whether a message goes."""

    def is_entry(self, entry: Rejected) -> bool:
        """Whether an entry of the quarantine goes."""

    def lines(self, lines: Sequence[str]) -> set[int]:
        """The places of those lines of notes that tell it."""

    def instead(self, line: str) -> str:
        """The line that takes the place of one that goes from a generation, because another note says it; "" = none."""
        del line
        return ""

    def is_field(self, text: str) -> bool:
        """Whether a value of a working memory goes."""
        return bool(self.lines([text]))


class ErasableText(Erasable):
    """Whatever holds a text; case, width and blanks make no difference. Raises InvalidInputError for a text that is blank."""

    everywhere = True
    observation = ""

    def __init__(self, text: str) -> None:
        self._text = folded(text)
        if not self._text:
            raise InvalidInputError("there is no text to look for: name at least a word of what is to be erased")

    def is_message(self, member: bytes, message: Message) -> bool:
        """See Erasable: in any of its fields, names of tools and their arguments included."""
        del message
        return self._text in folded(said_in(member))

    def is_entry(self, entry: Rejected) -> bool:
        """See Erasable."""
        return self._text in folded(f"{said_in(entry.member.encode())} {entry.reason}")

    def lines(self, lines: Sequence[str]) -> set[int]:
        """See Erasable; the text may go over several of them."""
        shown = [f"{folded(line)} " for line in lines]
        places = [at for at, line in enumerate(shown) for _ in line]
        found, whole = set[int](), "".join(shown)
        at = whole.find(self._text)
        while at >= 0:
            found |= set(places[at : at + len(self._text)])
            at = whole.find(self._text, at + 1)
        return found


class _Alike(Erasable):
    """What is told in other words: the lines of `notes` that tell what was `said`. When a line was noted proves nothing."""

    def __init__(self, said: Sequence[str], notes: Sequence[str]) -> None:
        self._like = Likeness(said, map(told, notes))

    def lines(self, lines: Sequence[str]) -> set[int]:
        """See Erasable."""
        return {at for at, line in enumerate(lines) if self._like.carries(told(line))}


class ErasableMessage(_Alike):
    """One message of a thread, with what it grew by later, and the lines that tell what it `said`; `notes` are all there are."""

    everywhere = False
    observation = ""

    def __init__(self, name: str, thread: str, said: Sequence[str], notes: Sequence[str]) -> None:
        super().__init__(said, notes)
        self._name, self._thread = name, thread

    def is_message(self, member: bytes, message: Message) -> bool:
        """See Erasable."""
        del member
        return message.thread_id == self._thread and self._name in {message.id, continues(message)}

    def is_entry(self, entry: Rejected) -> bool:
        """See Erasable."""
        try:
            message = parse_member(entry.member.encode(), entry.thread_id, "-", 0)
        except (InvalidInputError, UnicodeEncodeError):
            return False
        return self.is_message(b"", message)


class ErasableObservation(_Alike):
    """An observation that a reflection replaced, with the messages behind it, and the lines that tell what it tells."""

    everywhere = False

    def __init__(self, observation: Observation, notes: Sequence[str]) -> None:
        super().__init__([told(line) for line in observation.text.split("\n")], notes)
        self.observation, self._thread = observation.id, observation.thread_id
        self._ids = frozenset(observation.message_ids)

    def is_message(self, member: bytes, message: Message) -> bool:
        """See Erasable."""
        del member
        return message.thread_id == self._thread and message.id in self._ids

    def is_entry(self, entry: Rejected) -> bool:
        """See Erasable."""
        return entry.observation == self.observation


class _OtherLine(NamedTuple):
    """A line that is not made of a shared note: the source that it names ("": none), and its words."""

    line: str
    source: str
    words: set[str]

    @classmethod
    def of(cls, line: str) -> "_OtherLine":
        source, said = split_source(line)
        return cls(line, source, stems(said))


class ErasableCopy(ErasableObservation):
    """A note that another memory shared and a reflection took in, with the lines of generations that tell it.

    A line that names no source may have lost it. It goes only if no line of `others`, the memory's other notes, has as many of
    its words, by weight. A line that names the source is compared with those of `others` that name it too, and one that
    names another source stays. Pinned lines and working memory go only if they name the source.
    """

    def __init__(self, copy: Observation, notes: Sequence[str], others: Iterable[str], pinned: Collection[str]) -> None:
        super().__init__(copy, notes)
        self._source = copy.shared_from.resource if copy.shared_from else ""
        copied = [said for line in copy.text.split("\n") if (said := split_source(line)[1])]
        self._like, self._copied = Likeness(copied, map(told, notes)), [*map(stems, copied)]
        self._others = [_OtherLine.of(line) for line in dict.fromkeys(others)]
        self._pinned, self._found = frozenset(pinned), dict[str, _OtherLine | None]()

    def lines(self, lines: Sequence[str]) -> set[int]:
        """See Erasable."""
        return {at for at, line in enumerate(lines) if self._tells(line)}

    def _tells(self, line: str) -> bool:
        source, said = split_source(line)
        if source not in {"", self._source} or (not source and line.strip() in self._pinned):
            return False
        if not self._like.carries(said):
            return False
        own, other = stems(said), self._nearest(line)
        shared = self._like.share(own, other.words) if other else 0.0
        return any(self._like.share(own, words) > shared for words in self._copied)

    def _nearest(self, line: str) -> "_OtherLine | None":
        """The other line that has most of a line's words."""
        if line not in self._found:
            source, said = split_source(line)
            own, rivals = stems(said), [each for each in self._others if not source or each.source == source]
            self._found[line] = max(rivals, key=lambda each: self._like.share(own, each.words), default=None)
        return self._found[line]

    def instead(self, line: str) -> str:
        """See Erasable: a model may have made one line of a shared note and of another one."""
        other, own = self._nearest(line), stems(split_source(line)[1])
        return other.line.strip() if other and self._like.is_alike(own, other.words) else ""

    def is_field(self, text: str) -> bool:
        """See Erasable."""
        return bool(split_source(text)[0]) and self._tells(text)


def folded(text: str) -> str:
    """A text as it is compared: without case, width, escaped tags, and more than one blank at a time."""
    return " ".join(normalize("NFKC", unescape(text)).casefold().split())


def said_in(member: bytes) -> str:
    """Every text and number that a member says, its id included; its bytes, where it is no JSON.

    Left out are whose it is, who speaks, what kind a part is, and the names of the fields that all messages have.
    """
    try:
        said = msgspec.json.decode(member)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return member.decode("utf-8", "replace")
    return "\n".join(texts_in(said, _OF_MESSAGES) if isinstance(said, dict) else texts_in(said))


def texts_in(value: Any, form: frozenset[str] = frozenset()) -> Iterator[str]:
    """What a value says; of one that has a `form` neither names of fields nor those in it, and its parts have one too."""
    if isinstance(value, dict):
        for key, each in value.items():
            if not form:
                yield str(key)
            if key not in form:
                parts = form and key in _PARTS and isinstance(each, list)
                yield from chain.from_iterable(texts_in(one, _OF_PARTS) for one in each) if parts else texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif value is not None:
        yield str(value)
