"""Models behind OpenAI's protocol: OpenAI itself, DeepSeek, Qwen, OpenRouter, vLLM, Ollama and whoever else speaks it."""

from typing import Any

import httpx2
import msgspec
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, RequestOptions

from om_api.domain.errors import ModelError
from om_api.domain.learned import learned
from om_api.outbound.posting import quiet
from om_api.settings import ModelSettings
from om_workers.llm.base import Request, Usage
from om_workers.llm.connections import NO_KEY, TooLargeError
from om_workers.llm.deadline import WaitFor, to_the_end
from om_workers.llm.faults import ProviderCall, fault, refusal, retry_after, unreachable
from om_workers.llm.provider import NO_ROOM, WITHHELD, Provider, ProviderAnswer, usable

_OPENAI = "https://api.openai.com/v1"  # said here, so that no variable of the SDK's own sends our key elsewhere
_CUT = {"length": NO_ROOM, "content_filter": f"was blocked by the provider; {WITHHELD}"}


class _Said(msgspec.Struct, frozen=True):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):  # some providers answer in parts
            return "".join(str(part.get("text") or "") for part in self.content if part.get("type", "text") == "text")
        return self.content or ""


class _CompletionChoice(msgspec.Struct, frozen=True):
    message: _Said = _Said()
    finish_reason: str | None = None


class _Details(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None


@learned
class _CompletionUsage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek's own name


@learned
class Completion(ProviderAnswer, frozen=True):
    """A chat completion as providers answer it."""

    choices: list[_CompletionChoice] | None = None
    usage: Any = None

    def _usage(self) -> Usage:
        used = msgspec.convert(self.usage or {}, _CompletionUsage, strict=False)
        details = used.prompt_tokens_details or _Details()
        cached = details.cached_tokens or used.prompt_cache_hit_tokens or 0
        return Usage(input=used.prompt_tokens or 0, cached=cached, output=used.completion_tokens or 0)

    def _text(self, model: str) -> str:
        """An answer without choices is the provider's fault."""
        if not self.choices:
            raise ModelError(f"{model} answered without choices; it is asked again by itself", why="unusable")
        choice = self.choices[0]
        refused = f"refused to answer; {WITHHELD}" if choice.message.refusal and not choice.message.text else ""
        return usable(model, choice.message.text, _CUT.get(choice.finish_reason or "", refused))


quiet("openai")


class OpenAICompatible(Provider):
    """A model behind OpenAI's protocol. Raises SettingsError for an address that is none."""

    answer = Completion

    def __init__(self, name: str, settings: ModelSettings, key: str = "", wait: WaitFor = to_the_end) -> None:
        address = settings.base_url or _OPENAI
        super().__init__(name, settings, address, key, wait)
        self._options = msgspec.to_builtins(settings.options)
        self._client = AsyncOpenAI(api_key=key or NO_KEY, base_url=address, max_retries=0, http_client=self._http)
        if settings.base_url:  # OpenAI's, from variables of the SDK's own: nobody else's business
            self._client.organization = self._client.project = None

    async def _ask(self, request: Request) -> bytes:
        asks = {
            "model": self._model,
            "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.prompt}],
            **self._limits(request),
            **self._options,
        }
        options: RequestOptions = {"timeout": request.timeout}
        answer = await self._client.post("/chat/completions", cast_to=httpx2.Response, body=asks, options=options)
        return answer.content

    def _limits(self, request: Request) -> dict[str, Any]:
        """Temperature and size of an answer; OpenAI's newer models know the size by another name than everybody else."""
        size = "max_tokens" if self._settings.base_url else "max_completion_tokens"
        given = {
            "temperature": self._settings.temperature_for(request.temperature),
            size: self._settings.max_output_tokens,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _fault(self, call: ProviderCall, error: Exception) -> ModelError:
        if isinstance(error, APIStatusError):
            return refusal(call, error.status_code, error.body, retry_after(error.response.headers))
        if isinstance(error, APITimeoutError):
            return fault(call, TimeoutError())
        if isinstance(error, APIConnectionError) and not isinstance(error.__cause__, TooLargeError):
            return unreachable(call, error.__cause__ or error)
        return fault(call, error)
