"""Gemini models through Google's own SDK, at Google or at an address that speaks its protocol."""

from typing import Any

import msgspec
from google.genai import Client
from google.genai.client import DebugConfig
from google.genai.errors import APIError
from google.genai.types import (
    AutomaticFunctionCallingConfig,
    Content,
    GenerateContentConfig,
    HttpOptions,
    Part,
    ThinkingConfig,
)
from pydantic import ValidationError

from om_api.domain.errors import ModelError, SettingsError
from om_api.outbound.posting import quiet
from om_api.patterns.pattern import Pattern
from om_api.settings import ModelSettings
from om_workers.llm.base import Request
from om_workers.llm.connections import NO_KEY
from om_workers.llm.deadline import WaitFor, to_the_end
from om_workers.llm.faults import ProviderCall, fault, refusal, retry_after
from om_workers.llm.gemini_answer import GeminiAnswer, retry_delay
from om_workers.llm.provider import Provider

_GOOGLE = "https://generativelanguage.googleapis.com"
_VERSION = "v1beta"  # v1 does not take a system instruction of every model
_VERSIONED = Pattern(r"(?P<address>.+?)/(?P<version>v\d\w*)/?")
_THINKING = {"observe": 215, "reflect": 1024, "try": 215}  # tokens
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

quiet("google_genai")


class Gemini(Provider):
    """A model of Gemini's. Raises SettingsError for an address that is none and for options that Gemini does not know."""

    answer = GeminiAnswer

    def __init__(self, name: str, settings: ModelSettings, key: str = "", wait: WaitFor = to_the_end) -> None:
        self._options = _options_of(settings)
        super().__init__(name, settings, settings.base_url or _GOOGLE, key, wait)
        self._client = self._open(settings.base_url or _GOOGLE, key or NO_KEY)

    def _open(self, address: str, key: str) -> Client:
        """A client that takes nothing from variables of the SDK's own: no key, no address, no version, no recording."""
        versioned = _VERSIONED.fullmatch(address)
        options = HttpOptions(
            base_url=versioned["address"] if versioned else address,
            api_version=versioned["version"] if versioned else _VERSION,
            httpx_async_client=self._http,
        )
        try:
            return Client(vertexai=False, api_key=key, http_options=options, debug_config=DebugConfig(client_mode=""))
        except ImportError as error:
            raise SettingsError("GOOGLE_GENAI_HTTP_CLIENT names what is not installed here; unset it") from error

    async def _ask(self, request: Request) -> str:
        """The body of the answer as it came: what the SDK makes of it fails where a field is not as it expects."""
        (request.system + request.prompt).encode()  # half a character is found here; the SDK would send it
        answer = await self._client.aio.models.generate_content(
            model=self._model,
            contents=Content(role="user", parts=[Part(text=request.prompt)]),
            config=self._config(request),
        )
        return (answer.sdk_http_response and answer.sdk_http_response.body) or ""

    def _config(self, request: Request) -> GenerateContentConfig:
        """Everything that goes with a request: one call, no tools run, the answer as it came."""
        ours = {
            "system_instruction": request.system,
            "temperature": self._settings.temperature_for(request.temperature),
            "max_output_tokens": self._settings.max_output_tokens,
            "thinking_config": _thinking(self._model, request.purpose),
            "http_options": HttpOptions(timeout=max(1, round(request.timeout * 1000))),
            "automatic_function_calling": AutomaticFunctionCallingConfig(disable=True),
            "automatic_continuation": False,
            "should_return_http_response": True,
        }
        return GenerateContentConfig.model_validate({**ours, **self._options})

    def _fault(self, call: ProviderCall, error: Exception) -> ModelError:
        if not isinstance(error, APIError):
            return fault(call, error)
        wait = retry_after(error.response.headers) or retry_delay(error.details)
        return refusal(call, error.code, error.details, wait)


def _options_of(settings: ModelSettings) -> dict[str, Any]:
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


def _thinking(model: str, purpose: str) -> ThinkingConfig | None:
    """A little thinking helps notes and is billed as output; flash-lite thinks only if told to, and refuses so little."""
    if "gemini-2.5" not in model or "flash-lite" in model:
        return None
    return ThinkingConfig(thinking_budget=_THINKING[purpose])
