"""A memory as full as the default settings let it become: what reading is measured on."""

import random
import time
from collections.abc import Iterator
from typing import Any

from om_api import Message
from om_api.domain.values import Observation, Scope, new_id
from om_api.domain.wire import encode_message
from om_api.store.driver.connection import Connection
from om_api.store.memory import activate, chunks, scope_state, seal
from om_api.store.memory.keys import Keys
from om_bench.speed.stand import Stand

THREAD = "thread-1"
MESSAGES, OBSERVATIONS = 300, 50
_UNSEALED = 59
_MESSAGE_TOKENS, _MESSAGE_LENGTH = 99, 400
_OBSERVATION_TOKENS, _OBSERVATION_LENGTH = 798, 3_200
_COVERED_TOKENS = 4_800  # that an observation stands for: a sixth of them
_DAY_MS = 86_400_000
_TTL_S = 3_600
_MINUTE_MS = 60_000
_TOOLS_EVERY, _CALL, _RESULT = 10, 1, 2
_TALK = (
    "the a of to and in that for on with about from when we deploy invoice meeting garden Lisbon report kitchen train "
    "Anna budget server review Thursday contract flight school dinner patch release customer letter window music plan"
)


class Full:
    """A resource's memory: 40k tokens of observations (160 kB), and 30k tokens raw in one thread (300 messages, 120 kB).

    It stands just before an activation and a reflection: most raw messages are in chunks that are ready. Every tenth turn
    calls a tool and has its result.
    """

    def __init__(self, stand: Stand, resource: str) -> None:
        self.resource, self.om = resource, stand.om
        self._bare, self._run, self._work = stand.bare, Connection(stand.bare).run, stand.running.work
        self._scope, self._keys = Scope(resource), Keys(stand.om.settings.prefix)
        self._random, self._talk = random.Random(resource), _TALK.split()
        self._now = int(time.time() * 1000)
        self._key = self._keys.of(resource).messages(THREAD)
        self._turned: list[bytes] = []

    def build(self) -> None:
        """Write it: the observations by the store's own verbs, the messages as an agent does, and workers seal the older ones."""
        for n in range(OBSERVATIONS):
            self._observe(n)
        messages = list(self._turns())
        self.om.add_messages(messages[:-_UNSEALED])
        self._work()
        self.om.add_messages(messages[-_UNSEALED:])

    def turn(self) -> None:
        """Have one message more, as in a conversation that goes on."""
        at = self._now + len(self._turned)
        self._turned.append(encode_message(self._message(new_id(), self._words(_MESSAGE_LENGTH), at)))
        self._bare.zadd(self._key, {self._turned[-1]: at})

    def turn_back(self) -> None:
        """Have as many messages as in the beginning."""
        if self._turned:
            self._bare.zrem(self._key, *self._turned)
        self._turned = []

    def _observe(self, n: int) -> None:
        day = self._now - (OBSERVATIONS - n) * _DAY_MS
        keys, scope, chunk = self._keys, self._scope, f"chunk-{n:04}"
        self.om.add_message(self._message(f"seen-{n}", "seen", day, tokens=_COVERED_TOKENS))
        members = [bytes(member) for member in self._bare.zrange(self._key, 0, -1)]  # type: ignore[arg-type]  # it decodes none
        epoch = self._run(scope_state.look(keys, scope)).record.epoch
        self._run(seal.seal(keys, scope, epoch, THREAD, members, _COVERED_TOKENS, chunk))
        self._run(chunks.buffer(keys, self.resource, self._observation(n, day), chunk))
        look = self._run(scope_state.look(keys, scope))
        self._run(activate.activate(keys, scope, look.record.epoch, look.chunks, [chunk], _TTL_S, count=lambda _: 0))

    def _observation(self, n: int, day: int) -> Observation:
        lines = [f"Date: {time.strftime('%b %d, %Y', time.gmtime(day / 1000))}"]
        while sum(map(len, lines)) + len(lines) < _OBSERVATION_LENGTH:
            minute = len(lines) * 17
            lines.append(f"* {'🔴🟡🟢'[len(lines) % 3]} ({minute // 60:02}:{minute % 60:02}) {self._words(110)}")
        return Observation(
            id=f"chunk-{n:04}", thread_id=THREAD, text="\n".join(lines)[:_OBSERVATION_LENGTH],
            tokens=_OBSERVATION_TOKENS, message_tokens=_COVERED_TOKENS, message_ids=(f"seen-{n}",), to=day,
        )  # fmt: skip

    def _turns(self) -> Iterator[Message]:
        for n in range(MESSAGES):
            at = self._now - (MESSAGES - n) * _MINUTE_MS
            yield self._message(f"m-{n:04}", self._content(n), at, role=("user", "assistant")[n % 2])

    def _content(self, n: int) -> Any:
        if n % _TOOLS_EVERY == _CALL:
            args = {"query": self._words(_MESSAGE_LENGTH)}
            return [{"type": "tool-call", "tool_call_id": f"call-{n}", "name": "search", "args": args}]
        if n % _TOOLS_EVERY == _RESULT:
            result = self._words(_MESSAGE_LENGTH)
            return [{"type": "tool-result", "tool_call_id": f"call-{n - 1}", "name": "search", "result": result}]
        return self._words(_MESSAGE_LENGTH)

    def _message(self, name: str, content: Any, at: int, role: str = "user", tokens: int = _MESSAGE_TOKENS) -> Message:
        return Message(
            id=name,
            role=role,
            content=content,
            tokens=tokens,
            timestamp=at,
            thread_id=THREAD,
            resource_id=self.resource,
        )

    def _words(self, length: int) -> str:
        text = ""
        while len(text) < length:
            text += self._random.choice(self._talk) + " "
        return text[:length]
