"""Work that stops before every command, so that a test decides who goes on: each in a thread, one of them at a time.

A process that is killed between two commands, a reply that is lost, a model that thinks while others act: all of them are
"stop here, let others go on, perhaps never come back".
"""

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import redis
from redis.client import Pipeline
from redis.exceptions import AskError, NoScriptError, TryAgainError

from om_api.store.driver.scripts import load_all

_NOT_DONE = (AskError, TryAgainError, NoScriptError)  # it is asked again, elsewhere, later or whole
ALL = 100_000  # commands: more than any activity has
# what a thread is doing, and what a thread that it begins to wait for an answer does for it
_here: "ContextVar[Activity | None]" = ContextVar("activity", default=None)


_latest: list["Activity"] = []  # who had a command last


class CrashedError(BaseException):
    """The process died here. No handler of the product may see it: a dead process handles nothing."""


class Activity:
    """One call of a client, or one unit of a worker's work, that goes on command by command."""

    def __init__(self, name: str, work: Callable[[], Any]):
        self.name = name
        self.log: list[str] = []
        self.at = "not begun"
        self.finished = False
        self.failure: BaseException | None = None
        self.dies_now = False
        self.turns = 0
        self._fate = ""
        self._dead = False
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._live, args=(work,), daemon=True)
        self._thread.start()

    def _live(self, work: Callable[[], Any]):
        _here.set(self)
        self._go.acquire()
        try:
            work()
        except CrashedError:
            self.log.append("CRASHED")
        except BaseException as error:  # noqa: BLE001 -- whatever it is, the game's thread has to hear of it
            self.failure = error
        self.finished = True
        self._stopped.release()

    def go(self, commands: int = 1):
        """Let it perform this many commands, or come to its end."""
        for _ in range(commands):
            if self.finished:
                return
            if _latest != [self]:
                self.turns += 1
                _latest[:] = [self]
            self._go.release()
            self._stopped.acquire()

    @property
    def undisturbed(self) -> bool:
        return self.turns == 1

    def _until(self, reached: Callable[[], bool]):
        while not self.finished and not reached():
            self.go()

    def think(self):
        """Let it go on until it asks a model, or comes to its end."""
        self._until(lambda: self.at.startswith("thinks"))

    def commit(self):
        """Let it go on until its next command is a script: what it decided by may be old when it goes on from there."""
        self._until(lambda: self.at in load_all())

    def come_to(self, command: str):
        """Let it go on until its next command is a certain script, or word of Redis, or comes to its end."""
        self._until(lambda: self.at.split(" ")[0] == command)

    def go_until(self, script: str):
        """Let it go on until it has had a script's answer, or comes to its end."""
        self._until(lambda: any(entry.startswith(f"{script} ->") for entry in self.log))

    def finish(self):
        self.go(ALL)

    def kill(self, *, reply_lost: bool):
        """Kill its process: before its next command, or after the server did it and before the reply came."""
        if reply_lost:
            self._fate = "die"
        else:
            self._dead = True
        self.finish()

    def cut(self, *, reply_lost: bool):
        """Drop its connection at the next command, which the server did, or never saw. The process lives on."""
        self._fate = "lose" if reply_lost else "refuse"
        self.go()

    def stop(self, at: str):
        """Wait until somebody lets us go on; called by the work itself."""
        if not self._dead:
            self.at = at
            self._stopped.release()
            self._go.acquire()
        if self._dead:
            raise CrashedError

    def perform(self, words: tuple[Any, ...], command: Callable[[], Any]) -> Any:
        name = _name(words)
        self.stop(name)
        fate, self._fate = self._fate, ""
        self.dies_now = fate == "die"
        if fate == "refuse":
            self.log.append(f"{name} was never sent")
            raise redis.ConnectionError("the connection was cut before it was sent")
        try:
            reply = command()
        except redis.RedisError as error:
            self.log.append(f"{name} was not done: {error}" if isinstance(error, _NOT_DONE) else f"{name} -> {error}")
            raise
        self.log.append(f"{name} -> {_word(reply)}" if name in load_all() else name)
        if fate == "die":
            self._dead = True
            raise CrashedError
        if fate == "lose":
            self.log.append("its reply was lost")
            raise redis.ConnectionError("the connection was cut before the reply came")
        return reply


def somebody_else():
    """Whoever is under way was disturbed."""
    _latest.clear()


def current() -> Activity | None:
    return _here.get()


class Stoppable(redis.Redis):
    """A client whose every round trip, locks' own included, is a place to stop."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        return performed(args, lambda: super(Stoppable, self).execute_command(*args, **options))

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> "_StoppablePipeline":
        return _StoppablePipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)


class _StoppablePipeline(Pipeline):
    def execute(self, raise_on_error: bool = True) -> list[Any]:
        words = self.command_stack[0][0] if self.command_stack else ("NOTHING",)

        def command() -> list[Any]:
            activity = current()
            if activity and activity.dies_now and not self.transaction:
                del self.command_stack[len(self.command_stack) // 2 :]  # the server never got the rest
            return super(_StoppablePipeline, self).execute(raise_on_error)

        return performed((*words[:2], f"+{len(self) - 1}"), command)


def performed(words: tuple[Any, ...], command: Callable[[], Any]) -> Any:
    """Do a command when its turn has come, and what is to become of it."""
    activity = current()
    return activity.perform(words, command) if activity else command()


def _name(words: tuple[Any, ...]) -> str:
    """What a command is called in a history: our scripts by their name, others by their word and first key."""
    if words[0] in {"EVALSHA", "EVAL"}:
        scripts = [*load_all().values(), *load_all(cluster=True).values()]
        return next((script.name for script in scripts if words[1] in {script.sha, script.source}), "a lock's script")
    return " ".join(str(word).rpartition(":om:")[2][:40] for word in words[:3])


def _word(reply: Any) -> str:
    first = reply[0] if isinstance(reply, list) and reply else reply
    return first.decode(errors="replace")[:40] if isinstance(first, bytes) else str(first)[:40]
