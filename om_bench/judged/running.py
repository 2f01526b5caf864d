"""A run: of each talk a memory is made, its questions are answered and judged, and each of it stands in the journal at once."""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from om_api.context import Context
from om_bench.harness.pipeline import Pipeline
from om_bench.harness.talks import RESOURCE, Talk, TalkQuestion
from om_bench.judged import rules
from om_bench.judged.asking import Ask, RecallTool, answer, asker, judge
from om_bench.judged.journal import Journal, MemoryMade
from om_bench.judged.memories import AskedContexts, JudgedGround, asked_at, fill, standing
from om_bench.judged.protocols import JudgedProtocol

MEMORIES = "memories"  # the folder of those that a model took the notes of
_FRONT = "front"
Read: TypeAlias = Callable[
    [TalkQuestion, int], tuple[Context, RecallTool]
]  # what an agent reads who is asked, and looks up


class AskedQuestion(NamedTuple):
    """A question of a run, and the place of its talk in it."""

    place: int
    talk: Talk
    number: int
    question: TalkQuestion

    @property
    def key(self) -> str:
        """What the journal calls it."""
        return f"{self.place}-{self.talk.name}#{self.number}"


class RunManner(NamedTuple):
    """How a run asks: by whose names, how often recall may be used for a question, how many at once."""

    protocol: JudgedProtocol
    model: str
    judge: str
    recalls: int
    jobs: int


def chosen(
    talks: Sequence[Talk], kinds: Sequence[str], limit: int | None, protocol: JudgedProtocol
) -> list[AskedQuestion]:
    """The questions of some talks, those of these kinds alone where any are named; `limit` of them, spread over all."""
    every = [
        AskedQuestion(place, talk, number, question)
        for place, talk in enumerate(talks)
        for number, question in enumerate((*talk.questions, *talk.unproven))
        if talk.messages and (not kinds or set(kinds) & {question.kind, *protocol.kinds(question)})
    ]
    if limit is None or limit >= len(every):
        return every
    return [every[number * len(every) // limit] for number in range(limit)]


def left(asked: Iterable[AskedQuestion], kept: Journal) -> list[AskedQuestion]:
    """The questions that a journal has no judgement of yet."""
    return [each for each in asked if each.key not in kept.judgements]


def run(
    asked: Sequence[AskedQuestion],
    kept: Journal,
    ground: JudgedGround,
    manner: RunManner,
    told: Callable[[], None] = lambda: None,
) -> None:
    """Answer and judge what a journal has not yet; `told` hears of each question that is done.

    Raises the first error of anybody, when whoever is at something has ended it: ModelError where a model was away for minutes
    or cannot be asked, StoreError. What stands in the journal by then is not asked again.
    """
    working = _Running(kept, manner, told)
    open_ = left(asked, kept)
    jobs = manner.jobs
    with standing(ground, _FRONT) as front, ThreadPoolExecutor(jobs) as askers, ThreadPoolExecutor(jobs) as talks:
        working.reader = asker(manner.model, rules.read, front.services.models)
        working.judge = asker(manner.judge, rules.judge, front.services.models)
        of_talks = [list(group) for _, group in groupby(open_, attrgetter("place"))]
        working.ended([talks.submit(working.talk, questions, ground, askers) for questions in of_talks])


class _Running:
    """What its threads share."""

    reader: Ask
    judge: Ask

    def __init__(self, kept: Journal, manner: RunManner, told: Callable[[], None]) -> None:
        self._kept, self._manner, self._told = kept, manner, told
        self._over = threading.Event()  # somebody failed: what is not begun is left

    def ended(self, pending: Sequence[Future[None]]) -> None:
        """Return when all have ended well; else tell the others to begin nothing more, and raise."""
        try:
            done, _ = wait(pending, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        except BaseException:
            self._over.set()
            wait(pending)  # what is paid for already is written down, and reads its memory while there is one
            raise

    def talk(self, questions: Sequence[AskedQuestion], ground: JudgedGround, askers: ThreadPoolExecutor) -> None:
        """Answer and judge the questions of a talk, with its memory where one of them is not answered yet."""
        if self._over.is_set():
            return
        unanswered = any(asked.key not in self._kept.answers for asked in questions)
        with ExitStack() as inside:
            read = (
                self._remembered(inside.enter_context(standing(ground, str(questions[0].place))), questions[0])
                if unanswered
                else _none
            )
            self.ended([askers.submit(self._question, asked, read) for asked in questions])

    def _remembered(self, running: Pipeline, asked: AskedQuestion) -> Read:
        """A way to read the memory of a talk, which is made first."""
        spent = fill(running, asked.talk, self._kept.folder / MEMORIES / f"{asked.place}.jsonl")
        if spent.calls:
            self._kept.add(MemoryMade(str(asked.place), spent))
        contexts = AskedContexts(running)
        look = RecallTool(lambda words: running.om.answer_recall({"query": words}, RESOURCE), self._manner.recalls)
        return lambda question, at: (contexts.asked(question, at), look)

    def _question(self, asked: AskedQuestion, read: Read) -> None:
        """Answer a question and have it judged, each unless it was."""
        if self._over.is_set():
            return
        question, kept = asked.question, self._kept
        if asked.key not in kept.answers:
            at = asked_at(question, asked.talk)
            context, look = read(question, at)
            kept.add(answer(self.reader, asked.key, question, at, context, look))
        kept.add(judge(self.judge, self._manner.protocol, question, kept.answers[asked.key]))
        self._told()


def _none(_question: TalkQuestion, _at: int) -> tuple[Context, RecallTool]:
    raise AssertionError("all questions of this talk are answered: nobody reads its memory")
