"""Further sections without a model: what plain statements say of contacts, dates, decisions and questions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from om_api.domain.extractors import SHARED, Extractor
from om_api.language.calendar import LocalTime
from om_workers.llm.extractive.sharing import shared
from om_workers.llm.extractive.units import Unit

Filling = Callable[
    [Sequence[Unit], Any, LocalTime], Any
]  # of what was said, what the section says so far, and the clock


def sections(
    extractors: Sequence[Extractor], kept: Mapping[str, Any], found: Sequence[Unit], clock: LocalTime
) -> list[str]:
    """The sections that are wanted, of those for which there are rules, where anything in them changes."""
    said = []
    for extractor in extractors:
        rule = RULES.get(extractor.slug)
        value = rule(found, kept.get(extractor.slug), clock) if rule else None
        if isinstance(value, dict) and extractor.schema and extractor.schema.get("additionalProperties") is False:
            value = {name: said for name, said in value.items() if name in extractor.schema["properties"]}
        if value:
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            said.append(f"<{extractor.slug}>\n{text}\n</{extractor.slug}>")
    return said


RULES: dict[str, Filling] = {SHARED: shared}
