"""Sharing: what an Observer found worth telling others is added to their memories, and taken back when its source goes."""

from collections.abc import Sequence
from itertools import chain

import structlog

from om_api.context.view import local_time
from om_api.domain.errors import InvalidInputError, QuotaReachedError, StoreError
from om_api.domain.events import Event
from om_api.domain.kept.extractors import SHARED
from om_api.domain.notes.activations import alone
from om_api.domain.notes.edits import one_line
from om_api.domain.values import Observation, Outcome, Scope, SharedFrom, Stored
from om_api.language.calendar import zone_of
from om_api.settings.composed_memories import ComposedMemory
from om_api.store.memory import due, reading
from om_api.store.memory.scope_state import ScopeState
from om_api.store.sharing import copies
from om_workers.work.services import Services
from om_workers.work.unreadable import Isolated

_MOST_LINES = 50  # of one observation
_log = structlog.get_logger("om_workers")


class Sharing:
    """Tells other memories what a memory's settings say they are to be told. What they refuse is tried again by the sweep."""

    def __init__(self, services: Services) -> None:
        self._services, self._run = services, services.run

    def share(self, state: ScopeState) -> int:
        """Add what is in force and was not shared yet; to how many memories something was added. Raises nothing of a target's."""
        scope, agent = state.scope, self._services.agent(state.scope)
        targets = self._services.settings.links(scope.resource).shared
        if not targets or not state.record.epoch or agent.read_only:
            return 0
        names = [each.resource for each in targets]
        told = self._run(copies.shared_up_to(self._services.keys, scope, names))
        behind = [each for each in targets if told[each.resource] < state.record.seq]
        if not behind:
            return 0
        stored = self._run(reading.observations(self._services.keys, scope))
        return sum(self._alone(state, target, told[target.resource], stored) for target in behind)

    def _alone(self, state: ScopeState, target: ComposedMemory, since: float, stored: Sequence[Stored]) -> bool:
        """Share with one memory; what it refuses hurts no other, and stays to be shared."""
        with Isolated("share_refused", scope=str(state.scope), target=target.resource):
            return self._share(state, target, [each for each in stored if each.seq > since])
        return False

    def _share(self, state: ScopeState, target: ComposedMemory, news: Sequence[Stored]) -> bool:
        if self._services.settings.for_agent(target.resource).read_only:
            raise StoreError(f"{target.resource} is read_only: nothing is shared with it", stored=False)
        added, epoch, refused = False, state.record.epoch, list[Observation]()
        # recorded first, because a copy is taken back if its source's record does not name the target
        self._run(copies.note_shared(self._services.keys, state.scope, epoch, target.resource, 0))
        for each in news:
            made = self._copy(state, target, each.observation)
            if made:
                try:
                    did = self._run(copies.share(self._services.keys, target.resource, made))
                except QuotaReachedError:  # skipped for good: a retry would fill the target later
                    refused.append(made)
                    did = Outcome.REST
                if did not in {Outcome.ADDED, Outcome.REST}:
                    raise StoreError(_why(target.resource, did), stored=False)
                if did is Outcome.ADDED:
                    self._told(target.resource, made)
                    added = True
            self._run(copies.note_shared(self._services.keys, state.scope, epoch, target.resource, each.seq))
        if refused:
            tokens = sum(each.tokens for each in refused)
            _log.warning(
                "share_quota_reached",
                scope=str(state.scope),
                target=target.resource,
                observations=len(refused),
                tokens=tokens,
            )
        reached = max([state.record.seq, *(each.seq for each in news[-1:])])  # what else has a number was removed
        self._run(copies.note_shared(self._services.keys, state.scope, epoch, target.resource, reached))
        return added

    def _copy(self, state: ScopeState, target: ComposedMemory, source: Observation) -> Observation | None:
        """What a memory is told of an observation; None where that is nothing.

        What was shared with us is not passed on; nor is what was corrected: what it was to share may be what it said before.
        """
        said = source.extracted.get(SHARED)
        if not isinstance(said, dict) or source.corrections or source.origin == copies.ORIGIN:
            return None
        found = [each for kind in target.share if isinstance(each := said.get(kind), list)]
        texts = [" ".join(each.split()) for each in chain(*found) if isinstance(each, str)][:_MOST_LINES]
        # redacted before the owner's id is added, which may look like an e-mail address
        shared = self._services.redacting.shared
        redacted = [self._run(shared(state.scope.resource, target.resource, text)) for text in texts]
        lines = [line for line in redacted if _is_line(line)]
        if not lines:
            return None
        resource, now = state.scope.resource, self._run(due.server_ms())
        came = SharedFrom(resource=resource, observation=source.id, made_at=source.created_at)
        zone = zone_of(self._services.settings.for_agent(target.resource).timezone)
        text = copies.attributed(resource, lines, local_time(source.to or now, zone))
        made = Observation(
            id=copies.copy_id(came, target.resource),
            thread_id=resource,
            text=text,
            priority=copies.PRIORITY,
            from_=source.from_,
            to=source.to,
            tokens=self._services.count(text),
            created_at=now,
            activated_at=now,
            origin=copies.ORIGIN,
            by=resource,
            shared_from=came,
        )
        return alone(made, self._services.count, pooled=True)

    def _told(self, target: str, made: Observation) -> None:
        keys = self._services.keys
        self._run(due.mark(keys.due_observe, [Scope(target)]))  # workers meet a resource of which there was nothing
        told = Event(
            kind="line_added",
            resource=target,
            thread=made.thread_id,
            observation=made.id,
            tokens=made.tokens,
            by=made.by,
        )
        self._services.events.tell(told)

    def take_back(self, state: ScopeState) -> int:
        """Take out what was shared with a memory and whose source is gone, or was corrected since; how many notes that were."""
        if not state.record.shared_in or self._services.agent(state.scope).read_only:
            return 0
        services, language = self._services, self._services.agent(state.scope).recall.language
        redacts = services.redacting.of_plain_writers
        steps = copies.take_back_gone(services.keys, services.clock, services.count, language, state.scope, redacts)
        if done := self._run(steps):
            _log.info("shared_notes_taken_back", scope=str(state.scope), observations=done)
        return done


def _is_line(text: str) -> bool:
    """Whether a text can be a line of notes."""
    try:
        one_line(text)
    except InvalidInputError:
        return False
    return True


def _why(target: str, did: Outcome) -> str:
    apart = "each of its threads has a memory of its own"
    return f"{target} takes nothing: {'it is paused' if did is Outcome.BUSY else apart}"
