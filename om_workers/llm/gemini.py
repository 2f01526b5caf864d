"""Gemini models through Google's own SDK, at Google or at an address that speaks its protocol."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from google.genai import Client
from google.genai.client import DebugConfig
from google.genai.errors import APIError
from google.genai.types import Content, HttpOptions, Part

from om_api.domain.errors import ModelError, OMError, SettingsError
from om_api.settings import ModelSettings
from om_workers.llm.answers import billed
from om_workers.llm.base import Reply, Request
from om_workers.llm.connections import CLOSING_S, NO_KEY, WaryClient, check_address, quiet
from om_workers.llm.deadline import WaitFor, to_the_end, within
from om_workers.llm.faults import ProviderCall, fault, refusal, retry_after, stated_status
from om_workers.llm.gemini_answer import GeminiAnswer, retry_delay, text_of, usage_of
from om_workers.llm.gemini_options import config_for, options_of

if TYPE_CHECKING:
    import httpx2

_GOOGLE = "https://generativelanguage.googleapis.com"
_VERSION = "v1beta"  # v1 does not take a system instruction of every model
_VERSIONED = re.compile(r"(?P<address>.+?)/(?P<version>v\d\w*)/?")

quiet("google_genai")


class Gemini:
    """One model at one endpoint: asked once a call, without retries of its own; threads share it.

    `name` is what the configuration calls it; `key` is shown to the endpoint, in a header, and to nobody else; `wait` is
    how its calls are waited for. Raises SettingsError for an address that is none and for options that Gemini does not know.
    """

    def __init__(self, name: str, settings: ModelSettings, key: str = "", wait: WaitFor = to_the_end) -> None:
        self.name = name
        self._wait = wait
        self._key = key
        self._model = settings.model or name
        self._settings = settings
        self._options = options_of(settings)
        check_address(settings.base_url or _GOOGLE)
        self._http = WaryClient()
        self._client = _open(settings.base_url or _GOOGLE, key or NO_KEY, self._http)

    def complete(self, request: Request) -> Reply:
        """Answer one request within its timeout, all of the connecting, asking and reading included."""
        call = ProviderCall(self.name, self._key, request)
        try:
            body = within(request.timeout, partial(self._ask, request), self._wait)
            answer = msgspec.json.decode(body, type=GeminiAnswer)
        except OMError:  # whoever asked waits no longer
            raise
        except Exception as error:
            # Whatever an answer makes the SDK raise is its sender's fault, see openai_compatible.py.
            raise _fault(call, error) from error
        if answer.error and not answer.candidates:
            raise refusal(call, stated_status(answer.error), answer.error)
        return billed(self.name, partial(text_of, self.name, answer), usage_of(answer))

    async def _ask(self, request: Request) -> str:
        """The body of the answer as it came: what the SDK makes of it fails where a field is not as it expects."""
        (request.system + request.prompt).encode()  # half a character is found here; the SDK would send it
        answer = await self._client.aio.models.generate_content(
            model=self._model,
            contents=Content(role="user", parts=[Part(text=request.prompt)]),
            config=config_for(self._model, self._settings, self._options, request),
        )
        return (answer.sdk_http_response and answer.sdk_http_response.body) or ""

    def close(self) -> None:
        """Hang up. A worker need not: its connections end with it."""
        self._client.close()
        within(CLOSING_S, self._http.aclose)


def _open(address: str, key: str, http: httpx2.AsyncClient) -> Client:
    """A client that takes nothing from variables of the SDK's own: no key, no address, no version, no recording."""
    versioned = _VERSIONED.fullmatch(address)
    options = HttpOptions(
        base_url=versioned["address"] if versioned else address,
        api_version=versioned["version"] if versioned else _VERSION,
        httpx_async_client=http,
    )
    try:
        return Client(vertexai=False, api_key=key, http_options=options, debug_config=DebugConfig(client_mode=""))
    except ImportError as error:
        raise SettingsError("GOOGLE_GENAI_HTTP_CLIENT names what is not installed here; unset it") from error


def _fault(call: ProviderCall, error: Exception) -> ModelError:
    if not isinstance(error, APIError):
        return fault(call, error)
    wait = retry_after(error.response.headers) or retry_delay(error.details)
    return refusal(call, error.code, error.details, wait)
