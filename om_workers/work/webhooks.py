"""A round of webhooks: new events become deliveries, and those that are due are sent, many at a time from one thread."""

import time
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from typing import Any, NamedTuple, Protocol

import structlog

from om_api.domain.timing.chance import chance
from om_api.domain.webhooks.delivery import Delivery, wait_s
from om_api.domain.webhooks.webhook import GONE, Webhook
from om_api.metrics.series import DELIVERIES
from om_api.store.fleet import webhook_queue, webhook_records
from om_api.store.fleet.webhook_queue import Due, Outcome
from om_api.store.memory import due
from om_workers.llm.deadline import begun
from om_workers.process.heartbeat import HeldClaim
from om_workers.work.services import Services
from om_workers.work.webhook_sender import Answer, send

_WEBHOOKS = 64  # served in one round
_EACH = 4  # deliveries of one of them in flight
_PAUSE_MS = 15_000  # of a receiver that failed: who is down is asked for one thing at a time
_log = structlog.get_logger("om_workers")


class Send(Protocol):
    """How an attempt is made."""

    def __call__(
        self, webhook: Webhook, delivery: Delivery, at: int, *, allow_private: bool, patience: float
    ) -> Coroutine[Any, Any, Answer]:
        """Make it."""


class Delivered(NamedTuple):
    """What a round did: events passed on, and how attempts ended."""

    queued: int = 0
    dropped: int = 0
    missed: int = 0
    delivered: int = 0
    failed: int = 0
    dead: int = 0


class _Service:
    """One webhook within a round: what of it is in flight, and whether an attempt failed."""

    def __init__(self, webhook: Webhook, held: HeldClaim) -> None:
        self.webhook, self.held = webhook, held
        self.flying, self.failed = 0, False


class WebhookRound:
    """One round: a receiver that is slow or down takes no thread of its own, and keeps no other one waiting."""

    def __init__(self, services: Services, sender: Send = send) -> None:
        self._services, self._send = services, sender
        self._keys, self._run, self._settings = services.keys, services.run, services.settings.memory.webhooks
        self._until = time.monotonic() + self._settings.interval
        self._did: Counter[str] = Counter()
        self._flying: dict[Future[Answer], tuple[_Service, Due]] = {}

    def deliver(self) -> Delivered:
        """Make it; raises StoreError when the store is away: what was in flight then is sent again."""
        webhooks = self._run(webhook_records.every(self._keys))
        if not webhooks:
            return Delivered()
        try:
            self._pass_on(webhooks)
            self._serve({webhook.id: webhook for webhook in webhooks})
        finally:
            self._services.events.webhooks({name: self._did[name] for name in DELIVERIES})
        return Delivered(**self._did)

    def _pass_on(self, webhooks: list[Webhook]) -> None:
        more = True
        while more and time.monotonic() < self._until:
            passed = self._run(webhook_queue.fan_out(self._keys, webhooks, self._settings.queue))
            self._did.update(queued=passed.queued, dropped=passed.dropped, missed=passed.gaps)
            more = passed.more

    def _serve(self, webhooks: dict[str, Webhook]) -> None:
        index = self._keys.due_webhooks
        with ExitStack() as leases:
            for claim in self._run(due.claim(index, _WEBHOOKS)):
                self._run(due.start(index, claim))
                held = leases.enter_context(self._services.heartbeat.lease(index, claim))
                webhook = webhooks.get(claim.scope)
                if held is None or webhook is None or webhook.disabled:
                    self._run(due.done(index, claim))
                else:
                    self._go_on(_Service(webhook, held))
            while self._flying:
                self._land()

    def _land(self) -> None:
        done, _ = wait(self._flying, return_when=FIRST_COMPLETED)
        for future in done:
            line, tried = self._flying.pop(future)
            line.flying -= 1
            self._note(line, tried, _answer(future))
            if not line.flying:
                self._go_on(line)

    def _go_on(self, line: _Service) -> None:
        """Begin what is due of a webhook, or let it be."""
        ours = not line.failed and line.held.claim is not None and time.monotonic() < self._until
        if ours and not self._services.stopping.asked:
            now = self._run(due.server_ms())
            for tried in self._run(webhook_queue.due_now(self._keys, line.webhook.id, now, _EACH)):
                self._begin(line, tried, now)
        if not line.flying:
            self._let_be(line)

    def _begin(self, line: _Service, tried: Due, now: int) -> None:
        given, patience = self._settings, self._settings.timeout

        def call() -> Coroutine[Any, Any, Answer]:
            return self._send(
                line.webhook, tried.delivery, now // 1000, allow_private=given.allow_private, patience=patience
            )

        self._flying[begun(patience, call)] = line, tried
        line.flying += 1

    def _note(self, line: _Service, tried: Due, answer: Answer) -> None:
        attempt = tried.delivery.attempts + 1
        again = None if answer.gone else wait_s(attempt, chance.random())
        outcome: Outcome = "delivered" if not answer.error else "dead" if again is None else "failed"
        noted = self._run(
            webhook_queue.attempted(self._keys, line.webhook.id, tried, outcome, answer.error, again or 0)
        )
        if outcome != "delivered":
            line.failed = True
            _log.warning(
                "delivery_failed", webhook=line.webhook.id, host=line.webhook.host, delivery=tried.delivery.id,
                attempt=attempt, error=answer.error, given_up=outcome == "dead",
            )  # fmt: skip
        if answer.gone:
            self._run(webhook_records.disable(self._keys, line.webhook, GONE))
        if noted:
            self._did[outcome] += 1

    def _let_be(self, line: _Service) -> None:
        """Have a webhook looked at again when its next delivery is due; one that failed just now not at once."""
        later = self._run(webhook_queue.next_due(self._keys, line.webhook.id))
        if later is not None and line.failed:
            later = max(later, self._run(due.server_ms()) + _PAUSE_MS)
        if line.held.claim is not None:
            self._run(due.done(self._keys.due_webhooks, line.held.claim, later))


def _answer(future: Future[Answer]) -> Answer:
    try:
        return future.result()
    except TimeoutError:
        return Answer("no answer in time")
    except Exception as error:  # noqa: BLE001 -- whatever one receiver makes of its attempt, the others go on
        _log.warning("delivery_broke", kind=type(error).__name__)  # its text may hold the address
        return Answer("it broke on our side: the workers' log says delivery_broke")
