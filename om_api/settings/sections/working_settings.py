"""The working memory of an agent, as YAML names it."""

from typing import Annotated, Any, Literal

from pydantic import PlainValidator, model_validator

from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.working_memory import LONGEST_TEMPLATE, WorkingForm, form_of
from om_api.settings.sections.fields import Group, Mapped, SettingOwner, contradiction, number, setting, switch, tokens


def _mapped(value: object) -> Mapped | None:
    if value is None or isinstance(value, dict):
        return value if value is None else Mapped(value)
    raise ValueError("no mapping")


class WorkingMemorySettings(Group):
    """Fields that the Actor keeps; without a template and a schema there are none."""

    owner = SettingOwner.OPERATOR

    template: str | None = setting(
        None,
        "Markdown with a list item for each field, such as `- **Name**: what they are called`; null: no such fields",
        f"Markdown of at most {LONGEST_TEMPLATE:,} characters, or null",
    )
    json_schema: Annotated[Mapped | None, PlainValidator(_mapped)] = setting(
        None,
        "instead of a template: a JSON Schema whose properties are the fields",
        "an object with properties, or null",
        owner=SettingOwner.ADMINISTRATOR,
    )
    scope: Literal["resource", "thread"] = setting(
        "resource", "one for all threads of an agent, or one for each thread", "resource or thread"
    )
    observe: bool = switch("true: the Observer proposes what the fields are to say, from what it observes", on=False)
    max_tokens: int = tokens(1_000, "most of what it says")
    versions: int = number(10, "former versions that are kept, and can be brought back", 1, 100, "versions")

    @model_validator(mode="after")
    def _check_form(self) -> "WorkingMemorySettings":
        try:
            self.form()
        except InvalidInputError as error:
            named = "json_schema" if self.template is None else "template"
            raise contradiction(f"working_memory.{named}: {error}", f"working_memory.{named}") from None
        if self.observe and self.template is None and self.json_schema is None:
            raise contradiction(
                "working_memory.observe is true and there are no fields; permitted with it: a template, or a json_schema",
                "working_memory.observe",
            )
        return self

    def form(self) -> WorkingForm | None:
        """What it is made of; None where an agent has none."""
        schema: dict[str, Any] | None = None if self.json_schema is None else dict(self.json_schema)
        return form_of(self.template, schema, self.scope, self.max_tokens)
