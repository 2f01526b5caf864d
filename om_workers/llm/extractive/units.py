"""Units: the sentences of a conversation, each with who said it and when."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from om_api.domain.folding import one_line as as_name
from om_api.domain.messages import Message
from om_api.language.telegraphic import one_line
from om_api.language.words import STOP, word_set, words
from om_workers.llm.extractive import cues, tools
from om_workers.llm.extractive.notes import tokens
from om_workers.llm.extractive.terms import is_small_talk, terms

PASTED = 200  # tokens from which a text is taken for pasted
_LONGEST_TASK = 5 * PASTED
ORDERS = 3  # sentences of a task that ask for something, at least
LONGEST = 600  # characters looked at of one sentence or line: a blob has no more to tell, and takes time squared
_LECTURE = 100  # tokens from which an assistant explains at length
_MOST = 40  # sentences looked at in one text; of a pasted one the first and the last tell most
_SENTENCE = re.compile(
    r"(?<=[.!?;])[\"”)]?\s+(?=[^\W_]|[\"“(*-])|(?<=\S) (?=\[[^\W\d_]+ )|(?<=[。！？])|[\n\r\u2028\u2029]+"
)
_WRAP = re.compile(r"(?<=[^\n]{30}[\w,])\r?\n(?=[a-zß-ÿ])")  # within a sentence of an editor's lines
_ABBREVIATION = re.compile(r"\b(?:mr|mrs|ms|dr|prof|st|no|vs|e\.g|i\.e|etc|approx|max|min)\.$", re.IGNORECASE)
_TELLING = re.compile(
    r"\b(?:I|I'm|I've|my|we|our|error|failed|failure|exception|fatal|refused|aborted|total|passed)\b|\w+(?:Error|Exception)\b",
    re.IGNORECASE,
)
_YES_NO = word_set(
    "yes yep yeah yup no nope sure agreed do go correct exactly ok okay fine please it that ahead thanks"
)
_NAMED = re.compile(r"\s*([^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}):\s+(?=\S)")
_ROLES = re.compile(r"\W*(?:user|human|assistant|agent|ai|model|system|developer|tool)(?: asked)?\W*", re.IGNORECASE)
_ASSENTS = word_set("yes yep yeah yup no nope agreed ahead do correct exactly")
_BRIEF = 5
_PEOPLE = 20


class Unit(msgspec.Struct):
    """One sentence: place and time (`order`, `at` in Unix ms) of its message, who said it, and what it shows.

    `place` is its number among the sentences of its message.
    `speaker` is the name of who said it, from the message's `name` or, where several people share the user's role (`shared`),
    from the name that its text begins with; `label` a tool's; `heard`
    who says a line of notes that it is taken from, `nested` whether it was one of that line's details.
    """

    order: int
    at: int
    role: str
    text: str
    words: list[str]
    cues: cues.Cues
    label: str = ""
    speaker: str = ""
    shared: bool = False
    answers: bool = False
    pasted: bool = False
    failed: bool = False
    place: int = 0
    heard: str = ""
    nested: bool = False

    @property
    def bounded(self) -> bool:
        """Whether it is of pasted text, of which notes hold no more than its share."""
        return self.pasted and self.role != "assistant"

    @property
    def content(self) -> set[str]:
        """Its words without stop words."""
        return set(self.words).difference(STOP)


def units(messages: Sequence[Message]) -> list[Unit]:
    """The units of messages, in their order; small talk, reactions and empty texts give none."""
    found: list[Unit] = []
    known: dict[str, str] = {}
    question, address = "", _address(messages)
    shared = address is not None or len({message.speaker for message in messages if message.role == "user"} - {""}) > 1
    proposal = ""
    for order, message in enumerate(messages):
        known |= tools.calls(message.parts)
        heard = (question, proposal) if message.role == "user" else ("", "")
        for unit in _said(order, message, *heard, address):
            unit.shared = shared and bool(unit.speaker)
            found.append(unit)
        found += _returned(order, message, known)
        if text := message.text().strip():
            question = _question(text) if shared or message.role == "assistant" else ""
            proposal = " ".join(sentences(text)[-2:]) if message.role == "assistant" else ""
    return found


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, each on one line and cut where it is endless; an abbreviation ends none."""
    whole: list[str] = []
    for piece in map(one_line, _SENTENCE.split(_WRAP.sub(" ", text))):
        if whole and len(whole[-1]) < LONGEST and _ABBREVIATION.search(whole[-1][-8:]):
            whole[-1] = f"{whole[-1]} {piece[:LONGEST]}"
        elif piece:
            whole.append(piece[:LONGEST])
    return whole


def is_task(message: Message) -> bool:
    """Whether a long text of the user is a task in his own words: it begins with an order, and more follow."""
    text = message.text()
    if message.role != "user" or not PASTED < tokens(text[: 10 * _LONGEST_TASK]) <= _LONGEST_TASK:
        return False
    first, *others = sentences(text)
    orders = [line for line in (first, *others) if cues.asked(line, words(line))]
    return first in orders[:1] and not first.endswith((":", "：")) and len(orders) >= ORDERS


def _address(messages: Sequence[Message]) -> re.Pattern[str] | None:
    """How people address each other, if several share the user's role: most of its messages begin with a name then."""
    own = [message.text() for message in messages if message.role == "user"]
    names = [found[1] for text in own if (found := _named(text))]
    if len(own) <= 1 or 2 * len(names) <= len(own):
        return None
    known = "|".join(map(re.escape, sorted(set(names))[:_PEOPLE]))
    return re.compile(rf",\s+(?:{known})(?=\s*[.!?])|(?:^|(?<=[.!?]\s))(?:{known}),\s+")


def _named(text: str) -> re.Match[str] | None:
    """The name that a text begins with; nobody is called what our lines call their speakers."""
    found = _NAMED.match(text)
    return None if found is None or _ROLES.fullmatch(found[1]) else found


def _said(
    order: int, message: Message, question: str, proposal: str, address: re.Pattern[str] | None
) -> Iterator[Unit]:
    text, speaker = message.text(), message.speaker
    if address and not speaker and message.role == "user" and (found := _named(text)):
        text, speaker = address.sub("", text[found.end() :]), found[1]
    most = _LECTURE if message.role == "assistant" else PASTED
    pasted = len(text) > most and tokens(text) > most and not is_task(message)
    for place, sentence in enumerate(_telling(sentences(text))):
        told = sentence
        if not place and (answered := question or proposal) and _brief(sentence, _YES_NO if question else _ASSENTS):
            told = f'{sentence} (to "{answered}")'
        unit = _unit(order, message, told, pasted=pasted)
        if not is_small_talk(unit.text, unit.words):
            unit.answers, unit.speaker, unit.place = bool(question), speaker, place
            yield unit


def _returned(order: int, message: Message, known: dict[str, str]) -> Iterator[Unit]:
    for part in message.parts:
        if part["type"] == "tool-result":
            yield from _results(order, message, part, known.get(tools.key(part), ""))


def _results(order: int, message: Message, part: dict[str, Any], args: str) -> Iterator[Unit]:
    lines = [one_line(line[: 4 * LONGEST])[:LONGEST] for line in tools.outcome(part, args)]
    pasted = sum(map(len, lines)) > PASTED * 4
    for line in _telling(lines):
        unit = _unit(order, message, line, pasted=pasted)
        unit.role, unit.label = "tool", _tool(part)
        unit.failed = bool(part.get("is_error")) or (unit.cues.error and not line.startswith("("))
        yield unit


def _tool(part: dict[str, Any]) -> str:
    name = as_name(part.get("name") or "")[:60] or "tool"
    return f"tool {name}" if _ROLES.fullmatch(name) and name != "tool" else name


def _unit(order: int, message: Message, text: str, *, pasted: bool) -> Unit:
    found = terms(text)
    return Unit(order, message.at, message.role, text, found, cues.read(text, found), pasted=pasted)


def _telling(lines: list[str]) -> list[str]:
    """All lines, or of very many the first, the last and those that tell of persons, errors and results."""
    if len(lines) <= _MOST:
        return lines
    half = _MOST // 4
    middle = [line for line in lines[half:-half] if _TELLING.search(line)]
    return [*lines[:half], *middle[: _MOST // 4], *middle[_MOST // 4 :][-_MOST // 4 :], *lines[-half:]]


def _question(text: str) -> str:
    return sentences(text)[-1] if text.endswith(("?", "？")) else ""


def _brief(sentence: str, wanted: Collection[str]) -> bool:
    """Whether a sentence only answers, by one of the words that are wanted at least."""
    found = words(sentence)
    return len(found) <= _BRIEF and _YES_NO.issuperset(found) and not frozenset(found).isdisjoint(wanted)
