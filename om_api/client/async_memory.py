"""AsyncObservationalMemory: the client that agents use. memory.py is made of this file by `make faces`."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from om_api.archive.opening import archive_of
from om_api.billing.agent_costs import CostsByAgent
from om_api.billing.costs import Costs
from om_api.client.composing import MayRead
from om_api.client.core import Core
from om_api.client.fleet.agent_rows import State
from om_api.client.fleet.agent_table import Column
from om_api.client.fleet.agents import Agents, agent_query
from om_api.client.fleet.usage_series import UsageSeries
from om_api.client.held import Held, Work
from om_api.client.hooking import HookState
from om_api.client.partly import Partly
from om_api.client.reading import Era
from om_api.client.recall.recall_query import RecallLimits, turns_beside
from om_api.client.receipts import Receipt
from om_api.client.remembered.spool import Spool
from om_api.client.stats import Stats
from om_api.client.syncing import Diverged, Synced
from om_api.client.tracing import note_context, note_recalled, note_receipt, note_synced
from om_api.client.watching import Overview
from om_api.context import Context
from om_api.context.group_text import GroupCall, group_call, groups_text, notes_text
from om_api.context.recall_tool import PARTIAL, UNREACHED, answer_of, arguments_of, recall_tool, refused
from om_api.context.share_tool import not_shared, note_of, share_tool, told
from om_api.context.tool_formats import ToolFormat
from om_api.context.working_tool import kept_as, not_kept, update_of, working_tool
from om_api.domain import tokens
from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.audit.audit_query import AuditPage, AuditQuery
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import Event, Told, Wanted
from om_api.domain.kept.working_memory import WorkingChange, WorkingMemory, WorkingVersion
from om_api.domain.messages import Message
from om_api.domain.naming.any_names import in_place, takes_any_names
from om_api.domain.notes.groups import NoteGroup, is_period
from om_api.domain.notes.pins import Pin
from om_api.domain.push_limits import ANYBODY, Pusher
from om_api.domain.snapshot import STARTS_WITHOUT
from om_api.domain.values import (
    Chunk,
    ExtractedValue,
    Generation,
    MemoryMode,
    Observation,
    Outcome,
    Record,
    ThreadState,
)
from om_api.domain.wire import Given, placed
from om_api.recall.ranking import Ranker
from om_api.recall.recalled import HITS, Browsed, Recalled
from om_api.settings import Settings, load_settings
from om_api.store.audit.index_repair import repair_index
from om_api.store.audit.invariants import Breach
from om_api.store.audit.verify import Verified, examine, verify
from om_api.store.backup.importing import Imported
from om_api.store.backup.old_text import OldText
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.steps import Steps
from om_api.store.erasing.erase import Erased
from om_api.store.fleet.model_trials import ModelTrial
from om_api.store.lines.correcting import LineChange
from om_api.store.lines.pinning import Pinned
from om_api.store.memory import due, quarantine
from om_api.store.memory.clear import Cleared
from om_api.store.memory.quarantine import EndedEntry, Quarantines, Rejected
from om_api.store.reviews.drafts import Proposal, WaitingReview
from om_api.store.threads.aliasing import Aliased
from om_api.store.threads.copying import Copied
from om_api.store.threads.describing import Order, ThreadsWanted
from om_api.telemetry import opening as telemetry
from om_api.telemetry import spans
from om_api.telemetry.spans import OurSpan

T = TypeVar("T")


@takes_any_names
class AsyncObservationalMemory:
    """An agent's memory. Safe for the tasks of one event loop; nothing in it ever waits for a model.

    `settings` default to config/ and the environment. `timeout` (s) bounds each round trip. With `fail_open` the store
    being away raises nothing: messages are kept here (the newest 1,000, of 16 MB at most) and sent when it is back, and contexts
    are made of what was read last (of the threads used last, in 96 MB at most), saying that memory was unavailable.
    With `fail_open` and a `spool` (else OM_SPOOL) waiting messages are in that file too, and survive the process; several may
    share it.
    Raises StoreError otherwise, InvalidInputError for input that cannot be accepted, SettingsError for settings that cannot be
    in force.

    What its contexts amounted to is tallied in this process, and sent after a push, at most every 30 s, by `tell` and by `close`:
    see docs/costs.md. A client that is killed loses figures, never messages; `tally=False` keeps none. A `ranker` of your own
    decides the order of what recall finds (docs/recall.md).
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        fail_open: bool = False,
        timeout: float = 5.0,
        client: Any = None,
        tally: bool = True,
        ranker: Ranker | None = None,
        spool: str | Path | None = None,
    ) -> None:
        if spool and not fail_open:
            raise InvalidInputError(f"spool without fail_open: {str(spool)[:80]!r}; pass fail_open=True as well")
        self.settings = settings or load_settings(warn_unknown=True)
        telemetry.begin(self.settings, "cortex-om-client")
        self._connection = AsyncConnection(
            client if client is not None else open_async_client(self.settings.redis_url, timeout),
            archive_of(self.settings.archive_url, timeout),
        )
        count, cluster = tokens.counter(self.settings.memory.tokenizer), self._connection.cluster
        file = spool or self.settings.variable("OM_SPOOL") if fail_open else None
        place = f"{self.settings.safe_url(self.settings.redis_url)} {self.settings.prefix}"
        self._core = Core(
            self.settings,
            count,
            cluster=cluster,
            fails_open=fail_open,
            tally=tally,
            timeout=timeout,
            ranker=ranker,
            spool=Spool(file, place) if file else None,
        )
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Send what could not be sent before, if the store is back, and give the connections back."""
        self._closed = True
        await self._run(self._core.finish())
        await self._connection.close()

    async def tell(self) -> None:
        """Send what was tallied of the contexts served and not sent yet: for clients that push nothing and are never closed.

        Raises nothing: what the store does not take is kept for another time.
        """
        await self._run(self._core.tell())

    async def _run(self, steps: Steps[T]) -> T:
        return await self._connection.run(steps)

    async def _told(self, span: OurSpan, begin: Callable[[], Steps[T]], note: Callable[[OurSpan, T], None]) -> T:
        """Do steps within a span, which notes what they came to; where nothing is traced it is none."""
        with span:
            came = await self._run(begin())
            if spans.on():
                note(span, came)
        return came

    # -- writing ------------------------------------------------------------------------------------------------------

    async def add_message(
        self,
        message: Given,
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        replace: bool = False,
        memory: MemoryMode | None = None,
    ) -> Receipt:
        """Keep one message; adding one whose id is known adds nothing and says so. See `add_messages`."""
        return await self.add_messages(
            [message], thread_id=thread_id, resource_id=resource_id, replace=replace, memory=memory
        )

    async def add_messages(
        self,
        messages: Iterable[Given],
        *,
        thread_id: str | None = None,
        resource_id: str | None = None,
        replace: bool = False,
        memory: MemoryMode | None = None,
        pusher: Pusher = ANYBODY,
    ) -> Receipt:
        """Keep messages of any threads and resources; one round trip for each resource's 500.

        A message is a Message, or what OpenAI, Anthropic or Gemini takes or gives: a dict, or the object of an SDK.
        `thread_id` and `resource_id` are of those that do not say their own.

        An id is known while anything of its message is kept: raw, sealed, or behind an observation. What comes again under
        it and says more than was kept has grown: the rest is kept too. What says something else is `changed`, and nothing
        happens; with `replace` it takes the place of what is still raw.

        `memory` sets the memory mode of every thread that the messages are of, as `set_thread` does, before they are added.

        All are checked before the first is sent: one that cannot be accepted raises InvalidInputError, which says which
        (`messages[7]: message m-7: …`) and why, and none is added. Each 500 of a resource are added together or not at all.

        Raises RateLimitedError where more comes than the agent's `push_limits` permit, or those of the `pusher` (an API key
        at HTTP): none of that agent's is added, and `retry_after` says in how many seconds the same call is taken.
        """
        given = in_place(placed(messages, thread_id, resource_id))
        add = partial(self._core.add, given, replace=replace, pusher=pusher, memory=memory)
        return await self._told(spans.span("om.push", "producer"), add, note_receipt)

    async def sync(
        self,
        messages: Iterable[Given],
        resource_id: str,
        thread_id: str,
        *,
        diverged: Diverged = "follow",
        memory: MemoryMode | None = None,
        pusher: Pusher = ANYBODY,
    ) -> Synced:
        """Add what is new of a thread's whole history, as a client holds it, oldest first, with ids or without.

        A message is given as in `add_messages`. One without an id is known by what it says and what precedes it, so "ok" said
        twice is two messages. A message whose id is stored with another text changes nothing and is listed in `changed`.

        `diverged` decides what happens where the history replaces stored messages, as after an edit, an undo or a new answer.
        `follow` retracts the replaced messages: they stay stored and recall finds them, but no context contains them until the
        history has them again. `copy` leaves the thread as it is and continues in a copy of it, which the receipt names as
        `thread_id`. `keep` keeps both. `diverged_at` is the first position that differs.

        `memory` sets the thread's memory mode, as `set_thread` does, before anything is added.

        A history may have lost its beginning. Messages are stored once however often they are sent: repeat a call whose reply
        was lost. It takes one round trip if the history only continues. New messages have the limits of `add_messages`.
        """
        span = spans.span("om.push", "producer", resource=resource_id, thread=thread_id)
        given = in_place(placed(messages))
        add = partial(self._core.sync, given, resource_id, thread_id, pusher, diverged, memory)
        return await self._told(span, add, note_synced)

    async def known_ids(self, ids: Iterable[str], resource_id: str, thread_id: str) -> set[str]:
        """Which of these ids a thread knows: those of its messages, wherever they are kept, and of what was erased."""
        return await self._run(self._core.known_ids(ids, resource_id, thread_id))

    # -- reading ------------------------------------------------------------------------------------------------------

    async def get_context(
        self,
        thread_id: str,
        resource_id: str,
        max_tokens: int | None = None,
        *,
        also: Collection[str] = (),
        may_read: MayRead | None = None,
        model: str | None = None,
    ) -> Context:
        """The Actor's whole memory for a thread: reflection, observations, raw messages, in the order prompt caches like.

        One round trip when warm. Chunks that are due are activated on the way. `max_tokens` caps the whole by leaving the
        oldest raw messages out of the view (`Context.omitted`); the memory keeps them. Without it the setting
        `context_max_tokens` decides: by default raw messages beyond twice the threshold are left out.

        The notes of other resources stand in it (`Context.composed`): those that the setting `compose` names, and those that
        `also` does; see docs/composed-memories.md. What may not be read is told in `Context.left_out`. Of the setting's
        `may_read` says which may be shown to whoever asks: all, without it.

        `model` names the agent's own model that the context is for (without it, `actor_model` does): the first one for another
        model takes along what is ready to be activated, since no provider has anything cached for it yet.

        Raises HookError where a hook of the setting `hooks.before_context` failed that says stop (docs/hooks.md).
        """
        span = spans.span("om.context", resource=resource_id, thread=thread_id)
        make = partial(self._core.context, resource_id, thread_id, max_tokens, also, may_read, model)
        return await self._told(span, make, note_context)

    # -- recall -------------------------------------------------------------------------------------------------------

    async def recall(
        self,
        query: str,
        resource_id: str,
        *,
        thread_id: str | None = None,
        roles: Collection[str] = (),
        kinds: Collection[str] = ("message",),
        after: str | float | date | None = None,
        before: str | float | date | None = None,
        limit: int = HITS,
        around: int = 1,
        max_tokens: int | None = None,
        offset: int = 0,
        also: Collection[str] = (),
        may_read: MayRead | None = None,
    ) -> Recalled:
        """Look up what was said before by its words, in every tier and thread of a resource, the best hit first.

        In a query "an exact phrase" stands in quotes, `-word` leaves out, `thread:`, `role:`, `before:` and `after:` limit;
        dates in words ("in May", "last week") count from today. `kinds` are what is searched: `message` (and with them notes
        that were set aside in groups), `observation`, `generation`, those that were replaced too. `after` and `before` are
        dates, ISO 8601 or Unix times. With each message come `around` turns before and after it, never a call without its
        result. `max_tokens` bounds all of it; where something was left out, `Recalled.next` is the `offset` to go on with.
        What was acknowledged before this call is found by its own words. Two round trips where nothing was sealed since the last
        one. Raises InvalidInputError, naming what can be asked. `compose`, `also` and `may_read` are as in `get_context`.
        """
        limits = RecallLimits(thread_id, roles, kinds, after, before, limit, offset, around, max_tokens)
        span, core = spans.span("om.recall", resource=resource_id), self._core
        return await self._told(span, partial(core.recall, resource_id, query, limits, also, may_read), note_recalled)

    async def browse(
        self, message_id: str, resource_id: str, *, before: int = 5, after: int = 5, thread_id: str | None = None
    ) -> Browsed:
        """A message of the past in its thread, with up to so many turns before and after it: page on from either end.

        `thread_id` tells apart messages of several threads that have one id. Raises InvalidInputError for what is no id.
        """
        turns = turns_beside(before, "before"), turns_beside(after, "after")
        return await self._run(self._core.browse(resource_id, message_id, *turns, thread_id))

    def recall_tool(self, format: ToolFormat = "openai") -> dict[str, Any]:  # noqa: A002 - as the providers call it
        """The tool by which an Actor looks up the past, as a provider's request takes it: `openai`, `anthropic` or `gemini`."""
        return recall_tool(format)

    async def answer_recall(
        self,
        call: Any,
        resource_id: str,
        *,
        thread_id: str | None = None,
        max_tokens: int = 1_500,
        also: Collection[str] = (),
        may_read: MayRead | None = None,
    ) -> str:
        """What an Actor's call of `recall_tool` found, as the text of its result: dates, threads, who spoke.

        `call` is a provider's call as it comes, or its arguments as a dict or JSON. A call that cannot be carried out is
        answered with what is permitted; with `fail_open` the store being away is answered too. Raises StoreError alone.
        `also` and `may_read` are as in `recall`. `thread_id` is the thread that the Actor is in: if its contexts start without
        memory (docs/threads.md), only its own messages are searched.
        """
        whose: dict[str, Any] = {"resource_id": resource_id, "also": also, "may_read": may_read}
        try:
            alone = thread_id and not await self._run(self._core.threads.reads_memory(resource_id, thread_id))
            if asked := group_call(call):
                return refused(STARTS_WITHOUT) if alone else await self._answer_group(asked, resource_id, max_tokens)
            args = arguments_of(call)
            if alone:
                args["thread_id"] = thread_id
                whose |= {"also": (), "may_read": lambda _: False}
            found = await self.recall(**whose, **args, kinds=("message",), limit=HITS, max_tokens=max_tokens)
        except InvalidInputError as error:
            return refused(str(error))
        except StoreError:
            if not self._core.fails_open:
                raise
            return refused(UNREACHED)
        timezone = self.settings.for_agent(resource_id).timezone
        return answer_of(found, timezone, max_tokens, self._core.count, args["offset"], resource_id)

    def share_tool(
        self,
        resource_id: str,
        format: ToolFormat = "openai",  # noqa: A002 - as above
        may_write: Callable[[str], bool] | None = None,
    ) -> dict[str, Any]:
        """The tool by which an Actor tells a shared memory something, for those that the setting `compose` gives a `share`.

        `may_write` says which of them may be told something by whoever asks: all, without it. Raises InvalidInputError where
        that is none.
        """
        return share_tool(self._core.sharing.targets(resource_id, may_write), format)

    async def answer_share(self, call: Any, resource_id: str, may_write: Callable[[str], bool] | None = None) -> str:
        """Carry an Actor's call of `share_tool` out, and say what became of it, as the text of its result.

        The same text told again stands there once. A call that cannot be carried out is answered with what is permitted.
        `may_write` is as in `share_tool`. Raises StoreError alone.
        """
        try:
            note = note_of(call, self._core.sharing.targets(resource_id, may_write))
            await self._run(self._core.sharing.share(resource_id, note))
        except InvalidInputError as error:
            return not_shared(str(error))
        return told(note)

    async def share_note(self, text: str, resource_id: str, target: str) -> Outcome:
        """Tell another memory something that its readers should know: `added`, or `rest` where the same text stands there.

        Raises InvalidInputError where that memory takes nothing.
        """
        note = note_of({"text": text, "with": target}, [target])
        return await self._run(self._core.sharing.share(resource_id, note))

    async def _answer_group(self, asked: GroupCall, resource_id: str, max_tokens: int) -> str:
        if is_period(asked.name):
            groups = await self.groups(resource_id, within=asked.name)
            return groups_text(asked, groups, PARTIAL if groups.partial else "", max_tokens, self._core.count)
        notes = await self.group(asked.name, resource_id)
        return notes_text(asked, notes, PARTIAL if notes.partial else "", max_tokens, self._core.count)

    async def record(self, resource_id: str, thread_id: str | None = None) -> Record:
        """A scope's bookkeeping: generation, totals by tier, limits in force."""
        return await self._run(self._core.reading.record(resource_id, thread_id))

    async def observations(self, resource_id: str, thread_id: str | None = None) -> list[Observation]:
        """Tier 2, oldest first: of every thread of the resource, or of one."""
        return await self._run(self._core.reading.observations(resource_id, thread_id))

    async def chunks(self, resource_id: str, thread_id: str | None = None) -> list[Chunk]:
        """What is sealed and not activated yet, oldest first: being observed, or `ready` and waiting for its threshold."""
        return await self._run(self._core.reading.chunks(resource_id, thread_id))

    async def messages(self, resource_id: str, thread_id: str, *, newest: int | None = None) -> list[Message]:
        """The messages of a thread that its context shows as they are, oldest first: not sealed yet, or sealed and not activated.

        With `newest` at most so many, the last ones. Older ones are behind observations: see `observations` and `sources`.
        """
        return await self._run(self._core.reading.messages(resource_id, thread_id, newest))

    async def sources(self, observation_id: str, resource_id: str) -> Partly[Message]:
        """The messages behind an observation, oldest first; none once they have expired."""
        return await self._run(self._core.reading.sources(observation_id, resource_id))

    async def generations(self, resource_id: str, thread_id: str | None = None) -> Partly[Generation]:
        """Tier 3, oldest first; the last of a scope is in force."""
        return await self._run(self._core.reading.generations(resource_id, thread_id))

    async def history(self, resource_id: str, thread_id: str | None = None) -> Partly[Era]:
        """The generations with the observations that each of them replaced, oldest first."""
        return await self._run(self._core.reading.history(resource_id, thread_id))

    async def replaced(self, generation: int, resource_id: str, thread_id: str | None = None) -> Partly[Observation]:
        """The observations that a generation replaced, oldest first; none once they have expired."""
        return await self._run(self._core.reading.replaced(resource_id, thread_id, generation))

    async def groups(self, resource_id: str, thread_id: str | None = None, *, within: str = "all") -> Partly[NoteGroup]:
        """The groups of notes that were set aside (`reflection.mode: archive`), oldest first: of every thread, or of one.

        `within` a month ("2026-03") or a year those that begin in it; the name of one group is that one.
        """
        timezone = self.settings.for_agent(resource_id).timezone
        return await self._run(self._core.reading.groups(resource_id, thread_id, within, timezone))

    async def group(self, name: str, resource_id: str, thread_id: str | None = None) -> Partly[Observation]:
        """The notes of one group word for word, oldest first, by the name that its heading shows. NotFoundError for no such."""
        return await self._run(self._core.reading.group(name, resource_id, thread_id))

    async def threads(
        self,
        resource_id: str,
        *,
        order: Order = "name",
        archived: bool | None = False,
        after: str = "",
        limit: int | None = None,
    ) -> list[ThreadState]:
        """Threads by `name`, or those heard of last first (`activity`): title, metadata, what is unsealed, the current task.

        Archived ones are left out; with `archived` they alone are listed, with None all. With `limit` at most so many, beginning
        behind `after`: a name, or in the order of activity the `place` of the last thread that was read, behind which no thread
        comes twice, whatever happened meanwhile; one that is heard of meanwhile moves to the front. Aliases are none.
        """
        return await self._run(self._core.reading.threads(resource_id, ThreadsWanted(order, archived, after, limit)))

    async def resources(self) -> list[str]:
        """The name of every resource that the workers have met."""
        return await self._run(self._core.watching.resources())

    async def is_known(self, resource_id: str, thread_id: str | None = None) -> bool:
        """Whether anything is kept of a resource: messages, what became of them, a quarantine, or a pause.

        Plain writes that no worker was told of are found where their thread is named.
        """
        return await self._run(self._core.watching.is_known(resource_id, thread_id))

    async def stats(self, resource_id: str | None = None) -> Stats | list[Stats]:
        """How full a resource's memory is; without one, of every resource the workers have met and that is not broken."""
        if resource_id is not None:
            return await self._run(self._core.watching.stats(resource_id))
        return (await self.overview()).stats

    async def overview(self) -> Overview:
        """How full every memory is, and which are broken: their keys hold what is not ours, and `verify` names them."""
        return await self._run(self._core.watching.overview())

    async def agents(
        self,
        *,
        sort: Column = "pressure",
        descending: bool = True,
        state: State | None = None,
        search: str = "",
        cursor: str | None = None,
        limit: int = 50,
        among: Iterable[str] | None = None,
    ) -> Agents:
        """A page of all agents in an order, at the same cost whatever their number: see docs/monitoring.md#all-agents.

        Of a `state`, and with a text in their names (`search`); `among` some of them, or (None) all. The agents of the page are
        read now, their order is that of a table that this client keeps: the first call begins to read it, each further one goes
        on, and `Agents.complete` says when it holds all of them. An agent that moves in the order meanwhile may stand on two
        pages or none. Raises InvalidInputError for what cannot be asked, naming what can.
        """
        query = agent_query(sort, state, search, cursor, limit, among, descending=descending)
        return await self._run(self._core.agents.page(query))

    async def read_agents(self) -> bool:
        """Go on reading what `agents` has its order from, in the background, while somebody asks for pages; False: all is read.

        A server calls it again and again, so that no page waits; others need not.
        """
        return await self._run(self._core.agents.read_on())

    async def ping(self) -> int:
        """The store's time in Unix ms; raises StoreError when it cannot be asked."""
        return await self._run(due.server_ms())

    async def costs(self, resource_id: str | None = None, days: int = 7) -> Costs:
        """What models cost in the last `days` UTC days, budgets left today, and savings; without a resource, of all.

        Everything is by the server's days and in dollars; see docs/costs.md. Raises InvalidInputError for more days than
        bills are kept.
        """
        return await self._run(self._core.watching.costs(resource_id, days))

    async def costs_by_agent(
        self, days: int = 1, *, limit: int = 20, among: Iterable[str] | None = None
    ) -> CostsByAgent:
        """The agents whose models cost most in the last `days` UTC days (31 at most), `among` some of them or (None) all.

        What is left of their budgets today, until when that lasts, and what they saved; it costs the same however many agents
        there are. Raises InvalidInputError for more days or agents than are told at once.
        """
        return await self._run(self._core.watching.costs_by_agent(days, limit, among))

    async def series(self, resource_id: str | None = None, days: int = 7) -> UsageSeries:
        """Tokens by tier, compression, costs and savings over the last `days` (400 at most), of one resource or of all together.

        Workers take a sample every ten minutes of all, and of each resource that is measured apart (`metrics.resources`); an
        hourly one is kept beyond 30 days. Raises InvalidInputError for days of which nothing is kept.
        """
        return await self._run(self._core.watching.series(resource_id, days))

    async def verify(self) -> list[Breach]:
        """Every breach of the promises in the whole store, which may be in use; [] when all is well. Writes nothing."""
        return await self._run(verify(self._core.keys))

    async def examine(self) -> Verified:
        """The breaches that `verify` gives, and in how many resources and messages it looked for them."""
        return await self._run(examine(self._core.keys))

    async def repair_index(self, breaches: Collection[Breach]) -> int:
        """Have recall's index made anew by the next sweep where breaches name it; how many segments. Nothing else is changed."""
        return await self._run(repair_index(self._core.keys, breaches))

    # -- what happened ------------------------------------------------------------------------------------------------

    async def events(
        self,
        after: str = "",
        *,
        kinds: str | Collection[str] = (),
        resource_id: str | Collection[str] = (),
        count: int = 100,
        wait: float = 0,
    ) -> Told:
        """What the workers told behind an event's id (`0`: of all that is kept), or the newest, oldest first.

        At most `count` (up to 1,000) of some kinds and resources, or of all. Where there is none yet, those that come
        within `wait` seconds. Read on with the `after` of what is returned. See docs/events.md for what each kind carries.
        """
        return await self._run(self._core.watching.events(after, Wanted.of(kinds, resource_id), count, wait))

    async def follow(
        self, after: str = "", *, kinds: str | Collection[str] = (), resource_id: str | Collection[str] = ()
    ) -> AsyncIterator[Event]:
        """Every event behind an id, or from now on, as it comes, until the client is closed.

        A store that is away is waited for, once it could be read; then it goes on where it was. An event of the kind `gap`
        says that events before it were cut off unread.
        """
        wanted = Wanted.of(kinds, resource_id)
        told = await self._run(self._core.watching.events(after, wanted, 1_000) if after else self._core.watching.now())
        while not self._closed:
            for event in told.events:
                yield event
            told = await self._run(self._core.watching.next_events(told.after, wanted))

    async def audit(
        self,
        before: str = "",
        *,
        who: str = "",
        resource_id: str | Collection[str] = (),
        did: str | Collection[str] = (),
        since: int = 0,
        count: int = 100,
    ) -> AuditPage:
        """Who operated what, the newest first: at most `count` entries (up to 1,000) before an id, or the newest of all.

        Only those of a key (its id or its label) or a user, of some resources, of some verbs, not before `since` (Unix ms).
        Read on with the `before` of what is returned, until that is "": of 10,000 entries none may be wanted. See
        docs/security.md.
        """
        return await self._run(self._core.auditing.page(before, AuditQuery.of(who, resource_id, did, since), count))

    async def follow_audit(
        self,
        after: str = "",
        *,
        who: str = "",
        resource_id: str | Collection[str] = (),
        did: str | Collection[str] = (),
    ) -> AsyncIterator[AuditEntry]:
        """Every entry behind an id, or from now on, as it comes, until the client is closed; a store that is away is awaited."""
        query = AuditQuery.of(who, resource_id, did, 0)
        place = after or (await self._run(self._core.auditing.page("", AuditQuery(), 1))).after
        while not self._closed:
            found = await self._run(self._core.auditing.next_entries(place, query))
            for entry in found.entries:
                yield entry
            place = found.after

    async def add_audit(self, entry: AuditEntry, most: int | None = None) -> str:
        """Append what somebody did to the audit trail: its id, or "" of a refusal after 60 of the same key within an hour.

        With `most`, also "" after so many entries of the same key and verb within an hour.
        For whoever lets people operate memories by doors of their own. Raises StoreError where it is not told, or may not be.
        """
        return await self._run(self._core.auditing.add(entry, most))

    # -- asking the workers -------------------------------------------------------------------------------------------

    async def force_observe(
        self, thread_id: str | None = None, resource_id: str = "", wait: float | None = None
    ) -> Outcome:
        """Have what is raw (of one thread, or of all) observed and activated now, whatever the thresholds.

        Marks the scope due and urgent and, with `wait`, looks up to that many seconds for the answer: `activated`,
        `rest` when there is nothing to observe, `superseded` when it was cleared meanwhile, `busy` when it is not done yet;
        `held` reports what it waits for.
        """
        return await self._run(self._core.forcing.observe(resource_id, thread_id, wait))

    async def force_reflect(self, resource_id: str, thread_id: str | None = None, wait: float | None = None) -> Outcome:
        """Have a scope's observations condensed now, whatever the thresholds; answers like force_observe.

        `reflected`, or `proposed` where somebody is to approve it first.
        """
        return await self._run(self._core.forcing.reflect(resource_id, thread_id, wait))

    async def held(self, resource_id: str, work: Work = "observe") -> Held | None:
        """Why what was asked for is `busy`: a pause, a budget that is used up, or models that rest, and until when.

        None where nothing holds it, by the settings of this process and as far as it may look: then it waits for its turn. A
        look of its own: ask when the outcome is `busy`.
        """
        return await self._run(self._core.forcing.held(resource_id, work))

    async def pause(self, resource_id: str) -> Outcome:
        """Stop whatever calls a model for a resource; messages are kept, ready chunks and contexts served."""
        return await self._run(self._core.forcing.pause(resource_id, on=True))

    async def resume(self, resource_id: str) -> Outcome:
        """Let a paused resource go on."""
        return await self._run(self._core.forcing.pause(resource_id, on=False))

    async def try_model(self, model: str, wait: float = 30.0) -> ModelTrial:
        """Have a worker ask a model for one word, and say whether it `answered`, in what time, for what; or why it `failed`.

        `busy` while no worker has made the call within `wait` seconds; `model_trial` looks again. Of each model one is made at a
        time: whoever asks meanwhile is told of that one. It counts against `total_budget`, and for no agent. Raises
        NotFoundError for a model that is neither in use nor in the configuration.
        """
        return await self._run(self._core.testing.ask(model, wait))

    async def model_trial(self, model: str, asked_at: int, wait: float = 0.0) -> ModelTrial:
        """What came of a test call that was asked for at `asked_at`, as its ModelTrial says: for ten minutes."""
        return await self._run(self._core.testing.stands(model, asked_at, wait))

    # -- the quarantine -----------------------------------------------------------------------------------------------

    async def rejected_counts(self) -> dict[str, int]:
        """How many messages of each resource could not be accepted or observed; resources without any are left out."""
        return (await self.quarantines()).entries

    async def quarantines(self) -> Quarantines:
        """The same, and whose quarantine is broken: its key holds what is not ours, and `verify` names it."""
        return await self._run(quarantine.counts(self._core.keys))

    async def rejected(self, resource_id: str, newest: int | None = None) -> list[Rejected]:
        """What of a resource could not be accepted or observed, and why, oldest first: all, or the `newest` entries."""
        return await self._run(self._core.owning.rejected(resource_id, newest))

    async def retry_rejected(self, resource_id: str, entry_id: str) -> Outcome:
        """Give a rejected message another chance; its entry leaves the quarantine, and comes back if nothing has changed.

        `sealed`: it will be observed again, its placeholder is gone. `busy`: it is raw again and the workers will judge it.
        `superseded`: there is no such entry (any more). Raises InvalidInputError, changing nothing, where it cannot be
        tried: a reflection took in the placeholder, the message has expired, its bytes were no text.
        """
        return await self._run(self._core.owning.retry_rejected(resource_id, entry_id))

    async def drop_rejected(self, resource_id: str, entry_id: str) -> Outcome:
        """Remove an entry and nothing else, so that a placeholder stays; `superseded` when there is none (any more)."""
        return await self._run(self._core.owning.drop_rejected(resource_id, entry_id))

    async def retry_rejected_each(self, resource_id: str, entry_ids: Iterable[str]) -> AsyncIterator[EndedEntry]:
        """Give many messages another chance, as `retry_rejected` does one; what became of each, as soon as it is known.

        One that cannot be tried is `rejected`, with the `refusal`. The quarantine is read once for all of them: a thousand
        cost a thousand times what one does.
        """
        several = self._core.owning.retry_each(resource_id, entry_ids)
        while ended := await self._run(several.next()):
            yield ended

    async def drop_rejected_each(self, resource_id: str, entry_ids: Iterable[str]) -> AsyncIterator[EndedEntry]:
        """Remove many entries, as `drop_rejected` does one; what became of each, as soon as it is known."""
        several = self._core.owning.drop_each(resource_id, entry_ids)
        while ended := await self._run(several.next()):
            yield ended

    # -- lines by hand ------------------------------------------------------------------------------------------------

    async def hooks(self, resource_id: str) -> list[HookState]:
        """An agent's hooks, where each is asked, whether this process could ask it, and how often it failed (docs/hooks.md)."""
        return await self._run(self._core.hooks.states(resource_id))

    async def extracted(self, resource_id: str, thread_id: str | None = None) -> dict[str, ExtractedValue]:
        """What extractors found, by their names: of a thread and of the whole memory, or of this alone (docs/extractors.md)."""
        return await self._run(self._core.extracted.of(resource_id, thread_id))

    async def working_memory(self, resource_id: str, thread_id: str | None = None) -> WorkingMemory:
        """What its working memory says: the fields that the Actor keeps (docs/working-memory.md).

        `thread_id` where each thread has its own. Raises InvalidInputError for an agent whose settings name no fields.
        """
        return await self._run(self._core.working.read(resource_id, thread_id))

    async def update_working_memory(
        self,
        fields: Mapping[str, Any],
        resource_id: str,
        thread_id: str | None = None,
        *,
        replace: bool = False,
        version: int | None = None,
        by: str = "",
    ) -> WorkingChange:
        """Change fields; null empties one, what is not named stays. With `replace` what is not named is emptied.

        Two who change at once both succeed, field by field. With the `version` that was read it is `superseded` where another
        one stands by now, and nothing changes. Raises InvalidInputError for an unknown field and for what is too long.
        """
        change = self._core.working.update(fields, resource_id, thread_id, version, by, replace=replace)
        return await self._run(change)

    async def undo_working_memory(
        self, resource_id: str, thread_id: str | None = None, *, by: str = ""
    ) -> WorkingChange:
        """Bring back what it said before the last change. Raises NotFoundError where no former version is kept."""
        return await self._run(self._core.working.undo(resource_id, thread_id, by))

    async def working_memory_versions(self, resource_id: str, thread_id: str | None = None) -> list[WorkingVersion]:
        """Its former versions that are kept, oldest first."""
        return await self._run(self._core.working.versions(resource_id, thread_id))

    def working_memory_tool(self, resource_id: str, format: ToolFormat = "openai") -> dict[str, Any]:  # noqa: A002 - same
        """The tool by which an Actor changes its working memory, as a provider's list of tools takes it."""
        return working_tool(self._core.working.form(resource_id), format)

    async def answer_working_memory(
        self, call: Any, resource_id: str, thread_id: str | None = None, *, by: str = "actor"
    ) -> str:
        """Do what a call of that tool asks, and tell it in a text; what cannot be done is told too, and nothing changes."""
        try:
            fields, replace = update_of(call)
            done = await self.update_working_memory(fields, resource_id, thread_id, replace=replace, by=by)
        except InvalidInputError as error:
            return not_kept(str(error))
        except StoreError:
            return not_kept(UNREACHED)
        return kept_as(done)

    async def add_line(
        self, text: str, resource_id: str, thread_id: str, *, priority: int = 3, by: str = ""
    ) -> LineChange:
        """Note a line yourself: an observation of its own, of today, that covers no message.

        `priority` is 1 (small) to 5 (it matters for long); a text that begins with a bullet keeps its own mark. `by` is the
        id of whoever says so, which events tell. Undone by `undo_line` with the `observation_id` that is returned.
        """
        return await self._run(self._core.lines.add(text, resource_id, thread_id, priority, by))

    async def correct_line(
        self,
        was: str,
        now: str,
        resource_id: str,
        thread_id: str | None = None,
        *,
        observation_id: str | None = None,
        by: str = "",
    ) -> LineChange:
        """Have a line of the notes say something else; with an empty `now` it goes, and the details under it.

        `was` is one line as a context shows it, or what it says behind its bullet, mark and time; these it keeps unless `now`
        has its own. A line of an observation is changed where it stands (`undo_line` takes that back); of a reflection
        the next generation is made, which `restore` undoes. A pinned line stays pinned as it says now. Raises NotFoundError
        where no line says so, InvalidInputError where several do, and where a pinned one would go.
        """
        return await self._run(self._core.lines.correct(was, now, resource_id, thread_id, observation_id, by))

    async def undo_line(self, observation_id: str, resource_id: str, *, by: str = "") -> LineChange:
        """Take back the newest correction of an observation, of which three are kept; one that was only added goes.

        Raises NotFoundError where there is nothing to take back.
        """
        return await self._run(self._core.lines.undo(observation_id, resource_id, by))

    async def pin(self, line: str, resource_id: str, thread_id: str | None = None, *, by: str = "") -> Pinned:
        """Have a line stay, word for word, whatever a model makes of the memory: every reflection holds it.

        `line` is named as in `correct_line`, and must stand in the notes (`add_line` first). `rest` where it was pinned already.
        At most 50 lines are, and a tenth of observation_threshold. Undone by `unpin`.
        """
        return await self._run(self._core.lines.pin(line, resource_id, thread_id, by))

    async def unpin(self, line: str, resource_id: str, thread_id: str | None = None, *, by: str = "") -> Pinned:
        """Let a pinned line go, named by its pin's id or by what it says; it stays where it stands until it is condensed."""
        return await self._run(self._core.lines.unpin(line, resource_id, thread_id, by))

    async def pins(self, resource_id: str, thread_id: str | None = None) -> list[Pin]:
        """What is pinned: of every thread, or of one with what is common to all."""
        return await self._run(self._core.lines.pins(resource_id, thread_id))

    # -- ending -------------------------------------------------------------------------------------------------------

    async def forget(self, observation_id: str, resource_id: str) -> Outcome:
        """Remove one observation and the messages behind it; of one that a reflection replaced also what generations tell of it.

        Raises InvalidInputError when none of this id is kept.
        """
        return await self._run(self._core.owning.forget(observation_id, resource_id))

    async def erase(
        self,
        resource_id: str,
        *,
        matching: str | None = None,
        message_id: str | None = None,
        thread_id: str | None = None,
        dry_run: bool = False,
    ) -> Erased:
        """Remove a fact wherever it stands: whatever is `matching` a text, or one message and what was noted of it.

        Messages go whole; of observations and generations the lines that tell it. Where messages behind an observation in
        force are kept, what is left of them is observed again. Ids of erased messages stay known as long as they would have
        been: no history brings them back. With `dry_run` nothing changes, and what would be touched is told. Backups and
        exported files are not reached. Raises InvalidInputError for a text that is blank, a message that is not kept, and
        one whose id several threads have (name the `thread_id` then).
        """
        return await self._run(self._core.owning.erase(resource_id, matching, message_id, thread_id, dry_run=dry_run))

    async def redact(self, resource_id: str, *, dry_run: bool = False) -> OldText:
        """Redact what was stored before `redaction.before: store` was set: every tier, whatever is raw, noted or kept by hand.

        With `dry_run` nothing changes, and it is told how much would. Raises InvalidInputError where the setting is not in
        force, StoreError where the memory changes faster than it can be read; repeating it is safe.
        """
        return await self._run(self._core.owning.redact(resource_id, dry_run=dry_run))

    async def restore(self, resource_id: str, generation: int, thread_id: str | None = None) -> Outcome:
        """Undo reflections: make the text of an earlier generation the next one; 0 is the time before the first.

        Observations that it does not stand for are in force again, before those that were activated since, which stay.
        `rest` when it is in force, `restored` also when it was restored before, `superseded` when the memory changed
        meanwhile (repeat then). Raises InvalidInputError, changing nothing, when what must come back has expired. What is
        above observation_threshold again is reflected again: pause the resource first, to have another model do it.
        """
        return await self._run(self._core.owning.restore(resource_id, generation, thread_id))

    # -- threads ------------------------------------------------------------------------------------------------------

    async def set_thread(
        self,
        resource_id: str,
        thread_id: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        archived: bool | None = None,
        memory: MemoryMode | None = None,
        by: str = "",
    ) -> ThreadState:
        """Give a thread a title, which no suggestion replaces ("" gives it back to the Observer), or metadata of your own.

        With `archived` it is left out where threads are listed and where others' contexts excerpt it, until it gets a message.
        `memory` is the memory mode: `full` (the default of a thread), `off` (it leaves no memory and its contexts start without
        one), `write_only` (its contexts start without one) or `read_only` (it leaves none); see docs/threads.md. A mode alone may
        be set before the first message. What is not named stays. `by` is an id of who says so. Raises NotFoundError where there
        is no such thread.
        """
        set_ = self._core.threads.set(resource_id, thread_id, title, metadata, archived, by, memory)
        return await self._run(set_)

    async def copy_thread(
        self,
        thread_id: str,
        to: str,
        resource_id: str,
        *,
        until: str | None = None,
        to_resource: str | None = None,
        pusher: Pusher = ANYBODY,
    ) -> Copied:
        """Make a thread `to` that reads as another does up to the message `until` (or its last), and goes on by itself.

        Within one memory what is observed is known to all of its threads: the copy holds what is not, or where `until` is before
        that the last 20 messages up to it. In another resource, or where each thread has a memory of its own, it holds every
        message that is kept, to be observed anew. Ids stay. Repeating a call that failed ends it. Raises InvalidInputError
        for a thread `to` that there is, NotFoundError for a message that is not kept.
        """
        return await self._run(self._core.threads.copy(thread_id, to, resource_id, until, to_resource, pusher))

    async def alias_thread(self, alias: str, thread_id: str, resource_id: str) -> Aliased:
        """Have a name stand for a thread: one conversation that changed its id. Repeating it changes nothing.

        From then on whatever is written to or read of `alias`, by any client or writer, is the thread's. What it holds by
        itself becomes the thread's in one step; an alias of it stands for the thread too. Raises InvalidInputError, and
        nothing was changed, for what would stand for itself or leads nowhere, for an alias of another thread, where both
        know messages of one id that differ, and, where each thread has a memory of its own, for one that has any.
        """
        return await self._run(self._core.threads.alias(alias, thread_id, resource_id))

    async def unalias_thread(self, alias: str, resource_id: str) -> Outcome:
        """End an alias: `cleared`, or `rest` where it is none. What came by it stays with the thread; its name is free again."""
        return await self._run(self._core.threads.unalias(alias, resource_id))

    async def thread_aliases(self, resource_id: str) -> dict[str, str]:
        """Every alias of a resource, by name, with the thread that it stands for."""
        return await self._run(self._core.threads.aliases(resource_id))

    # -- review -------------------------------------------------------------------------------------------------------

    async def reviews(self, resource_ids: Collection[str] | None = None) -> list[WaitingReview]:
        """Which memories, of all or of some resources, have a reflection that waits for its review; what counts soonest first.

        Where `reflection.review` is `ask`, what the workers condense counts once somebody approved it, or after
        `reflection.review_expires`. Of more than 10,000 those are told that count soonest.
        """
        return await self._run(self._core.reviewing.waiting(resource_ids))

    async def proposal(self, resource_id: str, thread_id: str | None = None) -> Proposal | None:
        """The reflection of a memory that waits for its review; None where none does.

        No context shows it, and it is gone as soon as anything that it was made of is corrected, forgotten or erased. It shows
        every line that is pinned by now. Where each thread has a memory of its own, one must be named.
        """
        return await self._run(self._core.reviewing.proposal(resource_id, thread_id))

    async def approve(
        self,
        resource_id: str,
        thread_id: str | None = None,
        *,
        proposal: str | None = None,
        text: str | None = None,
        by: str = "",
    ) -> Outcome:
        """Have the reflection count that waits: `reflected`, or `superseded` where none does (any more).

        `proposal` is the id of the one that was read, without which whatever waits is approved; `text` takes the place of its
        own; `by` is an id of who decides, for the event. What is pinned by then stands in either, and what was activated or
        added since it was thought stays. `restore` undoes it.
        """
        return await self._run(self._core.reviewing.approve(resource_id, thread_id, proposal, text, by))

    async def send_back(
        self,
        resource_id: str,
        thread_id: str | None = None,
        *,
        comment: str = "",
        proposal: str | None = None,
        by: str = "",
    ) -> Outcome:
        """Have the reflection thought again that waits: `sent_back`, or `superseded` where none does (any more).

        The model is given the text and the `comment` (8,000 characters at most), and its answer waits for a review of its own.
        The rest is as for `approve`.
        """
        return await self._run(self._core.reviewing.send_back(resource_id, thread_id, proposal, comment, by))

    async def clear(self, resource_id: str, thread_id: str | None = None) -> Cleared:
        """Remove a resource's whole memory, or one thread of it; `merged` names what a reflection holds beyond recognition.

        What a plain writer put into a thread that nobody has met, and named to nobody, counts as written afterwards.
        """
        return await self._run(self._core.owning.clear(resource_id, thread_id))

    async def migrate_scope(self, resource_id: str, to: str) -> Outcome:
        """Move a memory to scope `to`; `busy` while chunks are unready, `superseded` when it changed: repeat then."""
        return await self._run(self._core.owning.migrate_scope(resource_id, to))

    async def export_memory(self, resource_id: str) -> AsyncIterator[bytes]:
        """A resource's whole memory as JSON lines, many at a time; docs/backup.md says what each of them holds.

        Everything that lives is of one instant, whatever happens meanwhile. What was written is whole only with its last
        line: raises StoreError on the way when the store cannot be read any further.
        """
        outgoing = self._core.owning.outgoing(resource_id)
        while piece := await self._run(outgoing.more()):
            yield piece

    async def import_memory(self, pieces: AsyncIterable[bytes], resource_id: str | None = None) -> Imported:
        """Make an exported memory that of a resource (None: of the one it was exported from), which must hold nothing.

        `pieces` are the bytes of the file, cut anyhow. It is there at once and whole, or not at all: nothing can be read of
        it before its last line is checked, and messages keep every byte. Raises InvalidInputError, and nothing has changed,
        for a file that was cut off or changed and for a resource that holds anything; a StoreError says in `stored` whether
        it is there.
        """
        incoming = self._core.owning.incoming(resource_id)
        try:
            async for piece in pieces:
                if await self._run(incoming.take(piece)):
                    await self._run(incoming.send())
            return await self._run(self._core.owning.commit(incoming))
        finally:
            await self._run(incoming.discard())
