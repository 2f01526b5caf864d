"""Extractors of an agent as YAML names them: a section each, by its slug, with what is to be said in it."""

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import PlainValidator

from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.extractors import KNOWN, Extractor, Filler, Whose, check_schema, check_slug
from om_api.settings.sections.fields import Mapped, contradiction

MOST = 20  # sections beside the notes: each makes every answer longer
_LONGEST = 4_000  # characters of an instruction
_CHOICES: dict[str, tuple[object, ...]] = {"of": get_args(Whose), "by": get_args(Filler), "shown": (True, False)}
_KEYS = ("instruction", "schema", *_CHOICES)


def _read(value: object) -> Mapped:
    """The extractors of a file, each with what it says of itself; a name alone stands for one that we know."""
    if not isinstance(value, dict) or len(value) > MOST:
        raise ValueError("no mapping")
    try:
        return Mapped({check_slug(slug): _one(slug, given or {}) for slug, given in value.items()})
    except InvalidInputError as error:
        raise contradiction(f"extractors: {error}", "extractors") from None


def _one(slug: str, given: object) -> dict[str, Any]:
    if not isinstance(given, dict) or (unknown := sorted(set(map(str, given)) - set(_KEYS))):
        named = f"{unknown[0]!r} is no key of it" if isinstance(given, dict) else "it is no mapping"
        raise InvalidInputError(f"{slug}: {named}; permitted: {', '.join(_KEYS)}")
    for key, choices in _CHOICES.items():
        if key in given and (given[key] not in choices or isinstance(given[key], bool) != (key == "shown")):
            raise InvalidInputError(
                f"{slug}.{key}: permitted: {' or '.join(str(choice).lower() for choice in choices)}"
            )
    instruction = given.get("instruction") or ""
    if not isinstance(instruction, str) or len(instruction) > _LONGEST:
        raise InvalidInputError(f"{slug}.instruction: permitted: text of at most {_LONGEST:,} characters")
    if not instruction.strip() and slug not in KNOWN:
        raise InvalidInputError(
            f"{slug} has no instruction; permitted: text that says what is to be found, or one of {', '.join(KNOWN)}"
        )
    if given.get("schema") is not None:
        try:
            check_schema(given["schema"])
        except InvalidInputError as error:
            raise InvalidInputError(f"{slug}.schema: {error}") from None
    return dict(given)


def extractors_of(given: Mapping[str, Mapping[str, Any]]) -> tuple[Extractor, ...]:
    """The extractors that settings name, in their order; what they leave out is ours."""
    return tuple(
        Extractor(
            slug=slug,
            instruction=one.get("instruction") or "",
            schema=one["schema"]
            if one.get("schema") is not None
            else (KNOWN.get(slug) if not one.get("instruction") else None),
            of=one.get("of", "thread"),
            by=one.get("by", "observer"),
            shown=one.get("shown", True),
        )
        for slug, one in given.items()
    )


Extractors = Annotated[Mapped, PlainValidator(_read)]
PERMITTED = f"up to {MOST} names, each alone ({', '.join(KNOWN)}) or with {', '.join(_KEYS)}"
