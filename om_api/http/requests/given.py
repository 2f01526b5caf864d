"""Messages as they are given, described to OpenAPI and checked by it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from om_api.domain.messages import MAX_TOKENS
from om_api.domain.values import ID_PATTERN
from om_api.http.serving.limits import MAX_BATCH


class GivenMessage(BaseModel):
    """One turn. Give it an id: a repeated request then adds nothing that is there already."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str | None = Field(None, pattern=f"^{ID_PATTERN.pattern}$", description="yours; else one is made")
    role: Literal["user", "assistant", "system", "tool"]
    content: str | list[dict[str, Any]] = Field(
        description="text, or parts with a type: text, tool-call, tool-result, image or file"
    )
    timestamp: str | int | float | None = Field(None, description="ISO 8601 or Unix time; else now")
    tokens: int | None = Field(None, ge=0, le=MAX_TOKENS, description="how long it is; else it is counted")
    metadata: dict[str, Any] | None = None
    tool_calls: list[dict[str, Any]] | None = Field(None, description="as chat completions APIs write them")
    tool_call_id: str | None = None
    name: str | None = None


class GivenMessages(BaseModel):
    """Messages of one thread, oldest first; all are added, or none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    messages: list[GivenMessage] = Field(min_length=1, max_length=MAX_BATCH)
