"""Thinking of a reflection: answers are asked for until one is short enough and keeps what matters; the best one counts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from om_api.billing.prices import EXTRACTIVE
from om_api.domain.errors import ModelError
from om_api.domain.values import Candidate
from om_workers.llm.base import Reply, Request, TooLongError
from om_workers.process.stopping import StoppedError
from om_workers.prompts.loss import Check
from om_workers.prompts.parse import Reflected

LEVELS = 4  # of compression, tried one after the other until an answer is small enough
HARDEST = 4
_AGAIN = 2  # answers to the list of what was dropped
USUAL = 0.75  # of the notes' tokens: what every fact that matters has room in


class Task(NamedTuple):
    """Texts to condense, oldest first: their tokens (`size`), the tokens to stay below, the first level, the greatest loss.

    A `part` is one of several of the same reflection.
    """

    texts: Sequence[str]
    size: int
    target: int
    start: int
    max_loss: float
    part: bool = False

    @property
    def room(self) -> float:
        """The target as a share of what all facts need."""
        return self.target / max(1, self.size * USUAL)

    @property
    def asked_again_above(self) -> float:
        """The loss above which a model is asked again, though the answer may be committed."""
        return self.max_loss / 2 if self.max_loss < 1 else 1.0


class UsableAnswer(NamedTuple):
    """One usable answer: its tokens, whether it is short enough, the share of facts that it lost, and which.

    A `lossy` one lost more than may be committed.
    """

    said: Reflected
    tokens: int
    fits: bool
    level: int
    loss: float
    dropped: tuple[str, ...]
    model: str
    lossy: bool = False

    @property
    def rank(self) -> tuple[bool, bool, float, int]:
        """Orders answers, the best first: not lossy, fitting, least loss; of those too long the shortest."""
        return self.lossy, not self.fits, self.loss if self.fits or self.lossy else 0.0, self.tokens


class Condensed(NamedTuple):
    """The best answer, all that it was chosen from, and their cost together (None: unknown).

    `parts` are the answers that it was joined from, if it was made in parts.
    """

    best: UsableAnswer
    candidates: tuple[Candidate, ...]
    cost: float | None
    parts: tuple[Reflected, ...] = ()


def judged(task: Task, check: Check, said: Reflected, level: int, tokens: int, model: str) -> UsableAnswer:
    """An answer with its loss. The built-in reflector is judged as the hardest level: it leaves out unmarked lines on purpose."""
    found = check.of(said.text, HARDEST if model == EXTRACTIVE else level)
    lossy = found.loss > task.max_loss
    return UsableAnswer(said, tokens, tokens < task.target, level, found.loss, found.dropped, model, lossy)


class Condensing:
    """One task's way to its best answer.

    `form` makes the request for a level and a list of what was dropped, `ask` has it answered and raises ModelError (not
    retryable) for an answer that cannot be used, `count` counts tokens, `keep` puts what is pinned into an answer that lacks it.
    """

    def __init__(
        self,
        task: Task,
        form: Callable[[int, Sequence[str]], Request],
        ask: Callable[[Request], tuple[Reply, Reflected]],
        count: Callable[[str], int],
        keep: Callable[[str], str] = str,
    ) -> None:
        self._task, self._form, self._ask, self._count, self._keep = task, form, ask, count, keep
        self._check = Check(task.texts, room=task.room)
        self._answers: list[UsableAnswer] = []
        self._costs: list[float | None] = []
        self._refusal: ModelError | None = None

    def condense(self) -> Condensed:
        """Ask at most four levels, and at most twice more with what was dropped; the best answer of them all.

        After an answer that is too long, empty or in a loop, the next level is asked for. After one that lost more than half
        of the greatest loss, the same level is asked for with the list of lost facts, unless the answer repeats itself. Raises
        ModelError when the model fails before any usable answer, or (not retryable) when none was usable: the memory
        must stay as it is then. Raises StoppedError when this process stops before any usable answer.
        """
        level, top, again = self._task.start, min(HARDEST, self._task.start + LEVELS - 1), 0
        dropped: tuple[str, ...] = ()
        while level <= top:
            try:
                answer = self._next(level, dropped)
            except (ModelError, StoppedError):
                if self._answers:  # not what was wished for, but good
                    break
                raise
            if answer is None or not answer.fits:
                level += 1
            elif answer.loss <= self._task.asked_again_above or again == _AGAIN or self._repeats(answer):
                break
            else:
                again, dropped = again + 1, answer.dropped
        return self._best()

    def _next(self, level: int, dropped: Sequence[str]) -> UsableAnswer | None:
        """The next answer, kept among the candidates; None if it cannot be used."""
        try:
            reply, said = self._ask(self._form(level, dropped))
        except ModelError as error:
            if error.retryable or isinstance(error, TooLongError):
                raise
            self._refusal = error
            return None
        self._costs.append(reply.cost)
        if self._is_excuse(said, level):
            self._refusal = ModelError(
                f"{reply.model} gave an excuse instead of a memory", retryable=False, why="unusable"
            )
            return None
        said = replace(said, text=self._keep(said.text))
        answer = judged(self._task, self._check, said, level, self._count(said.text), reply.model)
        self._answers.append(answer)
        return answer

    def _is_excuse(self, said: Reflected, level: int) -> bool:
        """Whether it is no list, and keeps nothing; what is pinned would stand in any excuse."""
        if said.listed:
            return False
        found = self._check.of(said.text, level)
        return bool(found.dropped) and not found.kept

    def _repeats(self, answer: UsableAnswer) -> bool:
        """Whether it says what was said before: a model without words, or without a choice, says it for ever."""
        return any(answer.said.text == earlier.said.text for earlier in self._answers[:-1])

    def _best(self) -> Condensed:
        if not self._answers:
            raise ModelError(
                f"no usable reflection, the memory stays as it is: {self._refusal}. It is asked again; if that does not end,"
                " name another reflector_model",
                retryable=False,
                why="unusable",
            )
        candidates = tuple(
            Candidate(level=one.level, tokens=one.tokens, loss=one.loss, model=one.model) for one in self._answers
        )
        known = [cost for cost in self._costs if cost is not None]
        cost = sum(known) if len(known) == len(self._costs) else None
        return Condensed(min(self._answers, key=lambda one: one.rank), candidates, cost)
