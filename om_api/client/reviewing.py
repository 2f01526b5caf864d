"""Reviewing: a reflection counts once somebody approved it, or is thought again with what they said to it."""

from collections.abc import Callable, Collection
from contextlib import suppress

import msgspec

from om_api.client.owning import writable
from om_api.client.reading import Scopes
from om_api.client.redacting import Redacting
from om_api.client.reporting import Reporter
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import Event, of_reflection
from om_api.domain.values import Generation, Outcome, Scope, check_id, new_id
from om_api.settings import Settings, recorded_settings
from om_api.store.driver.steps import Steps
from om_api.store.memory import due, reflect
from om_api.store.memory.keys import Keys
from om_api.store.reviews import review_index
from om_api.store.reviews.commit import commit
from om_api.store.reviews.drafts import Draft, Proposal, ReflectionInput, Review, WaitingReview, reflection_input

_LONGEST_COMMENT, _LONGEST_TEXT = 8_000, 400_000  # characters


class Reviewer:
    """What may be done to a reflection that waits for its review. What was decided by somebody else meanwhile is `superseded`."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        scopes: Scopes,
        count: Callable[[str], int],
        reporter: Reporter,
        redacting: Redacting,
    ) -> None:
        self._settings, self._keys, self._scopes = settings, keys, scopes
        self._count, self._reporter, self._redacting = count, reporter, redacting

    def waiting(self, resources: Collection[str] | None) -> Steps[list[WaitingReview]]:
        """What waits, of all resources or some, what counts soonest first."""
        named = None if resources is None else {check_id(name, "resource_id") for name in resources}
        return (yield from review_index.waiting(self._keys, named))

    def proposal(self, resource: str, thread: str | None) -> Steps[Proposal | None]:
        """What waits of one memory; None where nothing does."""
        scope = yield from self._scopes.one(resource, (yield from self._scopes.named(resource, thread)))
        read = yield from reflection_input(self._keys, scope)
        if read.draft is None or not read.review.waits:
            return None
        return Proposal(
            resource=resource,
            thread=scope.thread,
            **read.review._asdict(),
            generation=read.counting(read.draft, self._count),
            before=read.generation.text if read.generation else "",
        )

    def approve(
        self, resource: str, thread: str | None, proposal: str | None, text: str | None, by: str
    ) -> Steps[Outcome]:
        """Have it count, as it is or with another text; what is pinned stands in either."""
        settings, who = writable(self._settings, resource, "approved"), by and check_id(by, "by")
        read = yield from self._read(resource, thread, proposal)
        if read is None or read.draft is None:
            return Outcome.SUPERSEDED
        scope, draft, ttl_s = read.state.scope, read.draft, recorded_settings.of(settings).retention_s
        if text is not None:
            text = yield from self._redacting.stored(resource, text)
            draft = msgspec.structs.replace(draft, generation=self._edited(draft.generation, text))
        done, made = yield from commit(self._keys, read, draft, self._count, settings.kept_generations, ttl_s)
        if done is Outcome.REFLECTED:
            told = self._decision("review_approved", read, who), of_reflection("reflected", scope, made, by="approval")
            yield from self._decided(scope, read.review, *told)
        return done

    def send_back(
        self, resource: str, thread: str | None, proposal: str | None, comment: str, by: str
    ) -> Steps[Outcome]:
        """Take it away, and have it thought again with a comment."""
        settings, who = writable(self._settings, resource, "sent back"), by and check_id(by, "by")
        _check_text(comment, "comment", _LONGEST_COMMENT)
        comment = yield from self._redacting.stored(resource, comment)
        read = yield from self._read(resource, thread, proposal)
        if read is None or read.draft is None:
            return Outcome.SUPERSEDED
        scope, record = read.state.scope, read.state.record
        draft: Draft = msgspec.structs.replace(read.draft, comment=comment.strip())
        place = self._keys, scope, record.epoch, record.generation
        done = yield from reflect.draft(
            *place,
            msgspec.json.encode(draft),
            recorded_settings.of(settings).retention_s,
            covered=read.covered(draft),
            was=record.proposed,
            review=Review(new_id(), read.review.asked_at),
        )
        if done is not Outcome.BUFFERED:
            return done
        yield from self._decided(scope, read.review, self._decision("review_sent_back", read, who))
        return Outcome.SENT_BACK

    def _read(self, resource: str, thread: str | None, proposal: str | None) -> Steps[ReflectionInput | None]:
        """What is to be decided about, if that still waits; a `proposal` is the id of the one that somebody saw."""
        thread = yield from self._scopes.named(resource, thread)
        read = yield from reflection_input(self._keys, (yield from self._scopes.one(resource, thread)))
        return read if read.review.waits and proposal in {None, read.review.id} else None

    def _edited(self, made: Generation, text: str) -> Generation:
        _check_text(text, "text", _LONGEST_TEXT)
        said = "\n".join(text.splitlines()).strip("\n")
        if not said.strip():
            raise InvalidInputError("the text is empty: send the reflection back, or approve it as it is")
        return msgspec.structs.replace(
            made,
            text=said,
            tokens=self._count(said),
            patterns=tuple(each for each in made.patterns if each in said),
            insights=tuple(each for each in made.insights if each in said),
        )

    def _decision(self, kind: str, read: ReflectionInput, by: str) -> Event:
        (resource, thread), generation = read.state.scope, read.state.record.generation + 1
        return Event(
            kind=kind, resource=resource, thread=thread, generation=generation, review=read.review.id, by=by or None
        )

    def _decided(self, scope: Scope, review: Review, *told: Event) -> Steps[None]:
        """It is decided; the sweep finds what could not be said of that."""
        with suppress(StoreError):
            yield from due.mark(self._keys.due_reflect, [scope])
            yield from review_index.decided(self._keys, scope, review.expires_at)
        for event in told:
            yield from self._reporter.publish(event)


def _check_text(text: str, what: str, most: int) -> None:
    """Raise InvalidInputError for a text that is too long, or that no store takes."""
    if len(text) > most:
        raise InvalidInputError(f"the {what} has {len(text):,} characters: permitted are {most:,}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(f"the {what} holds half a character (a lone surrogate): take it out") from None
