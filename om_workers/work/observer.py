"""The Observer: has sealed chunks observed by a model and stores what it noted. Read, think, commit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from math import ceil
from typing import Any, Literal, NamedTuple

import msgspec

from om_api.domain.errors import HookError, ModelError, StoreError
from om_api.domain.messages import Message
from om_api.domain.tool_calls import without_own
from om_api.domain.values import Outcome, Scope, new_id
from om_api.settings import MemorySettings
from om_api.store.memory import chunks as chunking
from om_api.store.memory import due, model_cooldown
from om_api.store.memory.scope_state import ScopeState
from om_api.telemetry import spans
from om_workers.calls.model_calls import patience_ms
from om_workers.llm.base import EmptyNotesError, Reply, Request, TooLongError
from om_workers.process.stopping import StoppedError
from om_workers.prompts.parse import Observed, parse_observer
from om_workers.prompts.recalled import NOTHING_SHOWN, Shown
from om_workers.prompts.render import Manner, batch_request, observer_request
from om_workers.trust.earlier import told_in, vouched_in
from om_workers.trust.judging import Judge
from om_workers.trust.noting import judged
from om_workers.trust.sayings import all_untrusted, sayings
from om_workers.work import extracting, isolation, sealed
from om_workers.work.answers import AnswerReader
from om_workers.work.hooked import Hooks
from om_workers.work.scope_worker import LookResult, ScopeWorker, chunk_lock
from om_workers.work.sealed import Sealed, observation_of
from om_workers.work.services import Services

_CRASHED = f"crashed: {chunking.MOST_CRASHES} attempts to observe it froze a worker process, which its watchdog ended"
_DEADLY = "whoever tried to observe it ended, or could not store what was noted"
# what every model can observe: asked before a message is blamed for what may be the model's fault
_HARMLESS = Message(id="om-harmless", role="user", content="My name is Ada, and I live in Graz.")


_SILENCE = Reply(text="", model="")  # about messages that hooks left out
_COOLS_S = 60  # what a hook refuses is paid for each time: no model is asked for its agent so long


class Noted(NamedTuple):
    """What a model noted of a chunk, asked for when it `began` (monotonic s), and not stored yet."""

    read: Sealed
    reply: Reply
    observed: Observed
    began: float


class Observer:
    """The way of chunks from messages to observations: one chunk a call, or some small ones of several threads."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._run = services.run
        self._worker = ScopeWorker(services)
        self._hooks = Hooks(services)

    def observe_chunks(self, name: str, *chunks: str, until: float = 0.0, seen: ScopeState | None = None) -> LookResult:
        """Observe sealed chunks of one scope in one call, then make whatever move the scope is due by that.

        What that came to is returned with this outcome; `until` and `seen` as ScopeWorker says. Raises StoppedError when this
        process stops meanwhile: their attempts are given back then, and the scope is due now; HookError where a hook has it
        stop: then in a while, and no attempt counts.
        """
        scope = Scope.parse(name)
        try:
            outcome = self._observe(scope, chunks, seen)
        except HookError:
            at = self._run(due.server_ms()) + patience_ms()
            self._run(due.postpone(self._services.keys.due_observe, scope, at))
            raise
        except StoppedError:  # only now that its locks are free: who finds one would wait for its end
            self._run(due.mark(self._services.keys.due_observe, [scope]))
            raise
        if outcome not in {Outcome.BUFFERED, Outcome.SPLIT, Outcome.REJECTED}:
            return LookResult(outcome)
        looked = self._worker.observe(name, until, seen)
        if looked.outcome is Outcome.BUSY:
            self._run(due.mark(self._services.keys.due_observe, [scope]))
        return looked._replace(outcome=outcome)

    @contextmanager
    def _locked(self, scope: Scope, chunks: Collection[str]) -> Iterator[list[str]]:
        """Those of the chunks that nobody else observes; they are kept while the block runs."""
        of, locks = self._services.keys.of(scope.resource), self._services.heartbeat
        with ExitStack() as held:
            yield [chunk for chunk in chunks if held.enter_context(locks.lock(of.lock(chunk_lock(chunk))))]

    def _observe(self, scope: Scope, chunks: Sequence[str], seen: ScopeState | None) -> Outcome:
        """Hooks see a chunk before its lock is taken, and what was noted once that is free: the commit decides anyway.

        Time 0: a hook sees a chunk. Time 1: a message is erased. Time 2: we lock the chunk, and find other messages in it: it
        is left to the next look.
        """
        changed, stopped = None, None
        if self._hooks.any(scope, "before_observe"):
            changed, stopped = self._before(scope, chunks, seen)
            chunks = [*changed] if stopped else chunks
        with self._locked(scope, chunks) as mine:
            came = self._observe_locked(scope, mine, seen, changed) if mine else Outcome.BUSY
        did = came if isinstance(came, Outcome) else self._after(came)
        if stopped:
            raise stopped
        return did

    def _before(
        self, scope: Scope, chunks: Sequence[str], seen: ScopeState | None
    ) -> tuple[dict[str, Sealed], HookError | None]:
        """Chunks as hooks want them read, by their ids; none where nothing is to be observed. What one stops keeps no other."""
        read = sealed.read(self._services, scope, chunks, seen)
        found, stopped = dict[str, Sealed](), None
        for each in read if read and not self._rests(read[0]) else ():
            try:
                crashed = each.chunk.crashes >= chunking.MOST_CRASHES  # perhaps in the hook, which is not asked again
                found[each.chunk.id] = each if crashed else each._replace(changed=self._hooks.heard(each))
            except HookError as error:
                stopped = error
        return found, stopped

    def _rests(self, read: Sealed) -> bool:
        agent = self._services.agent(read.scope)
        return read.state.paused or read.waits or not agent.enabled or agent.read_only

    def _observe_locked(
        self,
        scope: Scope,
        chunks: Sequence[str],
        seen: ScopeState | None = None,
        changed: Mapping[str, Sealed] | None = None,
    ) -> Outcome | list[Noted]:
        read = sealed.read(self._services, scope, chunks, seen)
        if read and self._rests(read[0]):
            return Outcome.REST
        read = read if changed is None else self._as_hooked(scope, read, changed)
        if not read:
            return Outcome.SUPERSEDED
        agent = self._services.agent(scope)
        begun, isolated = self._begun(read)
        if not begun:
            return isolated
        if len(begun) > 1:
            return self._together(begun)
        ((only, attempts),) = begun
        if attempts > agent.observer.max_attempts:  # whoever tried before did not live to say why, or to store it
            return self._after_deaths(only)
        return self._try(only, attempts, agent.observer.max_attempts)

    def _as_hooked(self, scope: Scope, read: Sequence[Sealed], changed: Mapping[str, Sealed]) -> list[Sealed]:
        """Chunks with what hooks want read of them; none of which they saw other messages."""
        pairs = [(each, changed.get(each.chunk.id)) for each in read]
        found = [each._replace(changed=saw.changed) for each, saw in pairs if saw and saw.messages == each.messages]
        if len(found) < len(read):
            self._run(due.mark(self._services.keys.due_observe, [scope]))
        return found

    def _begun(self, read: Sequence[Sealed]) -> tuple[list[tuple[Sealed, int]], Outcome]:
        """Chunks with their attempts, including this one. Chunks that crashed are isolated instead, with that outcome."""
        begun, isolated = list[tuple[Sealed, int]](), Outcome.SUPERSEDED
        for each in read:
            attempts = self._begin(each)
            if attempts == "crashed":
                isolated = isolation.isolate(self._services, each, _CRASHED)
            elif attempts:
                begun.append((each, attempts))
        return begun, isolated

    def _begin(self, read: Sealed, attempts: int = 1) -> int | Literal["crashed"] | None:
        return self._run(chunking.begin(self._services.keys, read.scope.resource, read.chunk.id, attempts))

    def _try(self, read: Sealed, attempts: int, limit: int) -> Outcome | list[Noted]:
        """One call. The last attempt shows nothing of what came before: that may be what the model chokes on."""
        alone = attempts == limit > 1
        before, task = ([], "") if alone else (read.texts, read.task)
        began = self._services.events.observing(read.scope, read.summary)
        try:
            with self._given_back(read):
                request = self._request(read.scope, read.heard, before, task, read.shown, read.kept)
                reply, observed = self._ask(read.scope, request) if read.heard else (_SILENCE, Observed())
        except ModelError as error:
            too_long = isinstance(error, TooLongError) and len(read.messages) > 1  # its halves may fit
            if not too_long and (error.retryable or attempts < limit):
                self._again(read, error)
                raise
            reason, is_empty = str(error), isinstance(error, EmptyNotesError)
        else:
            return self._stored(Noted(read, reply, observed, began))
        if len(read.messages) == 1:
            self._make_sure(read, reason)
            if is_empty:
                return self._stored(Noted(read, *self._by_rules(read), began))
        return isolation.isolate(self._services, read, reason)

    def _by_rules(self, read: Sealed) -> tuple[Reply, Observed]:
        """The notes of the built-in observer."""
        request = self._request(read.scope, read.heard, task=read.task, known=read.shown, kept=read.kept)
        reply = self._services.registry.extractive.complete(request)
        return reply, parse_observer(reply.text, [each.slug for each in request.extractors])

    def _ask(self, scope: Scope, request: Request) -> tuple[Reply, Observed]:
        read = AnswerReader(self._services.events, scope, request).observed
        return self._services.models.ask(scope.resource, self._services.agent(scope).observer_models, request, read)

    def _request(
        self,
        scope: Scope,
        messages: Sequence[Message],
        before: Sequence[str] = (),
        task: str = "",
        known: Shown = NOTHING_SHOWN,
        kept: Mapping[str, Any] | None = None,
    ) -> Request:
        requests = self._services.requests
        messages, kept = requests.messages(scope.resource, messages), requests.value(scope.resource, kept or {})
        given: dict[str, Any] = {"prior_task": task, "known": known, "kept": {"": kept}}
        return observer_request(messages, before, **given, **self._manner(self._services.agent(scope)))

    def _manner(self, agent: MemorySettings) -> Manner:
        observer = agent.observer
        return {
            "previous_tokens": observer.previous_tokens,
            "instruction": observer.instruction,
            "timezone": agent.timezone,
            "variant": observer.prompt,
            "style": observer.style,
            "temperature": observer.temperature,
            "timeout": observer.timeout,
            "count": self._services.count,
            "extractors": extracting.wanted(agent),
        }

    def _stored(self, *noted: Noted) -> Outcome | list[Noted]:
        """Store what was noted; where hooks are to see it first, it waits until no lock is held, and its attempts are over."""
        if not self._hooks.any(noted[0].read.scope, "after_observe"):
            return self._commit_all(noted)
        for each in noted:  # no model ended of it
            self._begin(each.read, -1)
        return [*noted]

    def _after(self, noted: Sequence[Noted]) -> Outcome:
        """Store what hooks make of what was noted. What one of them stops keeps nobody else's, and its agent waits."""
        hooked, stopped = list[Noted](), None
        for each in noted:
            try:
                hooked.append(each._replace(observed=self._hooks.observed(each.read, each.observed)))
            except HookError as error:
                stopped = error
        came = self._commit_all(hooked) if hooked else Outcome.SUPERSEDED
        if stopped:
            self._run(model_cooldown.wait(self._services.keys, noted[0].read.scope.resource, _COOLS_S))
            raise stopped
        return came

    def _commit_all(self, noted: Sequence[Noted]) -> Outcome:
        did = [self._commit(*each) for each in noted]
        return did[0] if len(did) == 1 else Outcome.BUFFERED if Outcome.BUFFERED in did else Outcome.SUPERSEDED

    def _commit(self, read: Sealed, reply: Reply, observed: Observed, began: float) -> Outcome:
        resource, chunk, agent = read.scope.resource, read.chunk.id, self._services.agent(read.scope)
        trust = agent.trust.said()
        said = sayings(without_own(read.messages, read.own_calls), trust, read.chunk.thread)
        judge = Judge([*told_in(read.texts, trust), *said], read.marks, vouched_in(read.texts))
        observed = judged(observed, judge)
        tokens = self._services.count(observed.text) if observed.text else 0
        found = extracting.found_in(agent, observed, read.kept, self._services.count, judge)
        with self._given_back(read), spans.committing(read.scope, read.traceparents) as span:
            observation = observation_of(read, observed, reply, tokens, found)
            observation = msgspec.structs.replace(observation, untrusted=all_untrusted(said))
            segment = read.segment(agent.recall.language)
            did = self._run(chunking.buffer(self._services.keys, resource, observation, new_id(), segment))
            span.note(outcome=did, thread=read.chunk.thread, chunk=chunk, messages=len(read.messages), tokens=tokens)
        if did is Outcome.BUFFERED:
            self._run(self._services.redacting.keep_again(resource, observation))
            self._services.events.buffered(read.scope, read.summary, observation, began)
            self._services.events.extracted(read.scope, read.summary, found.extracted, found.refused)
            self._services.events.marked(resource, observation.marked)
            if chunking.root(chunk) != chunk:
                self._run(model_cooldown.observed(self._services.keys, resource, chunk))
        return did

    @contextmanager
    def _given_back(self, *reads: Sealed) -> Iterator[None]:
        """Burn no attempt by what is the store's fault, or our own; the store may still be away."""
        try:
            yield
        except (StoreError, StoppedError):
            for read in reads:
                with suppress(StoreError):
                    self._begin(read, -1)
            raise

    def _again(self, read: Sealed, error: ModelError) -> None:
        """Have a chunk tried again; no attempt is burned by what is the vendor's fault and not the chunk's."""
        keys, scope = self._services.keys, read.scope
        if error.retryable:
            self._begin(read, -1)
            self._run(due.postpone(keys.due_observe, scope, self._run(due.server_ms()) + patience_ms(error)))
        else:
            self._run(due.mark(keys.due_observe, [scope]))

    def _make_sure(self, read: Sealed, reason: str) -> None:
        """Return when the model can observe something, so that the message is to blame; raise ModelError when it cannot.

        It can if a half of the same chunk was observed, else it is asked for what is harmless. Where that fails too, the
        model or its settings are to blame: nothing is quarantined, and the resource waits a while.
        """
        keys, resource = self._services.keys, read.scope.resource
        if self._run(model_cooldown.was_observed(keys, resource, read.chunk.id)):
            return
        try:
            with self._given_back(read):
                harmless = msgspec.structs.replace(_HARMLESS, at=read.messages[0].at)
                self._ask(read.scope, self._request(read.scope, [harmless]))
        except ModelError as error:
            fault = error if error.retryable else ModelError(isolation.of_the_model(reason, error), why=error.why)
            self._again(read, fault)
            if error.retryable:
                raise
            self._run(model_cooldown.wait(keys, resource))
            raise fault from error
        self._run(model_cooldown.observed(keys, resource, read.chunk.id))

    def _after_deaths(self, read: Sealed) -> Outcome:
        """Blame a single message only if the model can be asked for what is harmless, and we live to say so.

        Time 0: we ask. Time 1: that ends this worker too. So the resource waits before we ask, for as long as that may take
        and a lease, and the attempts are given back before: whoever comes when it has waited tries the message again, for the
        model may be another by then.
        """
        keys, resource = self._services.keys, read.scope.resource
        if len(read.messages) > 1 or self._run(model_cooldown.was_observed(keys, resource, read.chunk.id)):
            return isolation.isolate(self._services, read, _DEADLY)
        asking_s = ceil(self._services.agent(read.scope).observer.timeout)
        self._run(model_cooldown.wait(keys, resource, asking_s + due.LEASE_MS // 1000))
        self._begin(read, -2)
        try:
            self._make_sure(read, _DEADLY)
        except StoppedError:  # asked to end, we live to say that it was not the message
            self._run(model_cooldown.over(keys, resource))
            raise
        self._run(model_cooldown.over(keys, resource))
        return isolation.isolate(self._services, read, _DEADLY)

    # -- several chunks in one call --------------------------------------------------------------------------------------

    def _together(self, begun: Sequence[tuple[Sealed, int]]) -> Outcome | list[Noted]:
        """Observe chunks of several threads in one call. Whichever is left without an answer is tried alone from then on.

        That is because its attempt stays counted: what is wrong with one chunk costs the others one call at most.
        """
        fresh = [read for read, attempts in begun if attempts == 1]
        for read, attempts in begun:
            if attempts > 1:  # somebody tried it since this was dispatched
                self._begin(read, -1)
        if not fresh:
            self._run(due.mark(self._services.keys.due_observe, [begun[0][0].scope]))
            return Outcome.SUPERSEDED
        began = self._services.events.observing(fresh[0].scope, *(read.summary for read in fresh))
        try:
            with self._given_back(*fresh):
                reply, answers = self._ask_together(fresh)
        except ModelError as error:
            for read in fresh:
                self._again(read, error)
            raise
        answered = [read for read in fresh if read.chunk.thread in answers]
        if len(answered) < len(begun):
            self._run(due.mark(self._services.keys.due_observe, [begun[0][0].scope]))
        shares = zip(answered, _shares(reply, answered), strict=True)
        return self._stored(*(Noted(read, share, answers[read.chunk.thread], began) for read, share in shares))

    def _ask_together(self, reads: Sequence[Sealed]) -> tuple[Reply, dict[str, Observed]]:
        silent = {read.chunk.thread: Observed() for read in reads if not read.heard}
        reads = [read for read in reads if read.heard]
        if not reads:
            return _SILENCE, silent
        scope, agent, requests = reads[0].scope, self._services.agent(reads[0].scope), self._services.requests
        threads = {read.chunk.thread: requests.messages(scope.resource, read.heard) for read in reads}
        tasks = {read.chunk.thread: read.task for read in reads}
        given: dict[str, Any] = {"prior_tasks": tasks, "known": reads[0].shown}
        given["kept"] = {read.chunk.thread: requests.value(scope.resource, read.kept) for read in reads}
        request = batch_request(threads, reads[0].texts, **given, **self._manner(agent))
        read = AnswerReader(self._services.events, scope, request).observed_by_thread
        reply, answers = self._services.models.ask(scope.resource, agent.observer_models, request, read)
        return reply, answers | silent


def _shares(reply: Reply, answered: Sequence[Sealed]) -> list[Reply]:
    """The reply for each chunk, with its share of the cost by the tokens of its messages."""
    total = sum(read.chunk.tokens for read in answered) or 1
    cost = reply.cost or 0.0
    costs = [None if reply.cost is None else cost * read.chunk.tokens / total for read in answered]
    return [msgspec.structs.replace(reply, cost=each) for each in costs]
