"""Calls of an agent: what each one brings, when, and how much is answered. Made of any recorded conversation."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.tokens import counter
from om_bench.cost.agent import conversation
from om_bench.harness.loading import load


class AgentCall(NamedTuple):
    """One call of the agent's model.

    `messages` are those since the call before: its answer, then what is new. `output` is the tokens of this call's own
    answer, `at` is in seconds.
    """

    messages: tuple[Message, ...]
    output: int
    at: float


def calls_of(messages: Sequence[Message], count: Callable[[str], int]) -> list[AgentCall]:
    """The calls of a conversation: each message of the assistant answers one, or each message is one if there is none."""
    answers = any(message.role == "assistant" for message in messages)
    found: list[AgentCall] = []
    before: list[Message] = []
    for new, answer in _asked(messages) if answers else (([message], None) for message in messages):
        if not new:
            before += [answer] if answer else []
            continue
        output = count_message(answer, count) if answer else 0
        found.append(AgentCall((*before, *new), output, new[-1].at / 1000))
        before = [answer] if answer else []
    return found


def _asked(messages: Iterable[Message]) -> Iterator[tuple[list[Message], Message | None]]:
    """What came before each of the assistant's messages, and the message."""
    new: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            yield new, message
            new = []
        else:
            new.append(message)


def agent(calls: int) -> tuple[str, list[AgentCall]]:
    """The agent of our own making, by its name, called so often."""
    count = counter()
    return "A tool-using agent of our own making", calls_of(list(conversation(calls, count)), count)


def recorded(file: Path) -> tuple[str, list[AgentCall]]:
    """The first conversation of a file by its name, in any format that is known. Raises InvalidInputError for another."""
    talk = load(file)[0]
    return talk.name, calls_of(talk.messages, counter())


def with_breaks(calls: Sequence[AgentCall], every: int, seconds: float) -> list[float]:
    """The times of calls if the user was away for some seconds after every so many calls."""
    return [call.at + place // every * seconds for place, call in enumerate(calls)]


def moved(calls: Sequence[AgentCall], ms: int) -> Iterator[AgentCall]:
    """The calls later by some milliseconds."""
    for call in calls:
        later = tuple(msgspec.structs.replace(m, at=m.at + ms, timestamp=m.at + ms) for m in call.messages)
        yield call._replace(messages=later)
