"""What an Observer is asked for beside its notes, what that says so far, and what becomes of the answer."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from om_api.context.kept import proposed_in
from om_api.domain.kept.extractors import SHARED, TITLE, WORKING, Extracted, Extractor, extracted_with, merged
from om_api.domain.kept.working_memory import WorkingForm, values_of
from om_api.domain.message_tokens import Count
from om_api.domain.values import ExtractedValue, Generation, KeptFields, Observation, Stored
from om_api.settings import MemorySettings
from om_api.settings.composed_memories import shared_kinds
from om_api.store.reviews.drafts import ReflectionInput
from om_workers.prompts import further
from om_workers.prompts.library import prompt
from om_workers.prompts.parse import Observed, Reflected
from om_workers.trust.judging import Judge
from om_workers.trust.noting import without_heard


class Found(NamedTuple):
    """What an observation carries beside its text: values by slug, those that are of the whole memory, and what was refused."""

    extracted: dict[str, Any]
    common: tuple[str, ...]
    refused: dict[str, str]


NOTHING_FOUND = Found({}, (), {})
_TRUSTING = Judge(())


def wanted(agent: MemorySettings) -> tuple[Extractor, ...]:
    """The sections that an agent's Observer is asked for beside its notes."""
    form = agent.working_memory.form() if agent.working_memory.observe else None
    title = (Extractor(slug=TITLE, instruction=""),) if agent.thread_titles else ()
    kinds = shared_kinds(agent.compose)
    told = [Extractor(slug=SHARED, instruction="", schema=_by_kind(kinds))] if kinds else []
    return (*title, *agent.extractors_by("observer"), *([_of_working(form, agent)] if form else []), *told)


def _by_kind(kinds: Sequence[str]) -> dict[str, Any]:
    lines = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": dict.fromkeys(kinds, lines), "additionalProperties": False}


def _of_working(form: WorkingForm, agent: MemorySettings) -> Extractor:
    """The section in which fields of the working memory are proposed."""
    schema = agent.working_memory.json_schema or {"type": "object", "properties": {field: {} for field in form.fields}}
    own = f"{prompt('extractor_working_memory', agent.observer.prompt)}\n\n{form.template}".strip()
    named = {**schema, "additionalProperties": False}
    return Extractor(slug=WORKING, instruction=own, schema=named, of=form.of, shown=False)


def said_so_far(generation: Generation | None, before: Sequence[Observation]) -> Extracted:
    """What was extracted so far, by thread and slug: beside the generation in force and the notes since."""
    return extracted_with(generation.extracted if generation else {}, before)


def of_thread(extracted: Extracted, thread: str, working: Mapping[str, KeptFields]) -> dict[str, Any]:
    """What one thread's sections say so far, and those of the whole memory; `working` are the working memories, by place."""
    found = {slug: each.value for of in ("", thread) for slug, each in extracted.get(of, {}).items() if slug != WORKING}
    kept = [values_of(held.value, proposed_in(extracted, place)) for place, held in working.items()]
    return {**found, WORKING: {field: value for values in kept for field, value in values.items()}}


def of_memory(read: ReflectionInput, replaced: Sequence[Stored]) -> dict[str, Any]:
    """What is said so far of a whole memory, beside what a reflection is made of."""
    found = said_so_far(read.generation, [stored.observation for stored in replaced]).get("", {})
    return {slug: each.value for slug, each in found.items()}


def reflected(
    agent: MemorySettings,
    parts: Sequence[Reflected],
    kept: Mapping[str, Any],
    replaced: Sequence[Stored],
    judge: Judge = _TRUSTING,
) -> Extracted:
    """The values of extractors in one answer of a Reflector or several, for the whole memory.

    Unreadable and quoted values change nothing.
    """
    found = dict[str, Any]()
    for said in parts:
        values, _ = without_heard(further.values(agent.extractors_by("reflector"), said.extracted, kept)[0], judge)
        found |= {slug: _both(found[slug], value) if slug in found else value for slug, value in values.items()}
    at = max((stored.observation.to for stored in replaced), default=0)
    return {"": {slug: ExtractedValue(value=value, at=at) for slug, value in found.items()}} if found else {}


def _both(before: Any, after: Any) -> Any:
    """Two values of one extractor as one: fields of the later one win, lists are joined."""
    if isinstance(before, dict) and isinstance(after, dict):
        return before | after
    return [*before, *after] if isinstance(before, list) and isinstance(after, list) else after


def found_in(
    agent: MemorySettings, observed: Observed, prior: Mapping[str, Any], count: Count, judge: Judge = _TRUSTING
) -> Found:
    """The values of an answer's sections, without what a `judge` does not let stand.

    Of the working memory only what changes is proposed, if the whole has room then.
    """
    extractors, form = wanted(agent), agent.working_memory.form()
    read, refused = further.values(extractors, observed.extracted, prior)
    values, heard = without_heard(read, judge)
    refused |= dict.fromkeys(heard, "nobody says it who is trusted")
    if form and WORKING in values:
        before = prior.get(WORKING, {})
        proposed = {field: value for field, value in values[WORKING].items() if before.get(field) != value}
        values[WORKING] = proposed
        if not proposed or count(form.text(merged(before, proposed))) > form.most:
            del values[WORKING]
            refused |= {WORKING: "it has no room"} if proposed else {}
    common = tuple(each.slug for each in extractors if each.of == "resource" and each.slug in values)
    return Found(values, common, refused)
