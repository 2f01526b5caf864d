"""What a tool may be asked: a model of its arguments, the schema that hosts are shown, and what is wrong with a call in words."""

import json
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from om_api.domain.errors import InvalidInputError
from om_api.domain.naming.ids import any_name
from om_api.domain.requests.request_model import FirstFault, RequestModel
from om_api.domain.values import ID_PATTERN
from om_api.mcp.caller import RESOURCE

A = TypeVar("A", bound="Arguments")
_PATTERN = f"^{ID_PATTERN.pattern}$"
_AN_ID = "it is no id: use 1 to 200 of A-Z a-z 0-9 . _ : @ + -"
_MOST_FAULTS = 5
LEAST_TOKENS, MOST_TOKENS = 200, 100_000
MANY, FEW = 20_000, 3_000  # tokens of an answer, unless a call says otherwise


class Arguments(RequestModel):
    """The arguments of one tool; its docstring is what a model is told of the tool."""

    model_config = ConfigDict(strict=False)


def an_id(description: str, **more: Any) -> Any:
    """A field that names something."""
    return Field(pattern=_PATTERN, description=description, **more)


def _read(value: Any) -> Any:
    """Some hosts hand over a list as the JSON of one."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


ANY_NAME = BeforeValidator(any_name)
ResourceName = Annotated[str, an_id("whose memory: the name of an agent or a user"), ANY_NAME]
ThreadName = Annotated[str, an_id("which conversation: a name you choose for it, and keep to"), ANY_NAME]
OfThread = Annotated[str | None, an_id("only this conversation; leave it out to look in all"), ANY_NAME]
Also = Annotated[
    tuple[str, ...],
    FirstFault(),
    Field(max_length=8, description="other agents or teams to read too"),
    BeforeValidator(_read),
]
FromJson = BeforeValidator(_read)
Cursor = Annotated[str, Field(max_length=200, description="goes on where an answer ended")]


def bounded_by(tokens: int) -> Any:
    """A field that bounds an answer."""
    return Field(tokens, ge=LEAST_TOKENS, le=MOST_TOKENS, description="the most tokens of the answer")


def schema_of(arguments: type[Arguments], said: Collection[str] = ()) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, without those that are said already and without what a model need not read."""
    whole = arguments.model_json_schema()
    known = fixed(arguments, said)
    properties = {name: _plain(each, whole) for name, each in whole["properties"].items() if name not in known}
    needed = [name for name in whole.get("required", ()) if name not in known]
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def fixed(arguments: type[Arguments], said: Collection[str]) -> set[str]:
    """Which arguments are said already: the resource wherever there is one, the thread where a call would need one."""
    fields = arguments.model_fields
    return {name for name in said if name in fields and (name == RESOURCE or fields[name].is_required())}


def _plain(schema: Any, whole: Mapping[str, Any]) -> Any:
    """A part of a schema: references taken in, null not offered, no titles."""
    if isinstance(schema, list):
        return [_plain(each, whole) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if ref := schema.get("$ref"):
        return _plain(whole["$defs"][ref.rpartition("/")[2]], whole)
    kept = {name: value for name, value in schema.items() if name not in {"title", "anyOf", "properties"}}
    if "properties" in schema:
        kept["properties"] = {name: _plain(each, whole) for name, each in schema["properties"].items()}
    if kept.get("default", "") in (None, ""):
        kept.pop("default", None)
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    return {name: _plain(value, whole) if name == "items" else value for name, value in kept.items()} | dict(
        _plain(choices[0], whole) if choices else {}
    )


def read_arguments(arguments: type[A], given: Mapping[str, Any], said: Mapping[str, str]) -> A:
    """A call's arguments, completed by what is said already; raises InvalidInputError, which says all that is wrong."""
    known = {name: said[name] for name in fixed(arguments, said)}
    for name, value in known.items():
        if given.get(name, value) != value:
            raise InvalidInputError(f"{name} is {value} here and can be no other: leave it out")
    try:
        return arguments.model_validate({**given, **known})
    except ValidationError as error:
        permitted = [name for name in arguments.model_fields if name not in known]
        raise InvalidInputError("; ".join(_fault(each, permitted) for each in error.errors()[:_MOST_FAULTS])) from None


def _fault(error: Any, permitted: Collection[str]) -> str:
    *outer, last = error["loc"] or ("arguments",)
    where = ".".join(map(str, (*outer, last)))[:100]
    if error["type"] == "extra_forbidden":
        close = get_close_matches(str(last)[:100], permitted, 1, 0.5) if not outer else []
        meant = f"did you mean {close[0]}?" if close else f"permitted are {', '.join(permitted)}"
        return f"{where} is no argument here: {meant}" if not outer else f"{where}: there is no such field"
    if error["type"] == "missing":
        return f"{where} is missing"
    if error["type"] == "string_pattern_mismatch" and error["ctx"]["pattern"] == _PATTERN:
        return f"{where}: {_AN_ID}"
    if error["type"] in {"model_type", "model_attributes_type", "dict_type"}:
        return f"{where} must be an object with the fields of its schema"
    if error["type"] == "too_short":
        return f"{where} is empty: it needs at least {error['ctx']['min_length']}"
    return f"{where}: {error['msg'][:200]}"
