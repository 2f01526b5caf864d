"""What an Observer is asked for beside its notes, what that says so far, and what becomes of the answer."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from om_api.domain.extractors import SHARED, Extracted, Extractor, extracted_with
from om_api.domain.values import Generation, Observation
from om_api.settings import MemorySettings
from om_api.settings.composed_memories import shared_kinds
from om_workers.prompts import further
from om_workers.prompts.parse import Observed


class Found(NamedTuple):
    """What an observation carries beside its text: values by slug, those that are of the whole memory, and what was refused."""

    extracted: dict[str, Any]
    common: tuple[str, ...]
    refused: dict[str, str]


NOTHING_FOUND = Found({}, (), {})


def wanted(agent: MemorySettings) -> tuple[Extractor, ...]:
    """The sections that an agent's Observer is asked for beside its notes."""
    kinds = shared_kinds(agent.compose)
    told = [Extractor(slug=SHARED, instruction="", schema=_by_kind(kinds))] if kinds else []
    return (*agent.extractors_by("observer"), *told)


def _by_kind(kinds: Sequence[str]) -> dict[str, Any]:
    lines = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": dict.fromkeys(kinds, lines), "additionalProperties": False}


def said_so_far(generation: Generation | None, before: Sequence[Observation]) -> Extracted:
    """What was extracted so far, by thread and slug: beside the generation in force and the notes since."""
    return extracted_with(generation.extracted if generation else {}, before)


def of_thread(extracted: Extracted, thread: str) -> dict[str, Any]:
    """What one thread's sections say so far, and those of the whole memory."""
    found = {**extracted.get("", {}), **extracted.get(thread, {})}
    return {slug: each.value for slug, each in found.items()}


def found_in(extractors: Sequence[Extractor], observed: Observed, prior: Mapping[str, Any]) -> Found:
    """The values of an answer's sections."""
    values, refused = further.values(extractors, observed.extracted, prior)
    common = tuple(each.slug for each in extractors if each.of == "resource" and each.slug in values)
    return Found(values, common, refused)
