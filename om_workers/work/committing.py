"""What becomes of a reflection that was thought: it is kept for later, put up for review, or counts."""

from typing import NamedTuple

import msgspec

from om_api.domain.values import Outcome, new_id
from om_api.store.memory import due, reflect
from om_api.store.reviews import review_index
from om_api.store.reviews.commit import commit
from om_api.store.reviews.drafts import Draft, ReflectionInput, Review
from om_api.telemetry import spans
from om_api.telemetry.spans import OurSpan
from om_workers.work.services import Services


class Thought(NamedTuple):
    """A draft, and the moment (monotonic s) in which its model was asked; None where it was thought before."""

    draft: Draft
    began: float | None = None


class Committer:
    """Stores what was thought, each in one script that refuses if the memory has moved on."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._run = services.run

    def keep(self, read: ReflectionInput, thought: Thought) -> Outcome:
        """Keep a draft until its commit is due."""
        with self._told(read, thought.draft) as span:
            outcome = self._store(read, _signed(thought.draft), Review())
            span.note(outcome="drafted" if outcome is Outcome.BUFFERED else outcome)
        if outcome is Outcome.BUFFERED:
            self._services.events.drafted(read.state.scope, thought.draft.generation, thought.began)
        return outcome

    def settle(self, read: ReflectionInput, thought: Thought) -> tuple[Outcome, int | None]:
        """Put it up for review where its agent's settings ask for that and nobody had the time for it yet; else it counts.

        Beside the outcome: when (server ms) a review ends that begins now.
        """
        if self.asks(read) and not read.review.waits:
            return self._propose(read, thought)
        return self._commit(read, thought), None

    def asks(self, read: ReflectionInput) -> bool:
        """Whether somebody is to review what is thought."""
        agent = self._services.agent(read.state.scope)
        return agent.reflection.review == "ask" and not agent.sets_aside

    def remind(self, read: ReflectionInput) -> None:
        """What waits for its review stands in the index of those, whatever became of that."""
        self._run(review_index.expect(self._services.keys, {read.state.scope: read.review.expires_at}))

    def _propose(self, read: ReflectionInput, thought: Thought) -> tuple[Outcome, int | None]:
        scope, draft = read.state.scope, msgspec.structs.replace(thought.draft, comment="")
        now = self._run(due.server_ms())
        expires_at = now + round(self._services.agent(scope).reflection.review_expires * 1000)
        review = Review(new_id(), now, expires_at)
        # first: should we die between the two, the index names what is not there, and not the other way round
        self._run(review_index.expect(self._services.keys, {scope: expires_at}))
        with self._told(read, draft) as span:
            stored = self._store(read, _signed(draft), review)
            span.note(outcome=Outcome.PROPOSED if stored is Outcome.BUFFERED else stored)
        if stored is not Outcome.BUFFERED:
            return Outcome.SUPERSEDED, None
        self._services.events.review_asked(scope, draft.generation, review.id, thought.began)
        return Outcome.PROPOSED, expires_at

    def _store(self, read: ReflectionInput, draft: Draft, review: Review) -> Outcome:
        services, scope, record = self._services, read.state.scope, read.state.record
        waits_s = max(0, review.expires_at - review.asked_at) // 1000
        ttl_s, text = services.in_force(scope).retention_s + waits_s, msgspec.json.encode(draft)
        place = services.keys, scope, record.epoch, record.generation
        return self._run(
            reflect.draft(*place, text, ttl_s, covered=read.covered(draft), was=record.proposed, review=review)
        )

    def _commit(self, read: ReflectionInput, thought: Thought) -> Outcome:
        services, scope = self._services, read.state.scope
        ttl_s, keep = services.in_force(scope).retention_s, services.agent(scope).kept_generations
        with self._told(read, thought.draft) as span:
            draft = _signed(thought.draft)
            outcome, made = self._run(commit(services.keys, read, draft, services.count, keep, ttl_s))
            span.note(outcome=outcome, tokens=made.tokens)
        if outcome is Outcome.REFLECTED:
            by = ("expiry" if self.asks(read) else "off") if read.review.waits else None
            services.events.reflected(scope, made, thought.began, by)
            if read.review.id:
                self._run(review_index.decided(services.keys, scope, read.review.expires_at))
        return outcome

    def _told(self, read: ReflectionInput, draft: Draft) -> OurSpan:
        """The span of a commit, which goes on from those that made what a draft is of, and from that by which it was drafted."""
        if not spans.on():
            return spans.NOTHING
        before = [read.generation] if read.generation else []
        covered = [each.observation.traceparent or "" for each in read.covered(draft)]
        made_of = [*(each.traceparent or "" for each in before), *covered, draft.generation.traceparent or ""]
        told = spans.committing(read.state.scope, made_of)
        told.note(generation=draft.generation.n, observations=len(draft.seqs))
        return told


def _signed(draft: Draft) -> Draft:
    """A draft whose generation says by which span it is stored; as it is where none is told."""
    if not (name := spans.traceparent()):
        return draft
    return msgspec.structs.replace(draft, generation=msgspec.structs.replace(draft.generation, traceparent=name))
