"""The working memory as a tool of the Actor: its schema, what a call asks, and the answer as text."""

from typing import Any

from om_api.context.tool_formats import object_of, tool_of
from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.working_memory import WorkingChange, WorkingForm
from om_api.domain.tags import escape
from om_api.domain.tool_calls import WORKING
from om_api.domain.values import Outcome

NAME = WORKING
_WHAT = (
    "Keep what should always be before you in your working memory: write the fields that changed. Use it when you learn "
    "something that a field is for, or when what a field says no longer holds; not for what was only said."
)
_FIELDS = 'The fields that change, each with all that it is to say; null or "" empties one. What you leave out stays as it is.'
_REPLACE = "true: every field that is not named here is emptied."


def working_tool(form: WorkingForm, format: str = "openai") -> dict[str, Any]:  # noqa: A002 - as the providers call it
    """The tool as a provider's list of tools takes it. Raises InvalidInputError for a provider that is none of ours."""
    named = {field: {"description": f"what {field} is to say, or null"} for field in form.fields}
    fields = {"type": "object", "description": _FIELDS, "properties": named, "additionalProperties": False}
    replace = {"type": "boolean", "description": _REPLACE}
    schema = {"type": "object", "properties": {"fields": fields, "replace": replace}, "required": ["fields"]}
    return tool_of(NAME, _WHAT, schema, format)


def update_of(call: Any) -> tuple[dict[str, Any], bool]:
    """The fields that a call changes, and whether all others are emptied; `call` is as of `object_of`.

    Raises InvalidInputError where that cannot be done.
    """
    given = object_of(call)
    fields, replace = given.get("fields"), given.get("replace") or False
    if not isinstance(fields, dict):
        raise InvalidInputError("a call needs fields: an object with a value for each field that changes")
    if not isinstance(replace, bool):
        raise InvalidInputError("replace is true or false")
    return fields, replace


def not_kept(reason: str) -> str:
    """The answer to a call that cannot be carried out."""
    return escape(f"Nothing was changed: {reason}")


def kept_as(done: WorkingChange) -> str:
    """What became of a call that could be."""
    if done.outcome is Outcome.REST:
        return "Your working memory says so already."
    return escape(f"Your working memory says now:\n{done.working_memory.text}")
