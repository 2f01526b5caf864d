"""Models behind OpenAI's protocol: OpenAI itself, DeepSeek, Qwen, OpenRouter, vLLM, Ollama and whoever else speaks it."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

import httpx2
import msgspec
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, OpenAIError

from om_api.errors import SettingsError
from om_workers.llm.base import Reply
from om_workers.llm.completion import Completion, text_of, usage_of
from om_workers.llm.deadline import within
from om_workers.llm.faults import Asked, fault, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.settings import ModelSettings
    from om_workers.llm.base import Request

_OPENAI = "https://api.openai.com/v1"  # said here, so that no variable of the SDK's own sends our key elsewhere
_OPENAI_KEY = "OPENAI_API_KEY"
_NO_KEY = "none"  # a server without keys minds none, but the SDK does not work without one
_CONNECTIONS = 1_000  # more than any worker has threads
_CLOSING_S = 5.0
_FAILURES = (OpenAIError, TimeoutError, ValueError, RecursionError)  # the last two: what cannot be encoded or decoded

for _noisy in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_noisy).setLevel(logging.WARNING)  # a call is told of in its task's one line


def key_of(settings: ModelSettings, variable: Callable[[str], str | None]) -> str:
    """The key that a model's settings ask for, "" if they ask for none; `variable` reads the environment.

    Only the variable they name is read, or OPENAI_API_KEY at OpenAI itself: no other server is ever shown that one.
    Raises SettingsError when a variable is asked for and holds no key.
    """
    name = settings.api_key_env or ("" if settings.base_url else _OPENAI_KEY)
    if not name:
        return ""
    key = (variable(name) or "").strip()
    if not (key and key.isascii() and key.isprintable()):
        raise SettingsError(f"{name} holds no key; set it to the provider's key and restart the workers")
    return key


class OpenAICompatible:
    """One model at one endpoint: asked once a call, without retries of its own; threads share it.

    `name` is what the configuration calls it; `key` is shown to the endpoint and to nobody else. Raises SettingsError
    for an address that is none.
    """

    def __init__(self, name: str, settings: ModelSettings, key: str = "") -> None:
        self.name = name
        self._key = key
        self._model = settings.model or name
        self._options = msgspec.to_builtins(settings.options)
        try:
            self._client = _open(settings.base_url, key or _NO_KEY)
        except httpx2.InvalidURL as error:
            raise SettingsError(f"base_url is no address ({error}); correct it") from error

    def complete(self, request: Request) -> Reply:
        """Answer one request within its timeout, all of the connecting, asking and reading included."""
        asked = Asked(self.name, self._key, request)
        try:
            body = within(request.timeout, partial(self._ask, request))
            completion = msgspec.json.decode(body, type=Completion)
        except _FAILURES as error:
            raise fault(asked, error) from error
        if completion.error and not completion.choices:
            raise refusal(asked, _status(completion.error), completion.error)
        return Reply(text=text_of(self.name, completion), model=self.name, usage=usage_of(completion))

    async def _ask(self, request: Request) -> bytes:
        answer = await self._client.chat.completions.with_raw_response.create(
            model=self._model,
            messages=[{"role": "system", "content": request.system}, {"role": "user", "content": request.prompt}],
            temperature=request.temperature,
            timeout=request.timeout,
            extra_body=self._options,
        )
        return answer.content

    def close(self) -> None:
        """Hang up. A worker need not: its connections end with it."""
        within(_CLOSING_S, self._client.close)


def _open(base_url: str | None, key: str) -> AsyncOpenAI:
    limits = httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS // 10)
    client = AsyncOpenAI(
        api_key=key, base_url=base_url or _OPENAI, max_retries=0, http_client=DefaultAsyncHttpxClient(limits=limits)
    )
    if base_url:
        client.organization = client.project = None  # OpenAI's, from variables of the SDK's own: nobody else's business
    return client


def _status(error: object) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else 500
