"""Who is asked, in which order, within which limits: the models of a list, until one of them answers what can be used."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec

from om_api.domain.errors import BudgetReachedError, ModelError, StoreError
from om_api.domain.timing.chance import chance
from om_api.settings import ModelSettings, Settings
from om_api.settings.model_settings import provider_of
from om_api.store.fleet.rates import Rate
from om_api.telemetry import spans
from om_workers.calls.admission import Admission, Passage, PassedOverError
from om_workers.calls.ledger import Ledger, LedgerEntry
from om_workers.calls.redacted_requests import RedactedRequests
from om_workers.calls.registry import Registry
from om_workers.llm.base import BilledError, EmptyNotesError, Model, Reply, Request, TooLongError, TurnedAwayError
from om_workers.llm.extractive import Extractive
from om_workers.process.stopping import StoppedError, Stopping

T = TypeVar("T")
TRIES = 3
UNKNOWN_S = 10.0  # to wait where nobody said how long
_PAUSE_S = 1.0  # at most before the second try, and twice that before the third
_SHORT_S = 3.0  # a wait that a provider asks for is waited here up to this; the scope is put off for a longer one
_LEAST_TIMEOUT_S = 0.1
_PROVIDERS = {"gemini": "gcp.gemini"}  # as OpenTelemetry calls them, where it calls them otherwise
_LONGEST_REASON = 200
_SPREAD = 0.1  # of a wait: whoever waits for the same provider does not come back in the same moment


class SizedRequest(NamedTuple):
    """What is asked on whose behalf ("": nobody's), and the size of its input in tokens."""

    resource: str
    request: Request
    tokens: int


class ModelCalls:
    """Asks models so that an outage, a refusal or a limit of one of them costs as little as it can."""

    def __init__(
        self,
        registry: Registry,
        admission: Admission,
        ledger: Ledger,
        settings: Settings,
        count: Callable[[str], int],
        *,
        tries: int = TRIES,
        stopping: Stopping | None = None,
        redacted: RedactedRequests | None = None,
    ) -> None:
        self._redacted = redacted
        self._registry = registry
        self._admission = admission
        self._ledger = ledger
        self._settings = settings
        self._count = count
        self.tries = tries
        self._stopping = stopping or Stopping()

    def ask(self, resource: str, names: Sequence[str], request: Request, read: Callable[[Reply], T]) -> tuple[Reply, T]:
        """The first answer that can be used, and what `read` made of it; the names are tried in order.

        `read` raises ModelError (not retryable) for an answer that is none, so that the next model gets its chance. Extractive
        does not step in for a model that is merely busy: a later memory is better than a worse one. It answers by itself when
        no name can be used here at all, or when a budget is used up that says so. Raises ModelError when nobody answered:
        retryable if any of them was; StoppedError when this process stops, which is no model's fault.
        """
        if self._redacted:
            request = self._redacted.request(resource, request)
        question = self._sized(resource, request)
        refused: dict[str, ModelError] = {}
        for name in names:
            try:
                model = self._registry.model_for(name, question.tokens)
                if model and not (isinstance(model, Extractive) and any(map(_is_busy, refused.values()))):
                    return self._answer(question, model, read)
            except ModelError as error:
                refused[name] = error
        if refused and not any(map(_lets_extractive_stand_in, refused.values())):
            raise _nobody(names, refused)
        return self._answer(question, self._registry.extractive, read)

    def try_out(self, name: str, request: Request) -> Reply:
        """The answer of one model, for no agent: asked once, nobody steps in, and only the budget of all bounds it.

        Raises ModelError when it did not answer or was not asked, StoreError and StoppedError.
        """
        return self._admitted(self._sized("", request), self._registry.itself(name))

    def _sized(self, resource: str, request: Request) -> SizedRequest:
        return SizedRequest(resource, request, self._count(request.system) + self._count(request.prompt))

    def _answer(self, question: SizedRequest, model: Model, read: Callable[[Reply], T]) -> tuple[Reply, T]:
        reply = self._persist(question, model)
        if self._redacted:
            reply = self._redacted.reply(question.resource, reply)
        return reply, read(reply)

    def _persist(self, question: SizedRequest, model: Model) -> Reply:
        """Ask again what a moment later may answer: `tries` times at most, all of it within the request's own timeout."""
        pauses = (chance.uniform(0, _PAUSE_S * 2**number) for number in range(self.tries - 1))
        end, cause = time.monotonic() + question.request.timeout, None
        while True:
            try:
                return self._admitted(question, model)
            except PassedOverError as error:
                raise cause or error from None  # its breaker opened meanwhile: what opened it says more
            except ModelError as error:
                cause, pause = error, _until_next(error, next(pauses, math.inf))
                if time.monotonic() + pause >= end:
                    raise
            self._stopping.pause(pause)
            question = _within(question, end - time.monotonic())

    def _admitted(self, question: SizedRequest, model: Model) -> Reply:
        """Counted first, then admitted: who has no budget left takes no place from those who have."""
        self._stopping.go_on()
        entry = self._ledger.open(question.resource, question.request.purpose, model.name, question.tokens)
        if isinstance(model, Extractive):  # it is never away and has no limits
            return self._call(question, model, Passage(), entry)
        with ExitStack() as inside:
            try:
                rate = _rate(self._settings, model.name)
                timeout = question.request.timeout
                admission = self._admission.admit(model.name, rate, question.tokens, timeout, question.resource)
                passage = inside.enter_context(admission)
            except (ModelError, StoreError, StoppedError):
                self._ledger.cancel(entry)
                raise
            return self._call(question, model, passage, entry)

    def _call(self, question: SizedRequest, model: Model, passage: Passage, entry: LedgerEntry) -> Reply:
        """The one place where a model is called: billed afterwards. What it cost stands in the reply.

        What is left in flight stays counted as it was reserved: nobody knows what the provider bills for it.
        """
        try:
            with spans.span(f"chat {model.name}", "client", self._asked(question, model)) as span:
                reply = model.complete(question.request)
                span.note(_answered(reply))
        except ModelError as error:
            passage.failed(error)
            usage = error.usage if isinstance(error, BilledError) else None
            self._ledger.close(entry, usage, failed=True, bounded=not isinstance(error, TurnedAwayError))
            if self._redacted:
                self._redacted.clean(question.resource, error)
            raise
        passage.answered()
        cost = self._ledger.close(entry, reply.usage, answer=self._count(reply.text))
        return reply if cost is None else msgspec.structs.replace(reply, cost=cost)

    def _asked(self, question: SizedRequest, model: Model) -> dict[str, Any]:
        """A call by OpenTelemetry's names for it, and no word of what is asked; nothing where nothing is traced."""
        if not spans.on():
            return {}
        settings = self._settings.models.get(model.name) or ModelSettings()
        provider = provider_of(model.name, settings)
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
            "gen_ai.request.model": settings.model or model.name,
            "gen_ai.request.temperature": question.request.temperature,
            "server.address": urlsplit(settings.base_url).hostname if settings.base_url else None,
            "cortex_om.resource": question.resource or None,
            "cortex_om.purpose": question.request.purpose,
        }


def _answered(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "gen_ai.response.model": reply.model,
        "gen_ai.usage.input_tokens": usage.input or None,
        "gen_ai.usage.cache_read.input_tokens": usage.cached or None,
        "gen_ai.usage.output_tokens": usage.output or None,
    }


def _until_next(error: ModelError, usual: float) -> float:
    """How long before the same model is asked again; infinity where it is not."""
    asked = error.retry_after or 0.0
    return max(_spread(asked), usual) if error.retryable and asked <= _SHORT_S else math.inf


def _within(question: SizedRequest, seconds: float) -> SizedRequest:
    return question._replace(request=msgspec.structs.replace(question.request, timeout=max(seconds, _LEAST_TIMEOUT_S)))


def _rate(settings: Settings, model: str) -> Rate:
    known = settings.models.get(model)
    return Rate(**known.limits) if known and known.limits else Rate()


def _is_busy(error: ModelError) -> bool:
    return bool(error.retry_after) and not isinstance(error, PassedOverError)


def _lets_extractive_stand_in(error: ModelError) -> bool:
    return isinstance(error, BudgetReachedError) and error.instead == "extractive"


def _nobody(names: Sequence[str], refused: Mapping[str, ModelError]) -> ModelError:
    """One error for all of them. Somebody who may answer sooner than others decides how long to wait."""
    if len(names) == 1:
        return refused[names[0]]
    reasons = [f"{name}: {str(refused[name])[:_LONGEST_REASON] if name in refused else 'not asked'}" for name in names]
    later = [error for error in refused.values() if error.retryable]
    if not later and any(isinstance(error, TooLongError) for error in refused.values()):
        return TooLongError(f"the request is larger than the window of a model. {'; '.join(reasons)}")
    if not later and any(isinstance(error, EmptyNotesError) for error in refused.values()):
        return EmptyNotesError(f"no model of the list noted what the messages state. {'; '.join(reasons)}")
    waits = [error.retry_after or UNKNOWN_S for error in later] if any(error.retry_after for error in later) else []
    text = f"no model of the list gave an answer that can be used. {'; '.join(reasons)}"
    why = (later or [*refused.values()])[-1].why
    return ModelError(text, retryable=bool(later), retry_after=min(waits, default=None), why=why)


def patience_ms(error: ModelError | None = None) -> int:
    """How long work waits after a failure that may pass: as long as it was told, else about ten seconds; not all at once."""
    wait = (error and error.retry_after) or chance.uniform(0.5, 1.5) * UNKNOWN_S
    return round(1000 * _spread(wait))


def _spread(wait: float) -> float:
    return wait + chance.uniform(0, _SPREAD * wait)
