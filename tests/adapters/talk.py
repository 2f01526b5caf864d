"""A talk of an agent that has tools: what is said at each turn, and what the memory should know of it then."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from world import World

from adapters.drivers.protocol import INSTRUCTIONS
from om_api import Message

WORD = re.compile(r"\bw\d+\.\d+\b")  # each message of a talk has one of its own: w<turn>.<n>
_CLOSING = "<system-reminder"


def check_call(call: dict[str, Any], said: Sequence[str], agent: str = "main") -> None:
    """A model sees the end of what was said, as it was said, in order and once; what precedes that stands in its notes.

    The agent's own prompt comes first; each call of a tool is answered right behind it, and nothing else is.
    """
    seen = shown(call)

    assert seen == [*said][len(said) - len(seen) :], f"shown: {seen}\nsaid: {[*said]}"
    assert seen[-1:] == [*said][-1:]
    assert "<observations" in call["system"] or len(seen) == len(said)
    assert call["system"].startswith(INSTRUCTIONS[agent]), call["system"][:200]
    check_pairs(call["messages"])


def check_pairs(messages: Sequence[dict[str, Any]]) -> None:
    """Each call is answered before anybody else speaks, and no answer stands without its call."""
    waiting = set[str]()
    for message in messages:
        if message["role"] == "tool":
            assert {*message["answers"]} <= waiting, f"{message['answers']} answer none of {waiting}"
            waiting -= {*message["answers"]}
        else:
            assert not waiting or message["role"] == "assistant", f"{waiting} are not answered"
            waiting |= {each["id"] for each in message["calls"]}
    assert not waiting, f"{waiting} are not answered"


def shown(call: dict[str, Any]) -> list[str]:
    """The words of what the model saw as it was said, without what closes the context."""
    said = [each["text"] for each in call["messages"] if not each["text"].lstrip().startswith(_CLOSING)]
    return [word for text in said for word in WORD.findall(text)]


def closing(call: dict[str, Any]) -> str:
    """What closes the context, if anything does."""
    last = str(call["messages"][-1]["text"])
    return last if last.lstrip().startswith(_CLOSING) else ""


def check_kept(world: World, said: Sequence[str], thread: str = "t-1") -> None:
    """Each thing that was said is kept once, raw or behind a note, and nothing of ours is."""
    kept = {message.id: message for message in world.om.messages("harold", thread)}
    for observation in world.om.observations("harold", thread):
        kept |= {message.id: message for message in world.om.sources(observation.id, "harold")}
    texts = [text for message in kept.values() for text in _texts(message)]

    assert Counter(word for text in texts for word in WORD.findall(text)) == Counter(said)
    assert not [text for text in texts if _CLOSING in text or "<observations" in text]
    assert world.covering() == sorted({*world.covering()})
    assert world.om.verify() == []


def _texts(message: Message) -> list[str]:
    if isinstance(message.content, str):
        return [message.content]
    return [str(part.get("text") or part.get("result") or "") for part in message.content]


Reply = dict[str, Any]
_LONG = "and then they went on to talk about the weather in the north, "


class SaidTurn(NamedTuple):
    """A turn: what the user says, what the model replies at each call, and the words of all that was said before that call."""

    text: str
    replies: list[Reply]
    before: list[list[str]]

    @property
    def words(self) -> list[str]:
        """The words of all of it."""
        return [*self.before[-1], self.text.split(".")[0] + ".9"]


def turn_of(n: int, *, long: int = 2) -> SaidTurn:
    """The n-th turn: every third one asks two tools at once, and then another one alone."""
    text = f"w{n}.1 {_LONG * long}"
    answer = {"text": f"w{n}.9 {_LONG * long}".strip()}
    if n % 3:
        return SaidTurn(text.strip(), [answer], [[f"w{n}.1"]])
    both = [_call(f"c{n}-{k}", "look_up", key=f"w{n}.{k}") for k in (3, 4)]
    asked = {"text": f"w{n}.2 {_LONG}".strip(), "calls": both}
    alone = {"text": "", "calls": [_call(f"c{n}-5", "tell", n=12)]}
    known = [f"w{n}.{k}" for k in (1, 2, 3, 4)]
    return SaidTurn(text.strip(), [asked, alone, answer], [known[:1], known, known])


def _call(name: str, tool: str, **args: Any) -> dict[str, Any]:
    return {"id": name, "name": tool, "args": args}
