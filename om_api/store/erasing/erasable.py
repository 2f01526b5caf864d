"""What is to be erased: a text, a message, or an observation; and whether something of a memory is, or tells, that."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Protocol

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.identity import continues
from om_api.domain.messages import Message
from om_api.domain.note_lines import told
from om_api.domain.texts.normal_forms import normalize, unescape
from om_api.domain.values import Observation
from om_api.domain.wire import parse_member
from om_api.language.likeness import Likeness
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


class ErasableText:
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


class _Alike:
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
    return "\n".join(_texts(said, _OF_MESSAGES) if isinstance(said, dict) else _texts(said))


def _texts(value: Any, form: frozenset[str] = frozenset()) -> Iterator[str]:
    """What a value says; of one that has a `form` neither names of fields nor those in it, and its parts have one too."""
    if isinstance(value, dict):
        for key, each in value.items():
            if not form:
                yield str(key)
            if key not in form:
                parts = form and key in _PARTS and isinstance(each, list)
                yield from chain.from_iterable(_texts(one, _OF_PARTS) for one in each) if parts else _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif value is not None:
        yield str(value)
