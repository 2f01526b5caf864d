"""Further sections: how a model is asked for what extractors want beside the notes, and what it answers to that."""

from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.extractors import Extractor, as_words, value_of
from om_api.domain.tags import without_brackets
from om_workers.prompts import sections
from om_workers.prompts.library import DEFAULT, prompt

Priors = Mapping[str, Mapping[str, Any]]  # by thread ("": there is only one), then by slug: what is said so far


def asked_for(extractors: Sequence[Extractor], variant: str = DEFAULT, name: str = "further_sections") -> str:
    """The part of a prompt (`name`) that describes the sections which are wanted; "" where none is."""
    if not extractors:
        return ""
    described = "\n\n".join(_described(each, variant) for each in extractors)
    return Template(prompt(name, variant)).substitute(sections=described)


def _described(extractor: Extractor, variant: str) -> str:
    own = extractor.instruction.strip() or prompt(f"extractor_{extractor.slug.replace('-', '_')}", variant)
    schema = extractor.schema and msgspec.json.encode(extractor.schema).decode()
    form = f"JSON that fits this schema: `{schema}`" if schema else "Text, in one paragraph or a short list."
    return f"## `{extractor.slug}`\n\n{own}\n\n{form}"


def reminder(extractors: Iterable[Extractor], variant: str = DEFAULT, name: str = "observer_further") -> str:
    """The word on them at the end of a task (`name`); "" where none is wanted."""
    names = ", ".join(f"`{each.slug}`" for each in extractors)
    return Template(prompt(name, variant)).substitute(names=names) if names else ""


def kept(extractors: Sequence[Extractor], priors: Priors) -> str:
    """What the sections say so far, in tags that nothing in them can close."""
    known = {each.slug for each in extractors}
    return "\n".join(
        f'<kept section="{slug}"{_of(thread)}>\n{without_brackets(as_words(value))}\n</kept>'
        for thread, values in priors.items()
        for slug, value in values.items()
        if slug in known and value
    )


def _of(thread: str) -> str:
    return f' thread="{thread}"' if thread else ""


def take(text: str, slugs: Iterable[str]) -> tuple[dict[str, str], str]:
    """What an answer says in each of these sections, and the answer without them."""
    said = dict[str, str]()
    for slug in slugs:
        found, text = sections.take(text, slug)
        if found is not None:
            said[slug] = found
    return said, text


def values(
    extractors: Iterable[Extractor], said: Mapping[str, str], prior: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of sections that an answer had, and why others are none: what cannot be read changes nothing."""
    found, refused = dict[str, Any](), dict[str, str]()
    for extractor in extractors:
        try:
            value = value_of(extractor, said.get(extractor.slug, ""), prior.get(extractor.slug))
        except InvalidInputError as error:
            refused[extractor.slug] = str(error)
            continue
        if value is not None:
            found[extractor.slug] = value
    return found, refused
