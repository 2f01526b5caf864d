"""Reflections in parts, where one answer loses too much: parts that no model keeps are condensed by the built-in reflector."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from om_api.billing.prices import EXTRACTIVE
from om_api.domain.errors import ModelError
from om_api.domain.values import Candidate
from om_workers.llm.base import Reply, Request, TooLongError
from om_workers.prompts.loss import Check
from om_workers.prompts.parse import Reflected
from om_workers.work.condensing import HARDEST, Condensed, Condensing, Task, UsableAnswer, judged

_SMALLER = 2  # times that notes are halved because of loss; notes too large for a model are halved until they fit
_ROOM = (0.0, 0.6, 0.75, 0.9)  # shares of the notes' tokens that the built-in reflector may fill, one after the other
_SHORTER = 0.95  # of the notes' tokens: a smaller saving is not worth changing the prefix of every context
_LEAST_TARGET = 100
_UNUSABLE = Condensed(
    UsableAnswer(Reflected(), tokens=0, fits=True, level=0, loss=1.0, dropped=(), model="", lossy=True), (), 0.0
)
Ask = Callable[[Request], tuple[Reply, Reflected]]


class ReflectionMeans(NamedTuple):
    """How notes are condensed: `form` makes the request of a task for a level and a list of dropped facts.

    `ask` asks a model, `rules` the built-in reflector; both raise ModelError for an unusable answer. `count` counts tokens,
    `keep` adds pinned lines, `refused` reports answers of models that lost too much.
    """

    form: Callable[[Task, int, Sequence[str]], Request]
    ask: Ask
    rules: Ask
    count: Callable[[str], int]
    keep: Callable[[str], str]
    refused: Callable[[UsableAnswer], None]


def condense(task: Task, means: ReflectionMeans) -> Condensed:
    """Condense notes into one generation that loses at most `task.max_loss`.

    All notes are asked for at once first. If the answer loses too much, or the notes are too large for every model, they
    are halved, up to twice, or until they fit. A part that halving does not help goes to the built-in reflector, which
    selects marked lines first and gets more room while it loses too much; at last the part stays word for word. Raises
    ModelError as `Condensing.condense` does, and (not retryable) if the notes would not become shorter: the memory stays
    as it is and may exceed observation_threshold. It is tried again when there are more notes, or in an hour.
    """
    return _Parts(task, means).condense()


class _Parts:
    def __init__(self, task: Task, means: ReflectionMeans) -> None:
        self._task, self._means = task, means
        self._found: list[Condensed] = []

    def condense(self) -> Condensed:
        whole = self._asked(self._task)
        if whole and not whole.best.lossy:
            return whole
        shorter = self._task.size * _SHORTER
        if len(self._task.texts) > 1 and (not whole or whole.best.model != EXTRACTIVE):
            made = self._joined([*self._parts(self._task, _SMALLER)])
            if not made.best.lossy and made.best.tokens <= shorter:
                return made
        made = self._joined([self._by_rules(self._task)])
        if not made.best.lossy and made.best.tokens <= shorter:
            return made
        raise ModelError(
            "every reflection lost more than reflection.max_loss, so the memory stays as it is; it is tried again when there are"
            " more notes; raise reflection.max_loss, or name another reflector_model",
            retryable=False,
            why="unusable",
        )

    def _asked(self, task: Task) -> Condensed | None:
        """The best answer of the models; None if the notes are too large for each of them. Raises ModelError."""
        means = self._means
        keep = str if task.part else means.keep
        try:
            found = Condensing(task, lambda *asked: means.form(task, *asked), means.ask, means.count, keep).condense()
        except TooLongError:
            return None
        self._found.append(found)
        if found.best.lossy and found.best.model != EXTRACTIVE:
            means.refused(found.best)
        return found

    def _parts(self, task: Task, smaller: int) -> Iterator[Condensed]:
        """The halves of notes, condensed, oldest first."""
        halves = _halves(task, self._means.count)
        asked = [self._half(half) for half in halves]
        helps = any(came and not came.best.lossy for came in asked)
        for half, came in zip(halves, asked, strict=True):
            if came and not came.best.lossy:
                yield came
            elif len(half.texts) > 1 and (not came or (helps and smaller > 1)):
                yield from self._parts(half, smaller - 1)
            else:
                yield self._by_rules(half)

    def _half(self, half: Task) -> Condensed | None:
        """The same as `_asked`; an unusable answer counts as one that loses everything."""
        try:
            return self._asked(half)
        except ModelError as error:
            if error.retryable:
                raise
            return _UNUSABLE

    def _by_rules(self, task: Task) -> Condensed:
        """The first answer of the built-in reflector that is not lossy; else the notes unchanged."""
        means, check = self._means, Check(task.texts, room=task.room)
        for target in dict.fromkeys(max(task.target, int(task.size * share)) for share in _ROOM):
            reply, said = means.rules(means.form(task._replace(target=target), 0, ()))
            answer = judged(task, check, said, 0, means.count(said.text), reply.model)
            if not answer.lossy and answer.tokens < task.size:
                self._found.append(found := Condensed(answer, (_candidate(answer),), 0.0))
                return found
        said = Reflected(text="\n".join(task.texts), listed=True)
        return Condensed(judged(task, check, said, 0, task.size, EXTRACTIVE), (), 0.0)

    def _joined(self, parts: Sequence[Condensed]) -> Condensed:
        """One reflection of its parts, with the candidates and the cost of all answers."""
        bests, task = [part.best for part in parts], self._task
        said = Reflected(
            text=self._means.keep("\n".join(best.said.text for best in bests)),
            patterns=tuple(chain.from_iterable(best.said.patterns for best in bests)),
            insights=tuple(chain.from_iterable(best.said.insights for best in bests)),
            listed=True,
        )
        models = [*dict.fromkeys(best.model for best in bests)]
        level = HARDEST if EXTRACTIVE in models else max(best.level for best in bests)
        tokens = self._means.count(said.text)
        best = judged(task, Check(task.texts, room=task.room), said, level, tokens, ", ".join(models))
        known = [found.cost for found in self._found if found.cost is not None]
        cost = sum(known) if len(known) == len(self._found) else None
        candidates = tuple(chain.from_iterable(found.candidates for found in self._found))
        return Condensed(best, candidates, cost, tuple(best.said for best in bests))


def _halves(task: Task, count: Callable[[str], int]) -> list[Task]:
    """A task of several texts as two of about equal tokens, each with its share of the target."""
    sizes = [count(text) for text in task.texts]
    cut = min(range(1, len(sizes)), key=lambda at: abs(2 * sum(sizes[:at]) - sum(sizes)))
    return [_part(task, task.texts[:cut], sum(sizes[:cut])), _part(task, task.texts[cut:], sum(sizes[cut:]))]


def _part(task: Task, texts: Sequence[str], size: int) -> Task:
    target = max(_LEAST_TARGET, int(task.target * size / max(1, task.size)))
    return task._replace(texts=texts, size=size, target=target, part=True)


def _candidate(answer: UsableAnswer) -> Candidate:
    return Candidate(level=answer.level, tokens=answer.tokens, loss=answer.loss, model=answer.model)
