"""What a Gemini model is asked besides the words: temperature, size, thinking, and whatever its options state."""

from __future__ import annotations

from typing import Any

import msgspec
from google.genai.types import (
    AutomaticFunctionCallingConfig,
    GenerateContentConfig,
    HttpOptions,
    ThinkingConfig,
)
from pydantic import ValidationError

from om_api.domain.errors import SettingsError
from om_api.settings import ModelSettings
from om_workers.llm.base import Request

_THINKING = {"observe": 215, "reflect": 1024}  # tokens
_MS = 1000
_OURS = {
    "automatic_continuation",
    "automatic_function_calling",
    "continuation_token",
    "http_options",  # they could send the key elsewhere
    "should_return_http_response",
    "system_instruction",
}
_NOT_OFFERED = {  # by the API that is asked here; the SDK finds out only when a request is made
    "audio_timestamp",
    "generation_output_config",
    "model_armor_config",
    "model_selection_config",
    "routing_config",
}


def options_of(settings: ModelSettings) -> dict[str, Any]:
    """A model's options by the names of the SDK's fields; SettingsError for what is no field, or none for options."""
    try:
        config = GenerateContentConfig.model_validate(msgspec.to_builtins(settings.options))
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise SettingsError(
            f"its options are not Gemini's ({said}); permitted: fields of GenerateContentConfig in Google's SDK, such as"
            f" top_p or safety_settings; correct or remove them"
        ) from error
    if refused := sorted(config.model_fields_set & (_OURS | _NOT_OFFERED)):
        raise SettingsError(f"its options state {', '.join(refused)}, which cannot be chosen here; remove them")
    return {field: value for field, value in config if field in config.model_fields_set}


def config_for(model: str, settings: ModelSettings, options: dict[str, Any], request: Request) -> GenerateContentConfig:
    """Everything that goes with a request: one call, no tools run, the answer as it came."""
    ours = {
        "system_instruction": request.system,
        "temperature": settings.temperature_for(request.temperature),
        "max_output_tokens": settings.max_output_tokens,
        "thinking_config": _thinking(model, request.purpose),
        "http_options": HttpOptions(timeout=max(1, round(request.timeout * _MS))),
        "automatic_function_calling": AutomaticFunctionCallingConfig(disable=True),
        "automatic_continuation": False,
        "should_return_http_response": True,
    }
    return GenerateContentConfig.model_validate({**ours, **options})


def _thinking(model: str, purpose: str) -> ThinkingConfig | None:
    """A little thinking helps notes and is billed as output; flash-lite thinks only if told to, and refuses so little."""
    if "gemini-2.5" not in model or "flash-lite" in model:
        return None
    return ThinkingConfig(thinking_budget=_THINKING[purpose])
