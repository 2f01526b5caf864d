"""What all providers have in common: one call within its time, and which answers can be used."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from om_api.domain.errors import ModelError, OMError
from om_api.settings import ModelSettings
from om_workers.llm.base import BilledError, Reply, Request, Usage
from om_workers.llm.connections import WaryClient, check_address
from om_workers.llm.deadline import WaitFor, to_the_end, within
from om_workers.llm.faults import ProviderCall, refusal, stated_status

NO_ROOM = "ran out of room for its answer; raise its max_output_tokens, or lower what it may think"
WITHHELD = "name another model beside it if that happens often"
_NOTED = "</observations>"


class ProviderAnswer(msgspec.Struct, frozen=True):
    """One answer; whatever else stands in it is passed over. `error` is how gateways fail with a status of success."""

    choices: Sequence[Any] | None = None
    error: Any = None

    def reply(self, model: str) -> Reply:
        """The reply it is; BilledError where it cannot be used though the provider says what it took.

        Its usage is zeros where the provider does not tell it, or not legibly: no call fails for that.
        """
        try:
            usage = self._usage()
        except msgspec.ValidationError:
            usage = Usage()
        try:
            return Reply(text=self._text(model), model=model, usage=usage)
        except ModelError as error:
            if usage == Usage():
                raise
            raise BilledError(error, usage) from error

    def _usage(self) -> Usage:
        raise NotImplementedError

    def _text(self, model: str) -> str:
        raise NotImplementedError


class Provider(ABC):
    """One model at one endpoint: asked once a call, without retries of its own; threads share it.

    `name` is what the configuration calls it; `key` is shown to the endpoint, in a header, and to nobody else; `wait` is
    how its calls are waited for. Raises SettingsError for an address that is none.
    """

    answer: type[ProviderAnswer]

    def __init__(self, name: str, settings: ModelSettings, address: str, key: str, wait: WaitFor = to_the_end) -> None:
        check_address(address)
        self.name = name
        self._settings, self._key, self._wait = settings, key, wait
        self._model = settings.model or name
        self._http = WaryClient()

    def complete(self, request: Request) -> Reply:
        """Answer one request within its timeout, all of the connecting, asking and reading included."""
        call = ProviderCall(self.name, self._key, request)
        try:
            body = within(request.timeout, partial(self._ask, request), self._wait)
            answer = msgspec.json.decode(body, type=self.answer)
        except OMError:  # whoever asked waits no longer
            raise
        except Exception as error:
            # Whatever an answer makes the SDK raise is its sender's fault: else it would count as an attempt at a
            # message, and its traceback, the provider's own words included, would stand in the log.
            raise self._fault(call, error) from error
        if answer.error and not answer.choices:
            raise refusal(call, stated_status(answer.error), answer.error)
        return answer.reply(self.name)

    @abstractmethod
    async def _ask(self, request: Request) -> bytes | str:
        """The body of the answer as it came."""

    @abstractmethod
    def _fault(self, call: ProviderCall, error: Exception) -> ModelError:
        """What it means that asking, or reading the answer, raised this."""


def usable(model: str, text: str, cut: str = "") -> str:
    """An answer's text; ModelError if it cannot be used. `cut` says why it ended early, "" if it did not.

    Whatever the provider withheld, or ran out of room for, lies in the request: not retryable. What was cut short is
    used if its notes are complete, and only what follows them is missing; half of the notes would pass for all of them.
    An empty answer without such a reason is the provider's fault.
    """
    if cut and _NOTED not in text:
        raise ModelError(f"{model} {cut}", retryable=False, why="unusable")
    if not text.strip():
        raise ModelError(f"{model} answered nothing; it is asked again by itself", why="unusable")
    return text
