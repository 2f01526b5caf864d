"""Checks the answers of models: an unusable one is published as an event, counted, and raised as a ModelError."""

from collections.abc import Collection, Iterable, Sequence
from typing import NoReturn

from om_api.billing.prices import EXTRACTIVE
from om_api.domain.errors import ModelError
from om_api.domain.events import UnusableWhy
from om_api.domain.messages import Message
from om_api.domain.values import Scope
from om_workers.llm.base import EmptyNotesError, Reply, Request
from om_workers.process.event_publisher import EventPublisher
from om_workers.prompts.answer_filter import AnswerFilter, HollowLine, holds_facts
from om_workers.prompts.parse import Observed, Reflected, parse_batch, parse_observer, parse_reflector
from om_workers.prompts.refusals import refusal

_SAYS: dict[UnusableWhy, str] = {
    "echo": "repeated its instructions",
    "refusal": "declined",
    "empty": "noted nothing of messages that state facts",
    "loop": "was caught in a loop",
    "unreadable": "gave neither a section of notes nor a list",
}


class AnswerReader:
    """Reads the answers to one request of a scope. Every reader raises ModelError (not retryable, `unusable`).

    Only the answers of models are filtered: the built-in observer repeats what the messages say, and a line that they hold
    sixty times is no loop.
    """

    def __init__(self, events: EventPublisher, scope: Scope, request: Request) -> None:
        self._events, self._scope, self._request = events, scope, request
        self._asked = AnswerFilter.of(request)
        self._sections = [each.slug for each in request.extractors]

    def observed(self, reply: Reply) -> Observed:
        """What an Observer noted of the messages of the request."""
        said = parse_observer(reply.text, self._sections, self._filter_of(reply))
        if fault := self._fault(reply, said, self._request.messages):
            self._refuse(reply, *fault)
        return said

    def observed_by_thread(self, reply: Reply) -> dict[str, Observed]:
        """The usable notes of several threads; raises ModelError if there are none."""
        threads = self._request.threads
        read = parse_batch(reply.text, threads, self._sections, self._filter_of(reply))
        faults = {name: self._fault(reply, said, threads[name]) for name, said in read.items()}
        found = {name: said for name, said in read.items() if not faults[name]}
        if not found:
            self._refuse(reply, *next(filter(None, faults.values()), ("unreadable", "")))
        return found

    def reflected(self, reply: Reply, further_sections: Sequence[str]) -> Reflected:
        """What a Reflector made of the notes of the request."""
        said = parse_reflector(reply.text, further_sections, self._filter_of(reply))
        if said.degenerate:
            self._refuse(reply, "loop")
        if not said.text.strip():
            if said.hollow and not any(self._asked.notes(text)[0] for text in self._request.observations):
                return parse_reflector(reply.text, further_sections)  # the notes say nothing either
            self._refuse(reply, *(_of_hollow(said.hollow) or _of_text(reply.text) or ("empty", "")))
        return said

    def _filter_of(self, reply: Reply) -> AnswerFilter | None:
        return None if reply.model == EXTRACTIVE else self._asked

    def _fault(self, reply: Reply, said: Observed, messages: Iterable[Message]) -> tuple[UnusableWhy, str] | None:
        """Why notes cannot be used, with a quote that may be shown; None if they can."""
        if said.degenerate:
            return "loop", ""
        if not said.readable:
            return _of_text(reply.text) or ("unreadable", "")
        if said.text:
            return None
        unrelated = any(line.kind == "unrelated" for line in said.hollow)
        empty = reply.model != EXTRACTIVE and (unrelated or holds_facts(messages))
        return _of_hollow(said.hollow) or (("empty", "") if empty else None)

    def _refuse(self, reply: Reply, why: UnusableWhy, quote: str = "") -> NoReturn:
        self._events.answer_unusable(self._scope, self._request.purpose, reply.model, why, quote)
        # without the quote: the reason is shown in the placeholder of a quarantined message, where an echo would look like a note
        text = f"{reply.model} {_SAYS[why]}"
        if why == "empty" and self._request.purpose == "observe":
            raise EmptyNotesError(text)
        raise ModelError(text, retryable=False, why="unusable")


def _of_hollow(hollow: Collection[HollowLine]) -> tuple[UnusableWhy, str] | None:
    """The kind and quote of the first hollow line that echoes or declines."""
    return next(((line.kind, line.quote) for line in hollow if line.kind in ("echo", "refusal")), None)


def _of_text(text: str) -> tuple[UnusableWhy, str] | None:
    quote = refusal(text)
    return ("refusal", quote) if quote else None
