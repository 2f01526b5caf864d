"""What a model is sent, and what it answers, without what its agent's settings say is redacted."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import structs

from om_api.client.redacting import Redacting
from om_api.domain.errors import ModelError, SettingsError
from om_api.domain.messages import Message
from om_api.patterns.pattern import Pattern
from om_api.redaction.redactor import Redactions, Redactor
from om_api.store.driver.connection import Connection
from om_workers.llm.base import Reply, Request

T = TypeVar("T")
_THREAD = Pattern(r'<thread id="[^"\n]*">')  # never redacted: answers are assigned to threads by these tags


class RedactedRequests:
    """The one place that every request passes; what is replaced is kept before the model is asked.

    A prompt is text, in which no field has a name any more: messages and values are redacted before one is made of them.
    """

    def __init__(self, redacting: Redacting, connection: Connection) -> None:
        self._redacting, self._connection = redacting, connection

    def messages(self, resource: str, messages: Sequence[Message]) -> list[Message]:
        """Messages as a request may be made of them; raises ModelError as `request` does."""
        return self._redacted(resource, [*messages], _messages)

    def notes(self, resource: str, texts: Sequence[str]) -> list[str]:
        """The same of notes in sections of threads."""
        return self._redacted(
            resource, [*texts], lambda redactor, some, told: [_prompt(text, redactor, told) for text in some]
        )

    def value(self, resource: str, value: T) -> T:
        """The same of a JSON value."""
        return self._redacted(resource, value, Redactor.value)

    def request(self, resource: str, request: Request) -> Request:
        """A request as it may be sent. Raises ModelError (retryable) where it cannot be redacted: nothing is sent then."""
        return self._redacted(resource, request, _request)

    def reply(self, resource: str, reply: Reply) -> Reply:
        """An answer as it may be read: a model may say what it was not told."""
        return self._redacted(resource, reply, _reply)

    def clean(self, resource: str, error: ModelError) -> None:
        """Make an error one that may be told: a provider quotes what it was sent, and may say what it was not."""
        if redactor := self._redactor(resource):
            error.args = tuple(redactor.text(str(each), Redactions()) for each in error.args)

    def _redacted(self, resource: str, said: T, redact: Callable[[Redactor, T, Redactions], T]) -> T:
        if (redactor := self._redactor(resource)) is None:
            return said
        told = Redactions()
        made = redact(redactor, said, told)
        self._connection.run(self._redacting.keep(resource, told))
        return made if told else said

    def _redactor(self, resource: str) -> Redactor | None:
        try:
            return self._redacting.before_models(resource) if resource else None
        except SettingsError as error:
            raise ModelError(f"no model is asked: {error}", retryable=True, retry_after=60.0) from error


def _messages(redactor: Redactor, messages: list[Message], told: Redactions) -> list[Message]:
    return [redactor.message(each, told) for each in messages]


def _reply(redactor: Redactor, reply: Reply, told: Redactions) -> Reply:
    return structs.replace(reply, text=_prompt(reply.text, redactor, told))


def _request(redactor: Redactor, request: Request, told: Redactions) -> Request:
    text: Callable[[str], str] = lambda said: redactor.text(said, told)  # noqa: E731  short for what is said nine times
    counted = Redactions()  # the same again in values, for models that do not read
    values: dict[str, Any] = {
        "messages": tuple(redactor.message(each, counted) for each in request.messages),
        "threads": {
            name: tuple(redactor.message(each, counted) for each in some) for name, some in request.threads.items()
        },
        "task": redactor.text(request.task, counted),
        "tasks": {name: redactor.text(each, counted) for name, each in request.tasks.items()},
        "observations": tuple(redactor.text(each, counted) for each in request.observations),
        "previous": redactor.text(request.previous, counted),
        "kept": {name: redactor.value(each, counted) for name, each in request.kept.items()},
    }
    made = structs.replace(
        request, system=text(request.system), prompt=_prompt(request.prompt, redactor, told), **values
    )
    told.sealed.update(counted.sealed)
    told.counts |= counted.counts
    return made


def _prompt(prompt: str, redactor: Redactor, told: Redactions) -> str:
    pieces, at = list[str](), 0
    for tag in _THREAD.finditer(prompt):
        pieces += [redactor.text(prompt[at : tag.start()], told), tag[0]]
        at = tag.end()
    return "".join([*pieces, redactor.text(prompt[at:], told)])
