"""What an agent's model reads before its next turn, as one value in everybody's form."""

from collections.abc import Callable, Collection
from copy import copy, deepcopy
from functools import cached_property
from typing import Any, Literal, NamedTuple

import msgspec

from om_api.context.anthropic import anthropic_request
from om_api.context.days import Parted
from om_api.context.gemini import gemini_request
from om_api.context.openai import openai_messages
from om_api.context.openai_responses import openai_items
from om_api.context.tail import Tail
from om_api.context.turns import Turn, Turns
from om_api.context.view import Block
from om_api.domain.messages import Message
from om_api.domain.values import Generation, Observation
from om_api.recall.recalled import RecalledHit

Around = Literal["continuation", "volatile"]  # blocks around the raw messages that are no part of the system prompt


class Made(NamedTuple):
    """What a context was made of, shared with the thread's next one: nobody may change any of it.

    `framing` are the blocks around the tail; `system` joins those of the system, `turns` arranges messages by day.
    """

    tail: Tail
    framing: list[Block]
    system: Callable[[], str]
    turns: Callable[[list[Message], Parted], list[Turn]]


class Context(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything an agent's model should read before its next turn.

    `blocks` in reading order; `omitted` says how many older messages had no room (the memory keeps them), `omitted_tokens` how
    many tokens of what: `notes` (the oldest), `messages`, `newest` (of the newest message), `closing` (of the last block).
    `unavailable`: the long-term memory could not be reached. `recalled` is what was looked up for the newest message.
    `observations` and `reflection` are the own memory's; `composed` are the observations shown of each other memory that is
    composed into this context, `left_out` says why one is not.
    """

    resource_id: str
    thread_id: str
    blocks: tuple[Block, ...]
    observations: list[Observation]
    reflection: Generation | None
    tokens: int
    omitted: int = 0
    omitted_tokens: dict[str, int] = {}
    unavailable: bool = False
    recalled: tuple[RecalledHit, ...] = ()
    composed: dict[str, list[Observation]] = {}
    left_out: dict[str, str] = {}
    made: Made

    @cached_property
    def messages(self) -> list[Message]:
        """The own thread's raw messages in view, oldest first: copies, whose owner may change them."""
        return [_own(message) for message in self.made.tail.messages]

    @cached_property
    def text(self) -> str:
        """Everything as one plain text; a message is preceded by its role, and its further lines stand behind a tab."""
        return "\n\n".join(block.plain for block in self.blocks)

    @property
    def system(self) -> str:
        """What stands in the system prompt, behind the agent's own: notes, which grow at their end until they are reflected."""
        return self.made.system()

    def only(self, ids: Collection[str], *kinds: Around, days: bool = True) -> "Context":
        """A context of these raw messages alone, with the blocks of these kinds around them: for whoever places them himself.

        Without `days` no line says when another one begins.
        """
        tail = self.made.tail.of(ids)
        if not days:
            tail = tail._replace(parted=tail.parted._replace(days=[None] * len(tail.messages)))
        around = [block for block in self.made.framing if block.kind in kinds]
        before = [block for block in around if block.kind != "volatile"]
        blocks, _ = tail.parts()
        return msgspec.structs.replace(
            self,
            blocks=(*before, *blocks, *(block for block in around if block.kind == "volatile")),
            tokens=sum(block.tokens for block in (*around, *blocks)),
            made=Made(tail, around, lambda: "", Turns()),
        )

    @cached_property
    def _turns(self) -> list[Turn]:
        return self.made.turns(self.made.tail.shown, self.made.tail.parted)

    def as_openai(self, *, plain: bool = False) -> list[dict[str, Any]]:
        """The `messages` of a chat request to OpenAI or anyone compatible.

        With `plain` names of speakers stand in the text instead of the field `name`, as some compatible endpoints need it.
        """
        return openai_messages(self.made.framing, self._turns, self.made.system(), plain=plain)

    def as_openai_responses(self) -> list[dict[str, Any]]:
        """The `input` of a request to OpenAI's Responses API."""
        return openai_items(self.made.framing, self._turns, self.made.system())

    def as_anthropic(self) -> dict[str, Any]:
        """The `system` and `messages` of a request to Anthropic, with cache breakpoints."""
        return anthropic_request(self.blocks, self._turns)

    def as_gemini(self) -> dict[str, Any]:
        """The `system_instruction` (absent while there is no memory) and `contents` of a request to Gemini."""
        return gemini_request(self.blocks, self._turns)

    def as_blocks(self) -> list[dict[str, Any]]:
        """The blocks, each with its `hash`, and with the `id` of the message that it shows ("" where it shows none)."""
        shown = iter(message.id for message in self.made.tail.messages)
        return [
            {**msgspec.structs.asdict(block), "hash": block.hash, "id": next(shown) if block.kind == "message" else ""}
            for block in self.blocks
        ]


def _own(message: Message) -> Message:
    own = copy(message)
    own.content = message.content if isinstance(message.content, str) else deepcopy(message.content)
    own.metadata = deepcopy(message.metadata)
    return own


# a context in every form that can be asked for by name; all but the text are values of JSON
FORMS: dict[str, Callable[[Context], Any]] = {
    "text": lambda found: found.text,
    "openai": Context.as_openai,
    "openai_responses": Context.as_openai_responses,
    "anthropic": Context.as_anthropic,
    "gemini": Context.as_gemini,
    "blocks": Context.as_blocks,
}
