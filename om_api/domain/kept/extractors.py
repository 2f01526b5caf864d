"""Extractors: sections that a model fills beside its notes, how a value is read, and what several of them come to."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any, Literal

import msgspec
import re2
from jsonschema import Draft202012Validator, SchemaError, ValidationError, validators
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from om_api.domain.errors import InvalidInputError
from om_api.domain.nesting import check_depth
from om_api.domain.tags import NAMES
from om_api.domain.values import ExtractedValue, Observation, Stamped
from om_api.patterns.pattern import Pattern

TITLE, WORKING, SHARED = "thread-title", "working-memory", "shared"
OF_ITSELF = (TITLE, WORKING, SHARED)  # sections of ours, that nobody may call an extractor
_BY_NAME = {"type": "object", "additionalProperties": {"type": ["string", "null"]}}
_LISTED = {"type": "array", "items": {"type": "string"}}
KNOWN: dict[str, dict[str, Any]] = {  # those with an instruction of ours, and the schemas of their values
    "contacts": _BY_NAME,
    "dates-ahead": _BY_NAME,
    "decisions": _LISTED,
    "open-questions": _BY_NAME,
}
LONGEST = 8_000  # characters of a value as JSON
LARGEST = 64_000  # bytes of a value that is checked, as JSON, with what it was before
REMEMBERED = 256  # schemas
_PATTERNS, _PATTERN_MEMORY = 64, 2 << 20  # in schemas: how many are remembered, and bytes that RE2 may use for one
MOST_ITEMS = 100  # of a list or an object: the oldest go
_REFERENCES = ("$ref", "$dynamicRef")
_MOST_STEPS = 150_000  # of checking one value, of about a microsecond each
_STEPS_OF_KEYWORD = 10
_CHARACTERS_OF_STEP = 100  # of an error's text
_INSTRUCTIONS_OF_STEP = 250  # of RE2, where a character has it follow all of a pattern
_steps = ContextVar("steps of checking a value", default=0)
_SLUG = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_LONGEST_SLUG = 40
_FENCE = re.compile(r"\A```[a-z]*\n(.*?)\n?```\Z", re.DOTALL)
_CLIPPED = 200
Whose = Literal["thread", "resource"]
Filler = Literal["observer", "reflector"]


class Extractor(msgspec.Struct, frozen=True, kw_only=True):
    """A section that is asked for: its name, what is to be said in it, and the JSON Schema of that (None: it is text).

    `of` is whose the value is, a thread's or the whole memory's; `by` who fills it. `shown`: contexts tell it.
    """

    slug: str
    instruction: str
    schema: dict[str, Any] | None = None
    of: Whose = "thread"
    by: Filler = "observer"
    shown: bool = True


Extracted = dict[str, dict[str, ExtractedValue]]  # by thread ("" = of the whole memory), then by slug


def check_slug(slug: object) -> str:
    """The name of an extractor; raises InvalidInputError for one that cannot be a tag of its own."""
    if not isinstance(slug, str) or len(slug) > _LONGEST_SLUG or not _SLUG.fullmatch(slug):
        raise InvalidInputError(
            f"{str(slug)[:80]!r} cannot name an extractor: use a-z, 0-9 and single hyphens between them, at most {_LONGEST_SLUG}"
        )
    if slug in {*NAMES, *OF_ITSELF}:
        raise InvalidInputError(f"{slug!r} cannot name an extractor: it is a tag of our own; choose another name")
    return slug


def check_schema(schema: object) -> dict[str, Any]:
    """A JSON Schema (2020-12); raises InvalidInputError for anything else, and for references to other documents.

    Patterns have the syntax of RE2, because a pattern of `re` could take hours to check one field.
    """
    if not isinstance(schema, dict):
        raise InvalidInputError("a schema is an object such as {type: object, properties: {name: {type: string}}}")
    try:
        written = msgspec.json.encode(schema)
        if (size := len(written)) <= LONGEST:
            Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path)) or "its top"
        raise InvalidInputError(f"the schema cannot be: {error.message[:_CLIPPED]} (at {where})") from None
    except (TypeError, ValueError, RecursionError, OverflowError):
        raise InvalidInputError("the schema holds what JSON cannot") from None
    if size > LONGEST:
        raise InvalidInputError(f"the schema is too long: {size:,} bytes (maximum {LONGEST:,})")
    check_depth(written, "the schema")
    _check_keywords(
        {key: value for key, value in schema.items() if key != "$schema"},
        Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver(),
    )
    return schema


def _check_keywords(schema: Any, resolver: Any) -> None:
    for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key in _REFERENCES and not str(value).startswith("#"):
            raise InvalidInputError(
                f"the schema refers to {str(value)[:80]!r}: only what stands in itself (#/…) is read"
            )
        if key in _REFERENCES and not _is_there(resolver, str(value)):
            raise InvalidInputError(f"the schema refers to {str(value)[:80]!r}, where nothing stands")
        if key == "$schema" and isinstance(value, str):  # a validator would continue with that version's rules
            raise InvalidInputError("the schema has $schema in one of its parts; permitted: at its top")
        if key in {"unevaluatedProperties", "unevaluatedItems"}:  # jsonschema follows references for it without end
            raise InvalidInputError(f"the schema has {key}; use additionalProperties or items instead")
        if key == "pattern" and isinstance(value, str):
            _check_pattern(value)
        if key == "patternProperties" and isinstance(value, dict):
            for pattern in value:
                _check_pattern(pattern)
        if isinstance(value, dict | list):
            _check_keywords(value, resolver)


def _check_pattern(text: str) -> None:
    try:
        for example in ("", "é"):  # a pattern has one form for ASCII and one for other texts
            _pattern(text).search(example)
    except (ValueError, re2.error):
        raise InvalidInputError(
            f"the schema's pattern {text[:80]!r} cannot be used; permitted: the syntax of RE2, which has no "
            "lookaround, no backreference and no repeat of more than 1,000"
        ) from None


def _is_there(resolver: Any, reference: str) -> bool:
    try:
        resolver.lookup(reference)
    except Unresolvable:
        return False
    return True


@lru_cache(maxsize=_PATTERNS)
def _pattern(text: str) -> Pattern:
    return Pattern(text, memory=_PATTERN_MEMORY)


def _is_found(pattern: str, text: str) -> bool:
    compiled = _pattern(pattern)
    _count_steps(compiled.most_work(text) // _INSTRUCTIONS_OF_STEP)
    return compiled.search(text) is not None


def _matches_pattern(_: Any, pattern: str, value: object, __: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not _is_found(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _properties_fit_patterns(validator: Any, patterns: Mapping[str, Any], value: object, _: Any) -> Iterator[Any]:
    for pattern, schema in patterns.items() if isinstance(value, dict) else ():
        _count_steps(2 * len(value))  # type: ignore[arg-type]  # a dict here
        for name, each in value.items():  # type: ignore[attr-defined]  # a dict here
            if _is_found(pattern, name):
                yield from validator.descend(each, schema, path=name, schema_path=pattern)


def _further_properties_fit(validator: Any, permitted: Any, value: object, schema: Mapping[str, Any]) -> Iterator[Any]:
    patterns = [*schema.get("patternProperties", ())]
    if isinstance(value, dict):
        _count_steps(2 * len(value) * len(patterns))
        value = {name: each for name, each in value.items() if not any(_is_found(one, name) for one in patterns)}
    named = {"properties": schema.get("properties", {})}
    yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, permitted, value, named) or ()


def _items_are_unique(_: Any, wanted: Any, value: object, __: Any) -> Iterator[ValidationError]:
    """As in jsonschema, where each item that cannot be sorted is compared with every other one."""
    if wanted and isinstance(value, list) and len({*map(_hashable, value)}) < len(value):
        yield ValidationError(f"{value!r} has non-unique elements")


def _hashable(value: Any) -> Any:
    """What is equal to that of another value if both are equal in JSON, where true is not 1."""
    if isinstance(value, dict):
        return frozenset((name, _hashable(each)) for name, each in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list) else (type(value) is bool, value)


def _count_steps(steps: int) -> None:
    _steps.set(_steps.get() + steps)
    if _steps.get() > _MOST_STEPS:
        raise RecursionError(f"with its schema that takes more than {_MOST_STEPS:,} steps")


def _counted(check: Callable[..., Any], validator: Any, said: Any, *what: Any) -> Iterator[ValidationError]:
    """Check a keyword. In 8 kB a schema can have a value of 8 kB checked millions of times.

    The text of an error quotes the whole value, so each error counts by its length, also where it is dropped (anyOf, not).
    """
    _count_steps(_STEPS_OF_KEYWORD + (len(said) if isinstance(said, list | dict) else 0))
    for error in check(validator, said, *what) or ():
        _count_steps(len(error.message) // _CHARACTERS_OF_STEP)
        yield error


_Validator = validators.extend(  # type: ignore[no-untyped-call]  # types-jsonschema leaves it untyped
    Draft202012Validator,
    {
        keyword: partial(_counted, check)
        for keyword, check in {
            **Draft202012Validator.VALIDATORS,
            "pattern": _matches_pattern,
            "patternProperties": _properties_fit_patterns,
            "additionalProperties": _further_properties_fit,
            "uniqueItems": _items_are_unique,
        }.items()
    },
)


@lru_cache(maxsize=REMEMBERED)
def _validator(schema: bytes) -> Any:
    """A validator that matches patterns with RE2 and fetches nothing."""
    read = msgspec.json.decode(schema)
    read.pop("$schema", None)  # with it a reference to the top would be checked with `re`
    return _Validator(read, registry=Registry())


def fits(value: object, schema: Mapping[str, Any]) -> str:
    """Why a value does not fit a schema, for people; "" where it does."""
    _steps.set(0)
    try:
        written = msgspec.json.encode(value)
        if len(written) > LARGEST:
            return f"it is too long: {len(written):,} bytes (maximum {LARGEST:,})"
        check_depth(written)
        error = next(iter(_validator(msgspec.json.encode(schema)).iter_errors(value)), None)
    except (ValidationError, Unresolvable, RecursionError, ValueError, TypeError, LookupError, re2.error) as refused:
        return f"it cannot be checked: {str(refused)[:_CLIPPED]}"
    if error is None:
        return ""
    where = "/".join(map(str, error.absolute_path))
    return f"{where + ': ' if where else ''}{error.message[:_CLIPPED]}"


def value_of(extractor: Extractor, text: str, prior: Any = None) -> Any:
    """What a model wrote into a section, read as its extractor wants it; `prior` is the value that it changes.

    None where it says nothing. Raises InvalidInputError for what cannot be read or does not fit, with the reason.
    """
    said = text.strip()
    if fenced := _FENCE.match(said):
        said = fenced[1].strip()
    if not said:
        return None
    if len(said) > LONGEST:
        raise InvalidInputError(f"it is of {len(said):,} characters: at most {LONGEST:,}")
    if extractor.schema is None:
        return said
    written = said.encode("utf-8", "surrogatepass")
    check_depth(written)
    try:
        value = msgspec.json.decode(written)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"it is no JSON: {str(error)[:_CLIPPED]}") from None
    if wrong := fits(merged(prior, value), extractor.schema):
        raise InvalidInputError(wrong)
    return value


def merged(before: Any, found: Any) -> Any:
    """A value with what was found since.

    An object is changed field by field, as by a JSON Merge Patch (RFC 7396): null takes a field out. A list grows by the items
    that it lacks. Anything else takes the place of what was. Of fields and items the newest 100 stay.
    """
    if isinstance(found, dict):
        kept = dict(before) if isinstance(before, dict) else {}
        for field, value in found.items():
            was = kept.pop(field, None)
            if value is not None:
                kept[field] = merged(was, value) if isinstance(value, dict) else value
        return dict([*kept.items()][-MOST_ITEMS:])
    if isinstance(found, list):
        kept_items = before if isinstance(before, list) else []
        return [*kept_items, *(item for item in found if item not in kept_items)][-MOST_ITEMS:]
    return found


def extracted_with(so_far: Mapping[str, Mapping[str, ExtractedValue]], found: Iterable[Observation]) -> Extracted:
    """What was extracted, with what stands beside further observations, oldest first; `so_far` is not changed.

    Of what was proposed for the working memory each field is kept with the time of what it was made of: see `stamped`.
    """
    made = {thread: dict(values) for thread, values in so_far.items()}
    for observation in found:
        said_at = min(observation.to, observation.created_at or observation.to)  # what is dated ahead is of now
        for slug, value in observation.extracted.items():
            if slug in {TITLE, SHARED}:  # the title stands at the thread, and what was shared with whom it was shared
                continue
            of = made.setdefault("" if slug in observation.common else observation.thread_id, {})
            was = of[slug].value if slug in of else None
            now = newest(was or {}, stamped(value, said_at)) if slug == WORKING else merged(was, value)
            of[slug] = ExtractedValue(value=now, at=observation.to, observation_id=observation.id)
    return made


def readdressed(extracted: Extracted, was: str, becomes: str) -> Extracted:
    """What was extracted, with what was found of one thread as found of another; of what both say the newer one counts."""
    if was not in extracted:
        return extracted
    return of_several(
        [{thread: values for thread, values in extracted.items() if thread != was}, {becomes: extracted[was]}]
    )


def of_several(parts: Iterable[Extracted]) -> Extracted:
    """What was extracted in several memories as one's; of what two of them say the newer one counts."""
    made = Extracted()
    for thread, values in (pair for part in parts for pair in part.items()):
        of = made.setdefault(thread, {})
        for slug, value in values.items():
            older, newer = sorted((of.get(slug, value), value), key=lambda each: each.at)
            now = newest(older.value, newer.value) if slug == WORKING else merged(older.value, newer.value)
            of[slug] = msgspec.structs.replace(newer, value=now)
    return made


def stamped(fields: Mapping[str, Any], at: int) -> dict[str, list[Any]]:
    """Fields as they are kept where the newest of several counts: each with when (Unix ms) it was said."""
    return {field: [value, at] for field, value in fields.items()}


def newest(before: Stamped, found: Stamped) -> dict[str, Sequence[Any]]:
    """Stamped fields, of each the one that was said last; of two at once what was found later."""
    return {**before, **{field: each for field, each in found.items() if each[1] >= before.get(field, (None, 0))[1]}}


def without_told(value: Any, gone: Callable[[str], bool]) -> Any:
    """A value without the fields and items that tell what is to go, however deep; None where nothing is left."""
    if isinstance(value, dict):
        return {field: each for field, each in value.items() if not gone(_told({field: each}))} or None
    if isinstance(value, list):
        return [item for item in value if not gone(_told(item))] or None
    return None if gone(_told(value)) else value


def _told(value: Any) -> str:
    """What a value says, in words as they were said: JSON would write quotes and ends of lines otherwise."""
    if isinstance(value, dict):
        return "\n".join(f"{field}: {_told(each)}" for field, each in value.items())
    return "\n".join(map(_told, value)) if isinstance(value, list) else as_words(value)


def extracted_without(values: Mapping[str, Any], gone: Callable[[str], bool]) -> dict[str, Any]:
    """Values by slug, without what tells what is to go."""
    left = {slug: without_told(value, gone) for slug, value in values.items()}
    return {slug: value for slug, value in left.items() if value is not None}


def as_words(value: Any) -> str:
    """A value as a text: itself, or as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
