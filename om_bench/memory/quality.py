"""Quality: what a memory keeps of a talk, at given budgets and through the pipeline, beside what it is compared with."""

import re
from collections.abc import Callable, Sequence

import msgspec

from om_api.context import Context
from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_api.language.calendar import MONTH, ORDINAL, month_number
from om_bench.harness.pipeline import Pipeline, pipeline
from om_bench.harness.talks import Talk
from om_bench.memory.baselines import Searched, at_random, last, shown
from om_bench.memory.support import Support
from om_workers.llm.base import Request
from om_workers.llm.extractive.observe import observe

_DAY = rf"(?P<day>3[01]|[12]\d|0?[1-9]){ORDINAL}(?![\d:%])"
_NAMED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<month>{MONTH})\b\.?\s+(?:the\s+)?{_DAY}",
        rf"\b{_DAY}\s+(?:of\s+)?(?P<month>{MONTH})\b",
        r"\b(?:19|20)\d\d-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)",
    )
]


class CacheReplay:
    """Contexts in the order they were read, each beside the one read before it in its thread.

    `share` is how much of each context's bytes the next one begins with, over all of them: what a prompt cache holds that
    is of use again. `phi` is what had to be read afresh for each token that was appended: 1.0 is a history that only grows.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._last: dict[str, bytes] = {}
        self._same = self._all = self._fresh = self._appended = 0

    def read(self, text: str, appended: int, thread: str = "") -> None:
        """Take in a thread's next context, which `appended` tokens of messages came before."""
        now = text.encode()
        if before := self._last.get(thread):
            same = _common(before, now)
            self._same += same
            self._all += len(before)
            self._fresh += self._count(now[same:].decode(errors="ignore"))
            self._appended += appended
        self._last[thread] = now

    @property
    def share(self) -> float:
        """The bytes that were read again from the beginning on, of all that could have been; 1.0 before the second."""
        return self._same / self._all if self._all else 1.0

    @property
    def phi(self) -> float:
        """Tokens read afresh for each one appended; 0.0 before the second context."""
        return self._fresh / self._appended if self._appended else 0.0


def _common(before: bytes, now: bytes) -> int:
    """How many bytes two texts have in common from the beginning on, found by halves."""
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if before[:middle] == now[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Tally(msgspec.Struct):
    """How many of how many."""

    of: int = 0
    did: int = 0

    def add(self, did: int, of: int) -> None:
        """Count further ones."""
        self.did += did
        self.of += of

    @property
    def percent(self) -> float:
        """The share in percent, with one decimal."""
        return round(100 * self.did / self.of, 1) if self.of else 0.0

    @property
    def shown(self) -> str:
        """The same for people; `-` where there was nothing to count."""
        return str(self.percent) if self.of else "-"


class Calibration(msgspec.Struct):
    """Whether the scorer can be believed: the whole talk, a half of its turns at random, another talk."""

    full: Tally
    half: Tally
    wrong: Tally


class BudgetScores(msgspec.Struct):
    """S of contexts that have `share` of the talk's tokens; `tokens` is what the extractive observer took of them.

    `dates`: the questions that a day answers, and of how many of them the notes spell it out.
    """

    share: float
    tokens: Tally
    extractive: Tally
    last: Tally
    random: Tally
    bm25: Tally
    dates: Tally


class Online(msgspec.Struct):
    """What came of talks that were pushed message by message: S of the last context, and what reading each one took.

    `whole_phi` counts the volatile block too, which comes last and anew in every context and tells how long ago things
    were; the other figures do not, so that they are the same on any day. `settings` differ from the defaults.
    """

    settings: tuple[str, ...]
    supported: Tally
    tokens: Tally
    dates: Tally
    prefix_share: list[float]
    phi: list[float]
    whole_phi: list[float]
    window_phi: list[float]
    history_phi: list[float]
    compression: list[float]


def calibrate(talks: Sequence[Talk], count: Count) -> Calibration:
    """Score whole talks, halves of them, and each talk by the next one; a single talk by itself backwards is no other."""
    found = Calibration(Tally(), Tally(), Tally())
    texts = [shown(talk.messages) for talk in talks]
    for place, talk in enumerate(talks):
        support, asked = Support(talk), len(talk.questions)
        found.full.add(len(support.supported(texts[place])), asked)
        found.half.add(len(support.supported(at_random(talk.messages, count(texts[place]) // 2, count))), asked)
        if len(talks) > 1:
            found.wrong.add(len(support.supported(texts[(place + 1) % len(talks)])), asked)
    return found


def at_budget(talks: Sequence[Talk], share: float, count: Count) -> BudgetScores:
    """S of every kind of context at one budget."""
    found = BudgetScores(share, *(Tally() for _ in range(6)))
    for talk in talks:
        whole, support, asked = count(shown(talk.messages)), Support(talk), len(talk.questions)
        size = int(share * whole)
        notes = observed(talk, size)
        found.tokens.add(count(notes), whole)
        found.extractive.add(len(support.supported(notes)), asked)
        _add_dates(found.dates, talk, notes)
        found.last.add(len(support.supported(last(talk.messages, size, count))), asked)
        found.random.add(len(support.supported(at_random(talk.messages, size, count))), asked)
        searched = Searched(talk.messages)
        hits = (
            place in support.supported(searched.find(question, size, count))
            for place, question in enumerate(talk.questions)
        )
        found.bm25.add(sum(hits), asked)
    return found


def observed(talk: Talk, tokens: int) -> str:
    """The extractive observer's notes of a whole talk."""
    return observe(Request(purpose="observe", system="", prompt="", messages=talk.messages, target_tokens=tokens))


def online(talks: Sequence[Talk], count: Count, settings: Sequence[str], url: str | None = None) -> Online:
    """Push talks one after the other, each into an empty memory, and read a context after every message.

    `settings` are "name=value"; the sliding window that is compared has as many tokens as the message threshold. On a
    store of its own, or on that of `url`. Raises SettingsError and StoreError.
    """
    found = Online(tuple(settings), Tally(), Tally(), Tally(), [], [], [], [], [], [])
    with pipeline(url, settings) as running:
        for talk in talks:
            _replayed(talk, running, count, found)
    return found


def _replayed(talk: Talk, running: Pipeline, count: Count, found: Online) -> None:
    ours, whole, sliding, history = (CacheReplay(count) for _ in range(4))
    texts: list[str] = []
    resource = talk.messages[0].resource_id
    window = running.message_threshold
    for message in talk.messages:
        running.push(message)
        texts.append(_written(message))
        context, appended = running.om.get_context(message.thread_id, resource), count(texts[-1])
        ours.read(steady(context), appended, message.thread_id)
        whole.read(context.text, appended, message.thread_id)
        history.read("\n".join(texts), appended)
        sliding.read(_sliding(texts, window, count), appended)
    _note(talk, steady(context), running, count, found)
    found.prefix_share.append(round(ours.share, 4))
    found.phi.append(round(ours.phi, 3))
    found.whole_phi.append(round(whole.phi, 3))
    found.window_phi.append(round(sliding.phi, 3))
    found.history_phi.append(round(history.phi, 3))
    running.om.clear(resource)


def steady(context: Context) -> str:
    """A context without its volatile block: what is worth caching."""
    return "\n".join(block.text for block in context.blocks if block.kind != "volatile")


def _note(talk: Talk, text: str, running: Pipeline, count: Count, found: Online) -> None:
    support = Support(talk)
    found.supported.add(len(support.supported(text)), len(talk.questions))
    found.tokens.add(count(text), count(shown(talk.messages)))
    _add_dates(found.dates, talk, text)
    observations = running.om.observations(talk.messages[0].resource_id)
    noted = sum(each.tokens for each in observations)
    found.compression.append(round(sum(each.message_tokens for each in observations) / max(1, noted), 1))


def named_days(text: str) -> set[tuple[int, int]]:
    """The (month, day) pairs that talk names, months in lower case too: "may the 7th", "7th of May 2023", "2023-05-07"."""
    named = ((match["month"], int(match["day"])) for pattern in _NAMED for match in pattern.finditer(text))
    return {(int(month) if month.isdigit() else month_number(month), day) for month, day in named}


def _add_dates(found: Tally, talk: Talk, text: str) -> None:
    days, answers = named_days(text), [named_days(question.answer) for question in talk.questions]
    found.add(sum(1 for answer in answers if answer and answer <= days), sum(map(bool, answers)))


def _written(message: Message) -> str:
    """All that a model is billed for of a message: calls and results of tools too."""
    return message.content if isinstance(message.content, str) else msgspec.json.encode(message.content).decode()


def _sliding(texts: Sequence[str], window: int, count: Count) -> str:
    """The newest texts that fit into a window."""
    first, used = len(texts), 0
    while first and used + count(texts[first - 1]) <= window:
        first -= 1
        used += count(texts[first])
    return "\n".join(texts[first:])
