"""Validation of what callers send ends at the first faults, at every door."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import iter_route_contexts
from pydantic import TypeAdapter, ValidationError

from om_api import load_settings
from om_api.domain.requests.request_model import MOST_UNKNOWN, RequestModel
from om_api.http.app import make_app
from om_api.http.routes.settings import SettingsChange
from om_api.mcp.toolbox import TOOLS


class Wanted(RequestModel):
    """A part of a request."""

    name: str


def faults_of(given: Any, kind: Any = Wanted) -> list[tuple[Any, ...]]:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(given)
    return [error["loc"] for error in refused.value.errors()]


def test_request_model_reports_a_few_unknown_fields_and_keeps_its_own():
    given = {**{f"x{n}": 1 for n in range(100)}, "name": 1}
    assert faults_of(given) == [("name",), *((f"x{n}",) for n in range(MOST_UNKNOWN))]
    assert faults_of({"name": "a", "x": 1}) == [("x",)]


def test_settings_change_refuses_too_many_keys_before_it_checks_their_values():
    assert faults_of({"set": {f"k{n}": {} for n in range(201)}}, SettingsChange) == [("set",)]
    values = faults_of({"set": {"compose": [1] * 1_000}}, SettingsChange)
    assert [each[-1] for each in values if each[-2].startswith("list")] == [0]


def test_every_list_of_a_request_ends_at_its_first_fault_and_every_object_is_a_request_model():
    fields = {f"{tool.name} of MCP": tool.arguments.__pydantic_core_schema__ for tool in TOOLS.values()}
    for each in iter_route_contexts(make_app(load_settings(environ={})).routes):
        route = each.original_route
        asked = getattr(route, "dependant", None)
        for field in [*get_flat_params(asked), *asked.body_params] if asked else ():
            fields[f"{field.name} of {route.path}"] = field._type_adapter.core_schema
    found = [(where, part) for where, schema in fields.items() for part in parts_of(schema)]
    assert {part["type"] for _, part in found} == {"list", "tuple", "model"}
    for where, part in found:
        ends = issubclass(part["cls"], RequestModel) if part["type"] == "model" else part.get("fail_fast")
        assert ends, (where, part)
        assert part["type"] == "model" or "max_length" in part or "MCP" not in where, (where, part)


def parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    """The parts of a schema that can have many faults."""
    if isinstance(schema, dict):
        if schema.get("type") in ("list", "tuple", "set", "frozenset", "generator", "model"):
            yield schema
        for each in schema.values():
            yield from parts_of(each)
    elif isinstance(schema, list | tuple):
        for each in schema:
            yield from parts_of(each)
