"""Models behind OpenAI's protocol: OpenAI itself, DeepSeek, Qwen, OpenRouter, vLLM, Ollama and whoever else speaks it."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx2
import msgspec
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, RequestOptions

from om_api.domain.errors import ModelError, OMError
from om_api.settings import ModelSettings
from om_workers.llm.answers import billed
from om_workers.llm.base import Reply, Request
from om_workers.llm.completion import Completion, text_of, usage_of
from om_workers.llm.connections import CLOSING_S, NO_KEY, TooLargeError, WaryClient, check_address, quiet
from om_workers.llm.deadline import WaitFor, to_the_end, within
from om_workers.llm.faults import ProviderCall, fault, refusal, retry_after, stated_status, unreachable

_OPENAI = "https://api.openai.com/v1"  # said here, so that no variable of the SDK's own sends our key elsewhere

quiet("openai")


class OpenAICompatible:
    """One model at one endpoint: asked once a call, without retries of its own; threads share it.

    `name` is what the configuration calls it; `key` is shown to the endpoint and to nobody else; `wait` is how its calls
    are waited for. Raises SettingsError for an address that is none.
    """

    def __init__(self, name: str, settings: ModelSettings, key: str = "", wait: WaitFor = to_the_end) -> None:
        self.name = name
        self._wait = wait
        self._key = key
        self._model = settings.model or name
        self._settings = settings
        self._options = msgspec.to_builtins(settings.options)
        self._client = _open(settings.base_url, key or NO_KEY)

    def complete(self, request: Request) -> Reply:
        """Answer one request within its timeout, all of the connecting, asking and reading included."""
        call = ProviderCall(self.name, self._key, request)
        try:
            body = within(request.timeout, partial(self._ask, request), self._wait)
            completion = msgspec.json.decode(body, type=Completion)
        except OMError:  # whoever asked waits no longer
            raise
        except Exception as error:
            # Whatever an answer makes the SDK raise is its sender's fault: else it would count as an attempt at a
            # message, and its traceback, the provider's own words included, would stand in the log.
            raise _fault(call, error) from error
        if completion.error and not completion.choices:
            raise refusal(call, stated_status(completion.error), completion.error)
        return billed(self.name, partial(text_of, self.name, completion), usage_of(completion))

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

    def close(self) -> None:
        """Hang up. A worker need not: its connections end with it."""
        within(CLOSING_S, self._client.close)


def _open(base_url: str | None, key: str) -> AsyncOpenAI:
    check_address(base_url or _OPENAI)
    client = AsyncOpenAI(api_key=key, base_url=base_url or _OPENAI, max_retries=0, http_client=WaryClient())
    if base_url:
        client.organization = client.project = None  # OpenAI's, from variables of the SDK's own: nobody else's business
    return client


def _fault(call: ProviderCall, error: Exception) -> ModelError:
    if isinstance(error, APIStatusError):
        return refusal(call, error.status_code, error.body, retry_after(error.response.headers))
    if isinstance(error, APITimeoutError):
        return fault(call, TimeoutError())
    if isinstance(error, APIConnectionError) and not isinstance(error.__cause__, TooLargeError):
        return unreachable(call, error.__cause__ or error)
    return fault(call, error)
