"""What of an answer is no note: the prompt's own words, a refusal, "nothing", and what shares too little with the messages."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from om_api.domain import note_lines
from om_api.domain.messages import Message
from om_api.language.words import bare_words, stems
from om_api.patterns.pattern import Pattern
from om_workers.llm.base import Request
from om_workers.llm.extractive import cues
from om_workers.llm.extractive.units import Unit, units
from om_workers.prompts.nothing import notes_nothing, without_label
from om_workers.prompts.refusals import denies, is_copied, neighbours, refusal, speaks_of_itself, task_words
from om_workers.prompts.shared_content import LARGE, SharedContent, content_of, shared_size, shares_content, text_of

HollowKind = Literal["echo", "refusal", "nothing", "unrelated"]
_QUOTED = 100  # characters
_PREFIX, _WITHIN = 3, 5  # words: fewer are no echo where they begin a line of the prompt, or stand within one
_PLACEHOLDER = 3  # words: "what the agent is working on now" has fewer, and every talk has those
_LITTLE, _MUCH = 2, 8  # words or pairs of messages: fewer decide nothing; so many are noted whoever wrote them
_FEW = 3  # words or pairs
_BARE = Pattern(r"[\W_]*")
_MARKUP = Pattern(r"</?[A-Za-z]{1,20} ?/?>|<!--[^<>]*-->|&#?\w{1,8};")
_INVISIBLE = dict.fromkeys(map(ord, "\u115f\u1160\u3164\uffa0"))  # Hangul fillers
_BRACKETED = Pattern(r"(?:\w{1,20}:)?\s*(?:\[[^\W\d][^\[\]{}\"]*\]|<[^\W\d][^<>\"]*>)\W*")  # no JSON


class HollowLine(NamedTuple):
    """A line that was taken out of an answer: why, and of it what is ours to show, the prompt's words or a set phrase.

    Nothing is shown of notes that are `unrelated` to the messages, nor of a refusal in other words than a set phrase.
    """

    kind: HollowKind
    quote: str


class AnswerFilter:
    """Knows what a model was asked: its instructions (`template`), and what it was to take notes of (`material`).

    A line of the template that the material bears out is a note like any other: the user may really run a bookshop in Ghent.
    `messages` are what an Observer was to take notes of, `threads` the same by thread.
    """

    def __init__(
        self,
        template: str = "",
        material: str = "",
        messages: Sequence[Message] = (),
        threads: Mapping[str, Sequence[Message]] | None = None,
    ) -> None:
        self._template, self._material = template, material
        self._messages, self._threads = messages, threads or {}

    @classmethod
    def of(cls, request: Request) -> "AnswerFilter":
        """The filter of a request as it was written, whichever variant, instruction and extractors it was made of."""
        material, _, task = request.prompt.rpartition("<task>")
        noted = material.rpartition("<messages>")[2] if request.purpose == "observe" else material
        return cls(f"{request.system}\n{task}", noted, request.messages, request.threads)

    def of_thread(self, name: str) -> "AnswerFilter":
        """The filter of the section of one thread in an answer to several."""
        of_prompt = {"_lines": self._lines, "_words": self._words, "_heard": self._heard}  # read once for all threads
        filtered = AnswerFilter(self._template, self._material, self._threads.get(name, ()))
        vars(filtered).update(of_prompt)
        return filtered

    def notes(self, text: str) -> tuple[str, tuple[HollowLine, ...]]:
        """Notes without their hollow lines, the details and the dates of these, and what was taken out.

        Notes that share too little with messages that say something are no notes of these, and are taken out as a whole.
        """
        lines = text.split("\n")
        told = [note_lines.told(line) for line in lines]
        wordless = {
            at: HollowLine("nothing", "") for at, line in enumerate(told) if line.strip() and _says_no_word(line)
        }
        hollow = wordless | {at: found for at, line in enumerate(told) if (found := self._hollow_note(line))}
        left = note_lines.without(lines, hollow).text if hollow else text
        removed = (*hollow.values(),)
        if not any(map(str.strip, told)) or not left.strip():
            return "", removed
        return ("", (*removed, HollowLine("unrelated", ""))) if self._is_unrelated(left) else (left, removed)

    def section(self, text: str) -> str:
        """What a section beside the notes says, without its hollow lines; "" where nothing else is in it."""
        if self._hollow(text, _PLACEHOLDER):
            return ""
        told = [line for line in text.split("\n") if not self._is_hollow_in_section(line)]
        return "\n".join(told) if any(map(str.strip, told)) else ""

    def _is_hollow_in_section(self, line: str) -> bool:
        said = without_label(note_lines.told(line))
        is_placeholder = _BRACKETED.fullmatch(said) is not None
        return is_placeholder or self._hollow(said, _PLACEHOLDER) is not None

    def _hollow(self, line: str, least: int = 1) -> HollowLine | None:
        if not line.strip():
            return None
        if refused := refusal(line):
            return HollowLine("refusal", refused)
        if notes_nothing(line):
            return HollowLine("nothing", line.strip()[:_QUOTED])
        return HollowLine("echo", " ".join(line.split())[:_QUOTED]) if self._is_echo(line, least) else None

    def _hollow_note(self, line: str) -> HollowLine | None:
        if found := self._hollow(line):
            return found
        declines = self._is_telling and speaks_of_itself(line) and denies(line) and task_words(line)
        return HollowLine("refusal", "") if declines and not is_copied(line, self._neighbours) else None

    def _is_unrelated(self, notes: str) -> bool:
        """Whether notes share too little with messages in which users state something, or much is said.

        Neither a bare number nor a line about the task counts.
        """
        if not self._is_telling:
            return False
        told = (line for line in map(note_lines.told, notes.split("\n")) if any(map(str.isalpha, line)))
        said = "\n".join(line for line in told if not self._is_about_task(line))
        content = content_of(said)
        if not shares_content(content, self._evidence):
            return True
        return self._evidence.size > _FEW and self._is_fragment(said, content)

    def _is_fragment(self, notes: str, content: SharedContent) -> bool:
        """Whether notes are one word, two of which one is shared, or up to three where much is said."""
        number = 0 if content.pairs else sum(len(word) > 1 for word in bare_words(notes))
        if self._evidence.size > LARGE:
            return 0 < number <= _FEW
        return number == 1 or (number == _LITTLE and shared_size(content, self._evidence) < _LITTLE)

    def _is_about_task(self, line: str) -> bool:
        """Whether a line speaks of the task of taking notes, in words that the messages do not hold, and says little else."""
        words, denied = task_words(line), denies(line)
        if speaks_of_itself(line) and (words or denied):
            return not is_copied(line, self._neighbours)
        introduced = words - self._task_words
        if not introduced:
            return False
        shared = shared_size(content_of(line), self._evidence)
        if denied:
            return shared < _FEW and _FEW * shared < self._evidence.size
        return shared <= len(introduced)

    @cached_property
    def _is_telling(self) -> bool:
        texts = "\n".join(message.text() for message in self._messages if message.role in ("user", "assistant"))
        size = content_of(texts).size
        return size >= _MUCH or (size >= _LITTLE and holds_facts(self._messages))

    @cached_property
    def _evidence(self) -> SharedContent:
        return content_of(text_of(self._messages))

    @cached_property
    def _task_words(self) -> frozenset[str]:
        return task_words(text_of(self._messages))

    @cached_property
    def _neighbours(self) -> frozenset[tuple[str, str]]:
        return neighbours(text_of(self._messages))

    def _is_echo(self, line: str, least: int) -> bool:
        """Whether a line stands in the template and the material does not bear it out, by `least` of its words at least."""
        words = bare_words(line)
        said = f" {' '.join(words)} "
        begins = len(words) >= _PREFIX and f"\n{said}" in self._lines
        if not begins and not (len(words) >= _WITHIN and said in self._words):
            return False
        content = {word for word in stems(line) if len(word) > 1}
        return len(content) < least or 3 * len(content & self._heard) < 2 * len(content)

    @cached_property
    def _lines(self) -> str:
        """The template's words in lower case, a blank before and behind each line, marks and labels left out."""
        told = (without_label(note_lines.body(line)) for line in self._template.split("\n"))
        return "".join(f"\n {' '.join(bare_words(line))} " for line in told)

    @cached_property
    def _words(self) -> str:
        """The same as one line: an example may go on in the next one."""
        return f" {' '.join(self._lines.split())} "

    @cached_property
    def _heard(self) -> set[str]:
        return stems(self._material)


def holds_facts(messages: Iterable[Message]) -> bool:
    """Whether users state something, in any language: all that is no small talk, question, reaction or order.

    An order that holds a name or a preference of the user counts: "call me Sam". What tools and agents say does not.
    """
    return any(map(_states, units([message for message in messages if message.role == "user"])))


def _states(unit: Unit) -> bool:
    if unit.cues.asks or not content_of(unit.text).size:
        return False
    if cues.asked(unit.text, unit.words):
        return unit.cues.own and unit.cues.strong
    return unit.cues.own or unit.cues.strong or not unit.cues.reacts


def _says_no_word(line: str) -> bool:
    """Whether a line holds neither a letter nor a digit, or only markup; a filler character of Hangul is no letter."""
    shown = _MARKUP.sub("", line).translate(_INVISIBLE)
    return _BARE.fullmatch(shown) is not None
