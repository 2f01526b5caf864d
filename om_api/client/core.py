"""What the client can be asked, as steps, by concern: the one logic behind the blocking and the asyncio face."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from om_api.client.auditing import Auditor
from om_api.client.composing import ComposedAsk, Composer, MayRead
from om_api.client.contexts import Contexts
from om_api.client.extracting import ExtractedReader
from om_api.client.fleet.agents import AgentReader
from om_api.client.forcing import Forcing
from om_api.client.hooking import HookReader
from om_api.client.lines import LineKeeper
from om_api.client.owning import Owner
from om_api.client.reading import MemoryReader, Scopes
from om_api.client.recall.recall_query import RecallLimits, recall_query
from om_api.client.recalling import Recalling
from om_api.client.receipts import Receipt
from om_api.client.redacting import Redacting
from om_api.client.remembered.known_aliases import KnownAliases
from om_api.client.remembered.spool import Spool
from om_api.client.remembered.unsent import Unsent
from om_api.client.reporting import Reporter
from om_api.client.reviewing import Reviewer
from om_api.client.sharing import NoteSharer
from om_api.client.syncing import Diverged, Synced, Syncing, checked
from om_api.client.threads import ThreadKeeper
from om_api.client.tracing import note_pushed
from om_api.client.trying import ModelTester
from om_api.client.watching import Watcher
from om_api.client.working import WorkingKeeper
from om_api.client.writing import Writer
from om_api.context import Context
from om_api.context.revealing import revealed, shown_of_others
from om_api.domain.errors import QuotaReachedError, RateLimitedError, StoreError
from om_api.domain.kept.titles import check_memory_mode
from om_api.domain.message_size import fitted
from om_api.domain.messages import Message
from om_api.domain.push_limits import ANYBODY, Pusher
from om_api.domain.values import MemoryMode, check_id
from om_api.domain.wire import EncodedMessage
from om_api.recall.ranking import Ranker
from om_api.recall.recalled import Browsed, Recalled
from om_api.redaction.placeholders import put_back_in
from om_api.settings import FileProblem, Settings
from om_api.settings.logs import library_log
from om_api.store.driver.steps import Steps
from om_api.store.memory.keys import keys_of
from om_api.store.memory.known import recognise
from om_api.store.memory.push import ServerClock
from om_api.telemetry import spans


class Core:
    """Asks the store, decides by the pure rooms, and never waits for a model: a part for each concern of whoever asks.

    One that `fails_open` goes on while the store is away: messages wait in `unsent`, contexts are made of what was read last.
    """

    def __init__(
        self,
        settings: Settings,
        count: Callable[[str], int],
        *,
        cluster: bool = False,
        fails_open: bool = False,
        tally: bool = True,
        timeout: float = 5.0,
        ranker: Ranker | None = None,
        spool: Spool | None = None,
    ) -> None:
        self.keys = keys = keys_of(settings, cluster=cluster)
        self.count, self.clock = count, (clock := ServerClock())
        self.reporter = reporter = Reporter(keys, clock, tally=tally)
        self.scopes, aliases = (scopes := Scopes(settings, keys)), KnownAliases()
        self.redacting = redacting = Redacting(settings, keys)
        self.writing = Writer(
            settings, keys, clock, count, reporter, cluster=cluster, aliases=aliases, redacting=redacting
        )
        self.recalling = Recalling(settings, keys, scopes, count, ranker)
        self.composing, self.sharing = Composer(settings, keys), NoteSharer(settings, keys, count, reporter, redacting)
        self.contexts = Contexts(
            settings, keys, count, reporter, self.recalling, self.composing, fails_open=fails_open, aliases=aliases
        )
        self.forcing = Forcing(settings, keys, scopes, reporter)
        self.reading, self.extracted = MemoryReader(keys, scopes), ExtractedReader(keys, scopes)
        self._serve_owners(settings, count, reporter)
        self.syncing = Syncing(keys, scopes, self.writing, self.threads.copy)
        self._serve_operators(settings, min(1.0, timeout / 2))
        self._warned, self._away = set[FileProblem](), False
        self.unsent = Unsent(spool=spool, redacting=redacting)
        self.fails_open, self._settings = fails_open, settings

    def _serve_owners(self, settings: Settings, count: Callable[[str], int], reporter: Reporter) -> None:
        """The parts for whoever changes what a memory holds."""
        keys, clock, scopes = self.keys, self.clock, self.scopes
        self.owning = Owner(settings, keys, clock, scopes, count, reporter, self.redacting)
        self.lines = LineKeeper(settings, keys, scopes, count, reporter, self.owning, self.redacting)
        self.working = WorkingKeeper(settings, keys, scopes, count, reporter, self.redacting)
        self.threads = ThreadKeeper(settings, keys, clock, scopes, count, reporter, self.writing)
        self.reviewing = Reviewer(settings, keys, scopes, count, reporter, self.redacting)

    def _serve_operators(self, settings: Settings, patience_s: float) -> None:
        """The parts for whoever looks after all memories."""
        self.agents, self.hooks = AgentReader(settings, self.keys), HookReader(settings, self.keys)
        self.testing = ModelTester(settings, self.keys)
        self.watching = Watcher(settings, self.keys, self.scopes, patience_s=patience_s)
        self.auditing = Auditor(settings, self.keys, patience_s=patience_s)

    def add(
        self,
        messages: Iterable[Message],
        *,
        replace: bool = False,
        pusher: Pusher = ANYBODY,
        memory: MemoryMode | None = None,
    ) -> Steps[Receipt]:
        """Add messages. All are checked before the first is sent: a bad one adds none. What replaces others never waits.

        A memory mode is set before the first message of its thread is sent, and waits with messages that wait.
        """
        if memory is not None:
            check_memory_mode(memory)
        ready = [each._replace(memory=memory) for each in self.writing.prepare_all(messages)]
        for resource in {each.message.resource_id for each in ready}:
            self._warn(resource)
        if spans.on():
            note_pushed(ready)
        if self.fails_open and not replace:
            return (yield from self._send(ready))
        yield from self._set_modes(ready)
        return (yield from self.writing.send(ready, replace=replace, pusher=pusher))

    def _set_modes(self, messages: Iterable[EncodedMessage]) -> Steps[None]:
        """Set the memory modes that came with messages."""
        for place, memory in _modes(messages).items():
            yield from self.threads.set_memory(*place, memory)

    def _with_modes(self, waiting: Sequence[EncodedMessage]) -> Steps[list[EncodedMessage]]:
        """Set the memory modes of waiting messages; those that can be sent.

        Messages of a thread whose mode is refused wait on: without it they would leave memory. They hold up no other thread.
        """
        refused = set[tuple[str, str]]()
        for place, memory in _modes(waiting).items():
            try:
                yield from self.threads.set_memory(*place, memory)
            except QuotaReachedError as error:
                refused.add(place)
                library_log().warning("memory_mode_refused", error=str(error))
        return [each for each in waiting if _place(each) not in refused]

    def sync(
        self,
        messages: Iterable[Message],
        resource: str,
        thread: str,
        pusher: Pusher = ANYBODY,
        diverged: Diverged = "follow",
        memory: MemoryMode | None = None,
    ) -> Steps[Synced]:
        """Add what is new of a thread's history, after what waits. While the store is away nothing waits: it comes again."""
        whole = [self.redacting.message(each, resource) for each in checked(messages, resource, thread)]
        given = [fitted(each) for each in whole]
        cut = [n for n, (each, one) in enumerate(zip(given, whole, strict=True)) if each is not one]
        try:
            if self.unsent:
                yield from self._send([])
            if memory is not None:
                yield from self.threads.set_memory(resource, thread, memory)
            found = yield from self.syncing.sync(given, resource, thread, pusher, diverged)
            yield from self.reporter.tell_due([resource])
        except StoreError as error:
            if not self.fails_open:
                raise
            self._lost(error)
            return Synced(tuple(message.id for message in given), 0, 0, thread_id=thread)
        self._away = False
        return found._replace(cut=tuple(found.ids[n] for n in cut)) if cut else found

    def known_ids(self, ids: Iterable[str], resource: str, thread: str) -> Steps[set[str]]:
        """Which of these ids are known."""
        place = resource, (yield from self.scopes.named(resource, thread))
        return {*(yield from recognise(self.keys, *place, {check_id(each, "id") for each in ids}))}

    def _send(self, messages: list[EncodedMessage]) -> Steps[Receipt]:
        """Send messages after those that wait; of two calls at once neither forgets what only the other one has sent."""
        waiting = list(self.unsent)
        try:
            waiting = yield from self._with_modes(waiting)
            yield from self._set_modes(messages)
            receipt = yield from self.writing.send([*waiting, *messages])
        except StoreError as error:
            receipt = self._held(messages)
            self._lost(error)
            return receipt
        self.unsent.sent(waiting)
        self._away = False
        return receipt._replace(ids=receipt.ids[len(waiting) :])

    def _held(self, messages: list[EncodedMessage]) -> Receipt:
        """Hold messages; those without room are dropped, and reported in the receipt and the log."""
        ids = [each.message.id for each in messages]
        dropped = tuple(each.message.id for each in self.unsent.extend(messages))
        if dropped:
            library_log().warning("unsent_dropped", dropped=len(dropped), dropped_in_all=self.unsent.dropped)
        waiting = {each.message.id for each in self.unsent}
        return Receipt(tuple(ids), 0, held=tuple(name for name in ids if name in waiting), dropped=dropped)

    def _warn(self, resource: str) -> None:
        """Say once of each file that it is not in force for the agent that it is for."""
        if (problem := self._settings.problem(resource)) and problem not in self._warned:
            self._warned.add(problem)
            library_log().warning("settings_problem", file=problem.file, problem=problem.text)

    def _lost(self, error: StoreError) -> None:
        if not self._away:
            if isinstance(error, RateLimitedError):
                library_log().warning("push_limited", error=str(error), unsent=len(self.unsent))
            else:
                library_log().warning("store_unavailable", error=str(error), unsent=len(self.unsent))
        self._away = True

    def recall(
        self,
        resource: str,
        query: str,
        limits: RecallLimits,
        also: Collection[str] = (),
        may_read: MayRead | None = None,
    ) -> Steps[Recalled]:
        """Look up what was said; dates in words are those of the agent's time zone."""
        zone = self._settings.for_agent(check_id(resource, "resource_id")).timezone
        ask = self.composing.asked(resource, also, may_read)
        query = self.redacting.asked(resource, query)
        found = yield from self.recalling.recall_all(resource, ask, recall_query(query, zone, limits))
        others = defaultdict[str, list[Any]](list)
        for hit in found.hits:
            if hit.resource_id not in {"", resource}:
                others[hit.resource_id].append(hit)
        return put_back_in(found, (yield from self.redacting.words(resource, found, others)))

    def browse(self, resource: str, message: str, before: int, after: int, thread: str | None) -> Steps[Browsed]:
        """A message and the turns around it."""
        found = yield from self.recalling.browse(resource, message, before, after, thread)
        return put_back_in(found, (yield from self.redacting.words(resource, found)))

    def context(
        self,
        resource: str,
        thread: str,
        max_tokens: int | None,
        also: Collection[str] = (),
        may_read: MayRead | None = None,
        model: str | None = None,
    ) -> Steps[Context]:
        """What the Actor reads."""
        self._warn(resource)
        ask = self.composing.asked(check_id(resource, "resource_id"), also, may_read)
        make = self._context_or_last if self.fails_open else self.contexts.of
        found = yield from make(resource, thread, max_tokens, ask, model)
        shown, others = [block.text for block in found.blocks], shown_of_others(found)
        return revealed(found, (yield from self.redacting.words(resource, shown, others)))

    def _context_or_last(
        self, resource: str, thread: str, max_tokens: int | None, ask: ComposedAsk, model: str | None
    ) -> Steps[Context]:
        try:
            if self.unsent:
                yield from self._send([])
            found = yield from self.contexts.of(resource, thread, max_tokens, ask, model)
        except StoreError as error:
            self._lost(error)
            unsent = [each.message for each in self.unsent]
            return self.contexts.without_store(resource, thread, unsent, max_tokens, ask)
        self._away = False
        return found

    def tell(self) -> Steps[None]:
        """Send what was tallied of the contexts served and not sent yet."""
        if not self._away:
            yield from self.reporter.tell_all()

    def finish(self) -> Steps[None]:
        """Send whatever waits, if the store is back; what it does not take is lost, and said to be."""
        if self.unsent:
            yield from self._send([])
        if self.unsent and not self.unsent.is_spooled:
            all_dropped = self.unsent.dropped + len(self.unsent)
            library_log().warning("unsent_dropped", dropped=len(self.unsent), dropped_in_all=all_dropped)
        yield from self.tell()
        self.unsent.close()


def _modes(messages: Iterable[EncodedMessage]) -> dict[tuple[str, str], MemoryMode]:
    """The memory modes that came with messages, by resource and thread; the last one of a thread counts."""
    return {_place(each): each.memory for each in messages if each.memory}


def _place(one: EncodedMessage) -> tuple[str, str]:
    return one.message.resource_id, one.message.thread_id
