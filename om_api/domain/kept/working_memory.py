"""Working memory: fields that an Actor keeps, as a template or a schema names them, and how they are shown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.extractors import Whose, as_words, check_schema, fits, merged, newest
from om_api.domain.learned import learned
from om_api.domain.nesting import check_depth
from om_api.domain.values import Outcome, Stamped

LONGEST_TEMPLATE = 4_000  # characters
MOST_FIELDS = 50
LONGEST_FIELD = 80  # characters of a name
_ITEM = rf"(?P<before>[ \t]*[-*+][ \t]+)(?P<mark>\*\*|__|)(?P<name>[^:*_\n][^:\n]{{0,{LONGEST_FIELD - 1}}}?)"
_FIELD = re.compile(_ITEM + r"(?:(?P=mark):|:(?P=mark))[ \t]*(?P<hint>.*)")
_LISTED = 12


@learned
class WorkingForm(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a working memory is made of: the fields, in order, and the `template` in which they are shown ("": a line each).

    `of` is whose it is, a thread's or the whole resource's; `most` bounds it, in tokens.
    """

    fields: tuple[str, ...]
    template: str = ""
    of: Whose = "resource"
    most: int = 1_000

    def text(self, values: Mapping[str, Any]) -> str:
        """How an Actor reads it; a field without a value shows what the template says of it."""
        if not self.template:
            return "\n".join(f"- {field}: {written(values[field])}" for field in self.fields if field in values)
        return "\n".join(self._lines(values))

    def _lines(self, values: Mapping[str, Any]) -> Iterator[str]:
        for line in self.template.split("\n"):
            found = _FIELD.fullmatch(line)
            if found and (value := values.get(found["name"].strip())) not in (None, "", []):
                yield f"{line[: found.start('hint')].rstrip()} {written(value)}"
            else:
                yield line


class WorkingMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A working memory as it is now: its `fields` that have a value, and how an Actor reads it.

    `version` counts changes by hand or by an Actor (0: there was none), the last of them `by` whom and when (Unix ms).
    """

    resource_id: str
    thread_id: str | None = None
    fields: dict[str, Any] = {}
    text: str = ""
    version: int = 0
    at: int = 0
    by: str = ""


class WorkingChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a change (`updated`, `rest` where it says so already, `superseded`), and the working memory now."""

    outcome: Outcome
    working_memory: WorkingMemory


class WorkingVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a working memory that is still kept: what it said, since when (Unix ms), and by whom."""

    version: int
    fields: dict[str, Any]
    at: int
    by: str = ""


def form_of(template: str | None, schema: Mapping[str, Any] | None, of: Whose, most: int) -> WorkingForm | None:
    """The form that settings name, by a Markdown template or by a JSON Schema; None where there is neither.

    Raises InvalidInputError for one that cannot be.
    """
    if template is not None and schema is not None:
        raise InvalidInputError("template and json_schema are both set; permitted: one of them")
    if template is not None:
        return WorkingForm(fields=fields_of(template), template=template.strip("\n"), of=of, most=most)
    if schema is None:
        return None
    named = check_schema(dict(schema)).get("properties")
    if schema.get("type", "object") != "object" or not isinstance(named, dict) or not named:
        raise InvalidInputError("json_schema has no properties; permitted: an object with a property for each field")
    return WorkingForm(fields=_checked([*named]), of=of, most=most)


def fields_of(template: str) -> tuple[str, ...]:
    """The fields of a Markdown template: list items that end their name with a colon (`- **Name**: what they are called`)."""
    if len(template) > LONGEST_TEMPLATE:
        raise InvalidInputError(f"template is of {len(template):,} characters; permitted: at most {LONGEST_TEMPLATE:,}")
    found = [each["name"].strip() for line in template.split("\n") if (each := _FIELD.fullmatch(line))]
    if not found:
        raise InvalidInputError(
            "template has no field; permitted: Markdown with list items such as `- Name:` or `- **Name**: hint`"
        )
    return _checked(found)


def _checked(names: Sequence[str]) -> tuple[str, ...]:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInputError(f"field {twice[:LONGEST_FIELD]!r} is there twice; permitted: every name once")
    if long := next((name for name in names if not name.strip() or len(name) > LONGEST_FIELD), None):
        raise InvalidInputError(f"field {long[:LONGEST_FIELD]!r}…; permitted: names of 1 to {LONGEST_FIELD} characters")
    if len(names) > MOST_FIELDS:
        raise InvalidInputError(f"{len(names)} fields; permitted: at most {MOST_FIELDS}")
    return tuple(names)


def written(value: Any) -> str:
    """A value as it stands behind its name: of several lines the further ones are indented, so that none passes for a field."""
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return "; ".join(" ".join(str(item).split()) for item in value)
    text = as_words(value)
    return "\n    ".join(text.strip().splitlines())


def values_of(kept: Stamped, proposed: Stamped | None = None) -> dict[str, Any]:
    """Fields with their values, of each what was said last: by whoever keeps them, or as an Observer understood it."""
    return {field: value for field, (value, _) in newest(kept, proposed or {}).items() if value is not None}


def json_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as JSON has them; raises InvalidInputError for what it cannot hold, such as half a character or a NaN."""
    try:
        text = msgspec.json.encode(given)
        found = msgspec.json.decode(text)
    except (TypeError, ValueError, RecursionError, OverflowError):
        text, found = b"", None
    check_depth(text, "the fields")
    if not isinstance(found, dict) or found != given:
        raise InvalidInputError("the fields hold what JSON cannot: use text, finite numbers, lists and objects of them")
    return found


def value_of(said: str, schema: Mapping[str, Any] | None) -> Any:
    """What somebody typed, as a field's value: a text, or None for nothing.

    It is JSON where it is an object or a list, or where the field's own `schema` (None: any text will do) takes no such text.
    """
    text = said.replace("\r\n", "\n").strip()
    takes_text = schema is None or not fits(text, schema)
    structured = text[:1] in {"{", "["} and (schema is None or "type" not in schema)
    if not text or (takes_text and not structured):
        return text or None
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return text


def schemas_of(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Of a schema the fields' own, by name."""
    found = schema.get("properties") if schema else None
    return found if isinstance(found, dict) else {}


def changed(form: WorkingForm, before: Mapping[str, Any], given: Mapping[str, Any], *, replace: bool) -> dict[str, Any]:
    """The values after a change: None and "" empty a field, `replace` empties whatever is not given.

    Raises InvalidInputError for an unknown field.
    """
    for field in given:
        if field not in form.fields:
            near = get_close_matches(str(field), form.fields, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            listed = ", ".join(form.fields[:_LISTED])
            raise InvalidInputError(
                f"{str(field)[:LONGEST_FIELD]!r} is no field of the working memory: it has {listed}{meant}"
            )
    empty = {field: None if isinstance(value, str) and not value.strip() else value for field, value in given.items()}
    after: dict[str, Any] = merged({} if replace else dict(before), empty)
    return {field: after[field] for field in form.fields if field in after}


def check(form: WorkingForm, values: Mapping[str, Any], schema: Mapping[str, Any] | None, size: int) -> None:
    """Raise InvalidInputError for values that do not fit the schema, or of more tokens (`size`) than the form permits."""
    if size > form.most:
        raise InvalidInputError(
            f"the working memory would be of {size:,} tokens: at most {form.most:,} (working_memory.max_tokens). Shorten a field"
        )
    if schema is not None and (wrong := fits(dict(values), schema)):
        raise InvalidInputError(f"the working memory does not fit its schema: {wrong}")
    if schema is None:
        for field, value in values.items():
            if not isinstance(value, str | int | float | list):
                raise InvalidInputError(f"{field}: use text, a number or a list of them; null empties the field")


def stamp(form: WorkingForm, kept: Stamped, proposed: Stamped, values: Mapping[str, Any], at: int) -> Stamped:
    """What is kept once the fields say these values: those that change are stamped, empty ones too, so that they stay so.

    A field that says what it said keeps its time, and one that says what an Observer `proposed` stays that one's.
    """
    said, written = newest(kept, proposed), dict[str, Sequence[Any]]()
    for field in form.fields:
        was, since = said.get(field, (None, 0))
        if values.get(field) != was:
            written[field] = [values.get(field), max(at, since + 1)]  # what was proposed may be dated ahead
    return {**kept, **written}
