"""Asking: the reader answers from a context, looking up what it likes; the judge says what of the answer is right.

Providers here take a system prompt and a text, and so does this: recall is a line that the reader writes, `RECALL: words`,
whoever serves it. Both go by way of `ModelCalls`: limits, breakers, retries and prices hold as for any call.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from om_api.context import Context
from om_api.domain.errors import ModelError
from om_api.domain.tags import escape, without_brackets
from om_bench.harness.talks import TalkQuestion
from om_bench.judged.journal import Answered, JudgedAnswer, SpentTokens
from om_bench.judged.patience import patiently
from om_bench.judged.prompts import prompt, rule
from om_bench.judged.protocols import JudgedProtocol, mark, verdict
from om_workers.calls.model_calls import ModelCalls
from om_workers.llm.base import BilledError, Reply, Request

Ask = Callable[[Request], Reply]
SCRIPTED = "scripted"
_RECALL = re.compile(r"^\W*RECALL\W*:\s*(.+)$", re.MULTILINE)
_LONGEST_QUERY = 300
_LOOKED = "it went on to look things up and answered nothing"
_NO_MORE = "You have used recall as often as you may: answer now."


class RecallTool(NamedTuple):
    """What recall answers to some words, and how often it may be asked for one question."""

    up: Callable[[str], str]
    most: int


def asker(name: str, scripted: Ask, calls: ModelCalls) -> Ask:
    """Whoever answers for a model's name: the rules that need none for `scripted`, else the model, for as long as it takes.

    Raises ModelError where it cannot, or was away for minutes.
    """
    if name == SCRIPTED:
        return scripted
    return lambda request: patiently(partial(_asked, calls, name, request), _is_settled)


def _asked(calls: ModelCalls, name: str, request: Request) -> Reply:
    reply, _ = calls.ask("", [name], request, lambda reply: reply)
    return reply


def answer(ask: Ask, key: str, question: TalkQuestion, at: int, context: Context, look: RecallTool) -> Answered:
    """What a reader answers who is shown a context; it fails where no answer can be used, and that is an answer, too.

    Raises ModelError where the model was away.
    """
    request = _reading(question, at, context, look.most)
    recalls, spent = list[str](), SpentTokens()
    while True:
        try:
            reply = ask(request)
        except ModelError as error:
            if _is_away(error):
                raise
            return Answered(key, "", context.tokens, tuple(recalls), str(error), spent + _billed(error))
        spent += _spent(reply)
        query = _query(reply.text)
        if query is None or len(recalls) == look.most:
            text, failed = (reply.text.strip(), "") if query is None else ("", _LOOKED)
            return Answered(key, text, context.tokens, tuple(recalls), failed, spent)
        recalls.append(query)
        request = _further(request, query, look.up(query), last=len(recalls) == look.most)


def _reading(question: TalkQuestion, at: int, context: Context, rounds: int) -> Request:
    """The context as a provider is handed it: what is of the system behind our own, what else is said as one text."""
    said = [str(each["content"]) for each in context.as_openai() if each["role"] != "system"]
    asked = f"(This is asked on {datetime.fromtimestamp(at / 1000, UTC):%A, %B %d, %Y}.)"
    own = [prompt("reader"), *([prompt("recall").format(rounds=rounds)] if rounds else [])]
    return Request(
        purpose="try",
        system="\n\n".join(filter(None, [*own, context.system])),
        prompt="\n\n".join([*said, asked]),
        task=question.text,
        observations=("\n".join(block.text for block in context.blocks if block.kind != "message"),),
    )


def _further(request: Request, query: str, found: str, *, last: bool) -> Request:
    """The same with what was found behind it."""
    told = f"RECALL: {escape(query)}\n<recalled>\n{found}\n</recalled>"
    parts = [request.prompt, told, *([_NO_MORE] if last else [])]
    return Request(
        purpose="try",
        system=request.system,
        prompt="\n\n".join(parts),
        task=request.task,
        observations=(*request.observations, found),
    )


def _query(text: str) -> str | None:
    """What a reader looks up, None where it answers."""
    found = _RECALL.search(text)
    return found[1].strip()[:_LONGEST_QUERY] if found else None


def judge(ask: Ask, protocol: JudgedProtocol, question: TalkQuestion, answered: Answered) -> JudgedAnswer:
    """What a judge says of an answer: the mean over a rubric's items, else right or wrong. Nobody is asked of no answer.

    Words that are no verdict are asked for once more, then they count as wrong. Raises ModelError where the judge was away.
    """
    if not answered.text:
        return JudgedAnswer(answered.key, 0.0)
    named = protocol.rule(question)
    scores, said, unread, spent = list[float](), list[str](), 0, SpentTokens()
    for right in _right(named, question):
        request = _judging(named, question, right, answered.text)
        score, text, more = _judgements(ask, request, verdict if named else mark)
        scores.append(score or 0.0)
        said.append(text)
        unread += score is None
        spent += more
    return JudgedAnswer(answered.key, sum(scores) / len(scores), tuple(said), unread, spent)


def _right(named: str, question: TalkQuestion) -> tuple[str, ...]:
    if not named:
        return question.rubric
    return (question.answer or ("It was not said." if question.declined else ""),)


def _judging(named: str, question: TalkQuestion, right: str, text: str) -> Request:
    """What is judged stands in tags that nothing in it can close."""
    sections = {"question": question.text, "right" if named else "demand": right, "answer": text}
    said = [f"<{name}>\n{without_brackets(value)}\n</{name}>" for name, value in sections.items()]
    system = prompt("judge").format(rule=rule(named)) if named else prompt("rubric")
    return Request(
        purpose="try", system=system, prompt="\n\n".join(said), task=named, observations=(question.text, right, text)
    )


def _judgements(
    ask: Ask, request: Request, read: Callable[[str], float | None]
) -> tuple[float | None, str, SpentTokens]:
    spent, text = SpentTokens(), ""
    for _ in range(2):
        try:
            reply = ask(request)
        except ModelError as error:
            if _is_away(error):
                raise
            text, spent = str(error), spent + _billed(error)
            continue
        text, spent = reply.text.strip(), spent + _spent(reply)
        if (score := read(text)) is not None:
            return score, text, spent
    return None, text, spent


def _is_away(error: ModelError) -> bool:
    """Whether the model may answer this another time: nothing is said of the question then."""
    return error.retryable and error.why != "unusable"


def _is_settled(error: ModelError) -> bool:
    """Whether waiting changes nothing: of what was asked, of a key or an address."""
    return not error.retryable or error.why in {"unusable", "refused"}


def _spent(reply: Reply) -> SpentTokens:
    unpriced = reply.cost is None and reply.usage.input > 0
    return SpentTokens(1, reply.usage.input, reply.usage.output, reply.cost or 0.0, int(unpriced))


def _billed(error: ModelError) -> SpentTokens:
    usage = error.usage if isinstance(error, BilledError) else None
    return SpentTokens(1, usage.input, usage.output, 0.0, 1) if usage else SpentTokens()
