"""What a model is to us: one call with a request, one reply."""

from typing import Any, Literal, Protocol

import msgspec

from om_api.domain.errors import ModelError
from om_api.domain.kept.extractors import Extractor
from om_api.domain.messages import Message
from om_api.language.telegraphic import NoteStyle

Purpose = Literal["observe", "reflect", "try"]


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one call as the vendor bills them; `input` includes `cached`."""

    input: int = 0
    cached: int = 0
    output: int = 0


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model.

    `system` and `prompt` are the whole question in words, for models that read. `messages` and `previous` (Observer) or
    `observations` (Reflector: texts, oldest first, the generation in force before all) say the same in values, for models
    that do not. `threads` is not empty when one answer is wanted for each of several threads; `messages` then holds the
    messages of them all. `task` is what the thread was at before these messages, `tasks` the same by thread.
    `target_tokens` is the size wanted of the answer, `timeout` the seconds it may take, `timezone` an IANA name. `style` is
    how the extractive model writes: sentences as they were said, or in telegraphic style. `extractors` say which sections
    are wanted beside the notes, `kept` what these say so far, by thread ("" where there is one) and slug.
    """

    purpose: Purpose
    system: str
    prompt: str
    messages: tuple[Message, ...] = ()
    threads: dict[str, tuple[Message, ...]] = {}
    task: str = ""
    tasks: dict[str, str] = {}
    observations: tuple[str, ...] = ()
    previous: str = ""
    target_tokens: int = 0
    level: int = 0
    temperature: float = 0.0
    timeout: float = 120.0
    timezone: str = "UTC"
    style: NoteStyle = "sentences"
    extractors: tuple[Extractor, ...] = ()
    kept: dict[str, dict[str, Any]] = {}


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answered, in the tags that prompts/parse.py reads."""

    text: str
    model: str
    usage: Usage = Usage()
    cost: float | None = None


class BilledError(ModelError):
    """An answer that cannot be used and is paid for all the same: `usage` says what it took."""

    def __init__(self, error: ModelError, usage: Usage) -> None:
        super().__init__(str(error), retryable=error.retryable, retry_after=error.retry_after, why=error.why)
        self.usage = usage


class TurnedAwayError(ModelError):
    """A call for which nobody did anything: the provider turned the caller away, or was never reached. No budget counts it."""


class TooLongError(ModelError):
    """The request is larger than the model's window. It costs nothing, and may succeed in parts."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, why="refused")


class EmptyNotesError(ModelError):
    """An Observer noted nothing of messages that state facts, or what shares nothing with them.

    It may be an honest translation: when no attempt is left, the built-in observer takes notes of the messages.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, why="unusable")


class Model(Protocol):
    """Anything that answers a Request. Raises ModelError, and nothing else, when it cannot."""

    name: str

    def complete(self, request: Request) -> Reply:
        """Answer one request within its timeout."""
