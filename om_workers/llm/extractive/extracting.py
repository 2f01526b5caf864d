"""Further sections without a model: what plain statements say of contacts, dates, decisions, questions, and of fields kept."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import Any

from om_api.domain.kept.extractors import SHARED, TITLE, WORKING, Extractor, as_words
from om_api.language.calendar import LocalTime, days
from om_api.language.relative_dates import meanings
from om_api.language.spans import parse_span
from om_api.language.telegraphic import clip, without_lead
from om_api.language.words import STOP, words
from om_workers.llm.extractive import titling
from om_workers.llm.extractive.sharing import shared
from om_workers.llm.extractive.units import Unit

_BRIEF, _LONG = 120, 240  # characters
_HALF = 2
_DECIDED = re.compile(
    r"\b(?:we|i|they|the team)(?:'ve|’ve| have)? (?:all )?(?:decided|agreed|settled|chose|picked|approved)\b"
    r"|\b(?:let'?s|let’s) (?:go with|use|take|stick with)\b|\b(?:it is|it's|it’s|that's|that’s) (?:decided|settled|agreed)\b"
    r"|\b(?:the (?:decision|plan|rule) is|from now on|final decision|going forward)\b|^\W*decision:",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(r"\b(?:not|haven't|haven’t|if|whether|should|yet)\b", re.IGNORECASE)
_NO_NAME = (  # what sentences begin with, of which none is called so
    r"(?!(?:You|I|We|He|She|It|They|The|An?|My|Our|Your|His|Her|Their|This|That|There|Here|And|But|If|So|Please|Thanks|Hello|Hi|Dear|Call|Phone"
    r"|Reach|Contact|Mail|E-?mail|Write|Text|Ask|Tell|Send)(?:['’]\w+)?\b)"
)
_NAME = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\. )?{_NO_NAME}[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){{0,2}}"
_MAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
_PHONE = r"\+?\d[\d ()/-]{6,18}\d"
_MOST_REACHED = 200  # characters of the addresses and numbers of one person
_REACHED = re.compile(rf"(?P<name>{_NAME})[^.!?\n]{{0,40}}?[\s(<:](?P<how>{_MAIL}|{_PHONE})")
_WHO = re.compile(
    rf"\b[Mm]y (?P<who>(?:[a-z]+ ){{0,2}}(?:doctor|dentist|lawyer|boss|manager|colleague|landlord|accountant|teacher|therapist|"
    rf"mother|mom|mum|father|dad|sister|brother|wife|husband|partner|son|daughter|friend|cousin|aunt|uncle|neighbour|neighbor))"
    rf"(?:,| is(?: called| named)?| named| called)? (?P<name>{_NAME})"
)
_VALUE = r"(?P<value>[^.!?;\n]+)"
_STATED = (  # what a field may be called, and how somebody states it
    (r"name|called", rf"\b(?:my name is|my name's|i'?m called|i’m called|call me) {_VALUE}"),
    (
        r"city|town|location|lives|home|where|based|address|country",
        rf"\bi(?:'m| am|’m)? (?:live|based|living|moved) (?:in|to|at) {_VALUE}",
    ),
    (r"job|role|occupation|profession|work", rf"\bi(?: am|'m|’m)? (?:work(?:ing)?|employed) (?:as|at|for|in) {_VALUE}"),
    (r"prefer|style|format", rf"\bi(?:'d|’d| would)? (?:strongly |really )?prefer {_VALUE}"),
    (r"likes?|favou?rites?|hobb", rf"\bi (?:really )?(?:like|love|enjoy) {_VALUE}"),
    (r"dislikes?|avoid", rf"\bi (?:really )?(?:dislike|hate|can't stand|don't like|don’t like) {_VALUE}"),
    (r"allerg|diet", rf"\bi(?:'m| am|’m) allergic to {_VALUE}"),
    (r"language", rf"\bi speak {_VALUE}"),
    (r"goal|aim", rf"\bmy (?:main )?(?:goal|aim) is (?:to )?{_VALUE}"),
)
_RULES = [(re.compile(rf"\b(?:{named})", re.IGNORECASE), re.compile(said, re.IGNORECASE)) for named, said in _STATED]
_GOES_ON = re.compile(
    r",? (?:and|but|so|because|which|by the way|though) .*|, (?:i|we|please|can|could)\b.*", re.IGNORECASE | re.DOTALL
)


def sections(
    extractors: Sequence[Extractor], kept: Mapping[str, Any], found: Sequence[Unit], clock: LocalTime
) -> list[str]:
    """The sections that are wanted, of those for which there are rules, where anything in them changes."""
    said = []
    for extractor in extractors:
        rule = RULES.get(extractor.slug)
        value = rule(found, kept.get(extractor.slug), clock, extractor) if rule else None
        if isinstance(value, dict) and extractor.schema and extractor.schema.get("additionalProperties") is False:
            value = {name: said for name, said in value.items() if name in extractor.schema["properties"]}
        if value:
            said.append(f"<{extractor.slug}>\n{as_words(value)}\n</{extractor.slug}>")
    return said


def _spoken(found: Sequence[Unit]) -> Iterator[Unit]:
    """What people and agents said; what was pasted, or a tool returned, states nothing of theirs."""
    return (unit for unit in found if unit.role in {"user", "assistant"} and not unit.pasted)


def _contacts(found: Sequence[Unit], kept: Any, _clock: LocalTime, _extractor: Extractor) -> dict[str, str]:
    known, named = kept if isinstance(kept, dict) else {}, dict[str, str]()
    for unit in _spoken(found):
        for who in _WHO.finditer(unit.text):
            named[who["name"]] = f"the user's {who['who']}" if unit.role == "user" else who["who"]
        for reached in _REACHED.finditer(unit.text):
            before = named.get(reached["name"]) or str(known.get(reached["name"], ""))
            how = reached["how"].strip()
            enough = how in before or len(before) >= _MOST_REACHED
            named[reached["name"]] = before if enough else ", ".join(filter(None, [before, how]))
    return {name: said for name, said in named.items() if known.get(name) != said}


def _dates_ahead(found: Sequence[Unit], kept: Any, clock: LocalTime, _extractor: Extractor) -> dict[str, str | None]:
    """What is dated ahead of when it was said; what has passed by the newest of what was said goes."""
    ahead = dict[str, str | None]()
    newest = max((clock.at(unit.at).date() for unit in found), default=None)
    known = kept if isinstance(kept, dict) else {}
    if newest:
        ahead = {what: None for what, when in known.items() if str(when)[:10] < newest.isoformat()}
    for unit in _spoken(found):
        day = clock.at(unit.at).date()
        when = next((each for each in _days_of(unit.text, day) if each > day), None)
        if when and not unit.cues.asks:
            ahead[clip(without_lead(unit.text), _BRIEF)] = when.isoformat()
    return {what: when for what, when in ahead.items() if known.get(what, "") != when}


def _days_of(text: str, day: date) -> Iterator[date]:
    """The days that a text names, or means."""
    for span in map(parse_span, meanings(text, day)):
        if span:
            yield span.start
    for named in days(text):
        if named.year and named.day:
            yield date(named.year, named.month, named.day)


def _decisions(found: Sequence[Unit], kept: Any, _clock: LocalTime, _extractor: Extractor) -> list[str]:
    known = kept if isinstance(kept, list) else []
    decided = [
        clip(without_lead(unit.text), _LONG)
        for unit in _spoken(found)
        if _DECIDED.search(unit.text) and not unit.cues.asks and not _UNDECIDED.search(unit.text)
    ]
    return [each for each in dict.fromkeys(decided) if each not in known]


def _open_questions(
    found: Sequence[Unit], kept: Any, _clock: LocalTime, _extractor: Extractor
) -> dict[str, str | None]:
    """Questions that nobody answered; one that was open is answered where the other one says half of its words."""
    spoken, known = [*_spoken(found)], kept if isinstance(kept, dict) else {}
    changed = dict[str, str | None]()
    for question, whom in known.items():
        wanted = set(words(question)) - STOP
        if any(unit.role == whom and not unit.cues.asks and _answers(unit, wanted) for unit in spoken):
            changed[question] = None
    newest = {unit.role: unit.order for unit in spoken}
    for unit in spoken:
        whom = "assistant" if unit.role == "user" else "user"
        if unit.text.rstrip().endswith("?") and newest.get(whom, -1) <= unit.order:
            changed[clip(without_lead(unit.text), _BRIEF)] = whom
    return {question: whom for question, whom in changed.items() if known.get(question, "") != whom}


def _answers(unit: Unit, wanted: set[str]) -> bool:
    return bool(wanted) and _HALF * len(wanted & unit.content) >= len(wanted)


def _working(found: Sequence[Unit], kept: Any, _clock: LocalTime, extractor: Extractor) -> dict[str, str]:
    """Fields that the user states plainly: what we know how people state, and `my <field> is …`."""
    known, said = kept if isinstance(kept, dict) else {}, dict[str, str]()
    fields = [*(extractor.schema or {}).get("properties", {})]
    for unit in _spoken(found):
        if unit.role == "user" and not unit.cues.asks:
            for field in fields:
                if value := _stated(unit.text, field):
                    said[field] = value
    return {field: value for field, value in said.items() if known.get(field) != value}


def _stated(text: str, field: str) -> str:
    own = re.compile(rf"\b(?:my|our) {re.escape(field)} (?:is|are|will be) (?:now )?{_VALUE}", re.IGNORECASE)
    patterns = chain([own], (said for named, said in _RULES if named.search(field)))
    stated = next(filter(None, (pattern.search(text) for pattern in patterns)), None)
    return clip(_GOES_ON.sub("", stated["value"]).strip(" ,:\"'“”"), _BRIEF) if stated else ""


Rule = Callable[
    [Sequence[Unit], Any, LocalTime, Extractor], Any
]  # of what was said, what the section says so far, and the clock
RULES: dict[str, Rule] = {
    TITLE: titling.title,
    SHARED: lambda found, _, __, wanted: shared(found, (wanted.schema or {})["properties"]),
    "contacts": _contacts,
    "dates-ahead": _dates_ahead,
    "decisions": _decisions,
    "open-questions": _open_questions,
    WORKING: _working,
}
