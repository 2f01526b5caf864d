"""Sayings: what one speaker of a conversation says in his own words, and what he only hands on."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from om_api.domain.messages import Message
from om_api.domain.notes.trust import Trust
from om_api.domain.tool_calls import named
from om_workers.trust.disguises import is_hidden
from om_workers.trust.looks import Look, look_of

PASTED = "text that the user pasted"
LONGEST = 200_000  # characters read of one saying: no model is shown more of it
_LONG = 800  # characters of a message from which on its orders to a model are taken for handed on
_THINGS = (
    r"(?:e-?mails?|mails?|messages?|texts?|pages?|web ?sites?|articles?|documents?|docs?|files?|reviews?|posts?|comments?"
    r"|letters?|contracts?|pdfs?|readme|issues?|tickets?|logs?|outputs?|snippets?|code|papers?|transcripts?|notes?|invoices?|cvs?"
    r"|quotes?|chats?|threads?|results?|nachricht\w*|artikel|dokumente?|seite|datei|courriels?|texte|pièce"
    r"|r[eé]sum[eé]s?|correos?|texto|página|mensajes?|artículos?|documentos?)"
)
_THE = r"(?:this|these|the|that|following|my|a|an|diese\w*|folgende\w*|der|die|das|ce|cet|cette|le|la|este|esta|el)"
_READ = (
    r"(?:summari[sz]e|translate|proofread|rewrite|check|read|review|explain|look at|what (?:does|is)|got|received|found|says?"
    r"|said|wrote|reads)"
)
_INTRO = re.compile(
    rf"\b{_THE}\b[^.!?:\n]{{0,40}}\b{_THINGS}\b[^.!?:\n]{{0,60}}:"
    rf"|\b{_READ}\b[^.!?:\n]{{0,30}}\b(?:this|these|following|it|says?|said)?:",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"[ \t]*(?:(?:from|to|subject|sent|cc|von|an|betreff|de|objet|asunto)[ \t]*:[ \t]*\S"
    r"|-{3,}.*\b(?:forwarded|original|begin|weitergeleitet)\b|on .{5,80} wrote:"
    r"|<(?:!|html|body|div|p|span|script|table|h[1-6])\b|<\|\w+\|>|\[/?INST\]|<</?SYS>>"
    r"|(?:#+[ \t]*)?(?:system|assistant|human|developer|user)[ \t]*:|=+ ?begin|</?[a-z_]{3,30}>)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«]([^\"”“»\n]{25,4000})[\"”»]")
_FENCE = "```"


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
        said = "\n".join(leaves(part.get("result") if part["type"] == "tool-result" else part.get("text")))
        yield Saying(distrusted or f"tool {name}".strip(), said, trust.of_tool(name) and not distrusted)
        return
    said = "\n".join(leaves({key: value for key, value in part.items() if key in _SAID}))
    trusted = trust.of_role(message.role) and not distrusted
    if message.role == "user" and trusted:
        yield from _own_and_pasted(said, handed_on=part["type"] != "text")
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


def _own_and_pasted(text: str, *, handed_on: bool) -> Iterator[Saying]:
    own, pasted = ([], [text]) if handed_on else parted(text)
    if own:
        yield Saying("the user", "\n".join(own), trusted=True, own=True)
    if pasted:
        yield Saying(PASTED, "\n".join(pasted), trusted=False, pasted=True)


def parted(text: str) -> tuple[list[str], list[str]]:
    """The lines of a user's message: his own, and those that he hands on, by how people do that.

    What stands behind "this text:", in quotation marks or a fence, behind the head of a mail or a turn of a template; what nobody
    types, as letters with something unseen between them; and in a long message orders to a model.
    """
    own, pasted, fenced, rest = list[str](), list[str](), False, False
    long = len(text) > _LONG
    for line in text.split("\n"):
        fence = line.lstrip().startswith(_FENCE)
        fenced ^= fence
        rest = rest or _BEGINS.match(line) is not None
        if rest or fenced or fence or line.lstrip().startswith((">", "|")) or _handed_on(line, long=long):
            pasted.append(line)
            continue
        intro = _INTRO.search(line)
        said, after = (line[: intro.end()], line[intro.end() :]) if intro else (line, "")
        rest = intro is not None
        quotes = [found[1] for found in _QUOTED.finditer(said)]
        own.append(_QUOTED.sub(" ", said))
        pasted += [*quotes, *([after] if after.strip() else ())]
    return [line for line in own if line.strip()], [line for line in pasted if line.strip()]


def _handed_on(line: str, *, long: bool) -> bool:
    return is_hidden(line) or (long and look_of(line) is Look.ORDERS)
