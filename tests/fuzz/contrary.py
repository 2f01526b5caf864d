"""A worker without a policy: seals, splits, activates and reflects whatever it likes. It may waste money, never messages (P4)."""

import random
import time
from collections.abc import Sequence

from world import World

from fuzz.activity import current
from om_api.domain.notes.pins import Notes, needed, pins_of, with_pins
from om_api.domain.values import Generation, Outcome, Stored
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import reading, scope_state
from om_api.store.memory import reflect as reflect_steps
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.scope_state import ScopeState

_TTL_S = 86_400


class Contrary:
    """Makes one arbitrary move each."""

    def __init__(self, world: World, dice: random.Random) -> None:
        self._world, self._dice = world, dice
        self._run, self._keys = world.services.run, world.services.keys

    def _look(self, resource: str, thread: str) -> ScopeState:
        word = self._world.services.settings.for_agent(resource).scope
        scope = self._run(reading.scope_in_force(self._keys, resource, thread, word))
        return self._run(scope_state.look(self._keys, scope))

    def seal(self, resource: str, thread: str) -> None:
        """Any of a thread's raw messages, in any number, from anywhere."""
        look = self._look(resource, thread)
        raw = self._run(scope_state.raw_messages(self._keys, resource, [thread]))[thread]
        some = [pair for pair in raw if self._dice.random() < 0.6]
        if some:
            tokens = sum(message.tokens or 0 for _, message in some)
            members = [member for member, _ in some]
            self._run(seal_steps.seal(self._keys, look.scope, look.record.epoch, thread, members, tokens))

    def split(self, resource: str, thread: str) -> None:
        """Any chunk that has two messages, anywhere."""
        look = self._look(resource, thread)
        chunks = [chunk for chunk in look.chunks if chunk.messages > 1]
        if chunks:
            chunk = self._dice.choice(chunks)
            messages = self._run(scope_state.sealed_messages(self._keys, resource, chunk))
            n = self._dice.randrange(1, chunk.messages)
            tokens = sum(message.tokens or 0 for message in messages[:n])
            self._run(chunks_steps.split(self._keys, look.scope, chunk, n, tokens, 0))

    def activate(self, resource: str, thread: str) -> None:
        """Any chunks, now and then unready ones too, earlier ones left or not."""
        look = self._look(resource, thread)
        chosen = [chunk.id for chunk in look.chunks if self._dice.random() < (0.5 if chunk.ready else 0.1)]
        if chosen:
            chunks = [chunk for chunk in look.chunks if chunk.id in chosen or self._dice.random() < 0.9]
            self._run(activate_steps.activate(self._keys, look.scope, look.record.epoch, chunks, chosen, _TTL_S))

    def reflect(self, resource: str, thread: str) -> Outcome:
        """Any of the observations, not only the oldest; thinks long."""
        look = self._look(resource, thread)
        stored = self._run(reading.observations(self._keys, look.scope))
        generations = self._run(reading.generations(self._keys, look.scope))
        some = [one for one in stored if self._dice.random() < 0.6]
        if not some:
            return Outcome.REST
        texts = [generations[-1].text] if generations else []
        text = "\n".join([*texts, *(_attributed(one.observation.text, one.observation.thread_id) for one in some)])
        text = self._without_some(text, look, generations, some, stored)
        if activity := current():
            activity.stop("thinks about a reflection")
        made = Generation(
            n=look.record.generation + 1,
            text=text,
            created_at=int(time.time() * 1000),
            tokens=len(text) // 4,
            observation_ids=tuple(one.observation.id for one in some),
        )
        return self._run(reflect_steps.reflect(self._keys, look.scope, look.record, made, some, 1000, _TTL_S))

    def _without_some(
        self,
        text: str,
        look: ScopeState,
        generations: Sequence[Generation],
        some: Sequence[Stored],
        stored: Sequence[Stored],
    ) -> str:
        """A text that forgets what was noted by hand, but for what it was read to be pinned."""
        if self._dice.random() < 0.5:
            text = "\n".join(line for line in text.split("\n") if " by hand " not in line)
        goes = Notes.of(generations, [each.observation for each in some], look.scope)
        stays = Notes.of([], [each.observation for each in stored if each not in some], look.scope)
        return with_pins(text, needed(pins_of(look.record.pins), goes, stays), pooled=goes.pooled)


def _attributed(text: str, thread: str) -> str:
    return f'<thread id="{thread}">\n{text}\n</thread>'
