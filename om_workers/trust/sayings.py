"""Sayings: what one speaker of a conversation says in his own words, and what he only hands on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from om_api.domain.media import named as without_data
from om_api.domain.messages import Message
from om_api.domain.notes.trust import Trust
from om_api.domain.tool_calls import named
from om_workers.trust.pasting import parted

PASTED = "text that the user pasted"
LONGEST = 200_000  # characters read of one saying: no model is shown more of it


class Saying(NamedTuple):
    """Words of one speaker: who that is for a reader, whether they are trusted, and whether a person speaks for himself (`own`).

    `pasted`: the user handed them on, who may well mean what they say of him, and not what they ask of a model.
    """

    source: str
    text: str
    trusted: bool
    own: bool = False
    pasted: bool = False


def sayings(messages: Iterable[Message], trust: Trust, thread: str) -> list[Saying]:
    """What was said in a thread's messages, by whom, and whether that is trusted."""
    names, found = dict[str, str](), list[Saying]()
    everything = trust.of_thread(thread)
    for message in messages:
        for part in named(message, names).parts:
            found += _of(message, part, trust, "" if everything else f"thread {thread}")
    return [each._replace(text=each.text[:LONGEST]) for each in found if each.text.strip()]


def all_untrusted(said: Sequence[Saying]) -> bool:
    """Whether nobody is trusted who says anything; what a user pastes is his message."""
    return bool(said) and not any(each.trusted or each.pasted for each in said)


def _of(message: Message, part: Mapping[str, Any], trust: Trust, distrusted: str) -> Iterator[Saying]:
    if part["type"] == "tool-result" or message.role == "tool":
        name = str(part.get("name") or message.name or "")
        said = "\n".join(
            leaves(without_data(part.get("result") if part["type"] == "tool-result" else part.get("text")))
        )
        yield Saying(distrusted or f"tool {name}".strip(), said, trust.of_tool(name) and not distrusted)
        return
    said = "\n".join(leaves({key: value for key, value in part.items() if key in _SAID}))
    trusted = trust.of_role(message.role) and not distrusted
    if message.role == "user" and trusted:
        yield from _own_and_pasted(said, message.speaker, handed_on=part["type"] != "text")
    else:
        source = distrusted or ("somebody who writes as the user" if message.role == "user" else f"the {message.role}")
        yield Saying(source, said, trusted, own=trusted and message.role == "system")


_SAID = {"text", "args", "content", "data", "title"}


def leaves(value: Any, deep: int = 0) -> Iterator[str]:
    """Every text, number and name of a field within a JSON value, each field with what it says."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and deep < _DEEP:
        for key, each in value.items():
            said = [*leaves(each, deep + 1)]
            yield from [f"{key} {said[0]}", *said[1:]] if said and key not in _SAID else said
    elif isinstance(value, list | tuple) and deep < _DEEP:
        for each in value:
            yield from leaves(each, deep + 1)
    elif value is not None:
        yield str(value)


_DEEP = 50


def _own_and_pasted(text: str, speaker: str, *, handed_on: bool) -> Iterator[Saying]:
    own, pasted = ([], [text]) if handed_on else parted(text)
    if own:  # notes name the speaker, so the name is among what was heard
        yield Saying("the user", "\n".join([*own, *filter(None, [speaker])]), trusted=True, own=True)
    if pasted:
        yield Saying(PASTED, "\n".join(pasted), trusted=False, pasted=True)
