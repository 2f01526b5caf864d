"""A client that sends its whole history again with every turn, without ids, as most clients of a model do."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from chaos.journal import Said
from chaos.words import Thread
from chaos.writers import Writer
from om_api import Message, ObservationalMemory
from om_api.client.syncing import Synced
from om_api.domain.errors import StoreError

_NEW_CLIENT = 0.1  # of turns: the process before ended, and what it remembered with it
_SAYS_OK = 0.3
_PATIENCE_S = 60.0


class HistoryWriter(Writer):
    """Has threads of its own, whose words are in the journal's `histories`. Some answers are nothing but "ok", time and again.

    What it syncs begins with instructions that are others each time. A turn that could not be kept comes again with the next.
    `turns` were acknowledged.
    """

    def __init__(self, client: Callable[[], ObservationalMemory], *rest: Any, **more: Any) -> None:
        super().__init__(*rest, **more)
        self._client, self._om = client, client()
        self._talks: dict[Thread, list[Message]] = defaultdict(list)
        self._unsaid: dict[Thread, list[Said]] = defaultdict(list)  # not acknowledged
        self._ids: dict[Thread, tuple[str, ...]] = {}
        self.turns = 0

    def finish(self) -> None:
        """Send every history once more, until it is acknowledged: whatever was lost or cleared is there again."""
        for thread in self._talks:
            until = time.monotonic() + _PATIENCE_S
            while not self._sync(thread) and time.monotonic() < until:
                time.sleep(0.2)
            if self._unsaid[thread]:
                self._journal.breach(f"the whole history of {thread} could not be kept for {_PATIENCE_S:.0f} s")

    def _speak(self) -> None:
        member = self._member()
        thread = member.name, self._dice.choice(member.threads)
        self._take_turn(thread)
        if self._dice.random() < _NEW_CLIENT:
            self._om = self._client()
        if not self._sync(thread):
            self._pause()

    def _take_turn(self, thread: Thread) -> None:
        asked = self.composer.compose(*thread)
        self._say(thread, "user", asked)
        if self._dice.random() < _SAYS_OK:
            self._add(thread, Message(role="assistant", content="ok"))
        else:
            self._say(thread, "assistant", self.composer.compose(*thread))

    def _say(self, thread: Thread, role: str, said: Said) -> None:
        said.fields = {"role": role, "content": said.fields["content"]}
        self._unsaid[thread].append(said)
        self._add(thread, Message(**said.fields))

    def _add(self, thread: Thread, message: Message) -> None:
        self._talks[thread].append(message)
        self._journal.histories[thread].append(message.content)

    def _sync(self, thread: Thread) -> bool:
        """Send all of a thread; whether it was acknowledged."""
        talk, unsaid = self._talks[thread], self._unsaid[thread]
        instructions = Message(role="system", content=f"It is {time.ctime()}, and turn {len(talk) // 2}.")
        self._journal.tried(unsaid)
        try:
            found = self._om.sync([instructions, *talk], *thread)
        except StoreError as error:
            self._journal.refused(unsaid, error.stored, str(error))
            return False
        self.turns += 1
        self._hold_to_promise(thread, found)
        if unsaid:
            self._journal.acknowledged(unsaid)
            unsaid.clear()
        return True

    def _hold_to_promise(self, thread: Thread, found: Synced) -> None:
        """What only goes on is never said to differ, and each message is known by the same id as ever."""
        before, now = self._ids.get(thread, ()), found.ids[1:]
        self._ids[thread] = now
        if now[: len(before)] != before or found.ids[0]:
            self._journal.breach(f"a message of the history of {thread} is known by another id than before")
        if found.grown or found.changed or found.diverged_at is not None:
            self._journal.breach(f"the history of {thread} only went on, and its receipt says {found._replace(ids=())}")
