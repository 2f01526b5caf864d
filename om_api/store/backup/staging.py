"""Keys that are written before anybody may read them: under other names, in slices that can be repeated, not for ever."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from om_api.store.driver.replies import write
from om_api.store.driver.steps import Steps, exact
from om_api.store.memory.keys import ResourceKeys

STAGED_S = 6 * 3_600  # what somebody wrote who died over it is gone after that
FULL = 256 * 1024  # bytes, from which on what waits is sent
_COMMAND, _NUMBER = 60, 8  # bytes, about
_AT_ONCE = 1_000  # keys


@dataclass
class Staged:
    """What a staged key must hold: the command that counts it, how much, and until which Unix ms it lives (0: for good)."""

    size: str
    held: int = 0
    until: int = 0


class Staging:
    """What is to be the keys of a resource. Names are given as they will be; nothing is sent but by `send`.

    Every command can be sent twice without harm: a connection may break before the reply to the first time arrives.
    """

    def __init__(self, of: ResourceKeys, transfer: str) -> None:
        self._of, self._transfer = of, transfer
        self.keys: dict[str, Staged] = {}
        self.waiting = 0
        self._commands: list[list[Any]] = []

    def name(self, key: str) -> str:
        """Where a key is staged."""
        return self._of.staged(self._transfer, key)

    def put(self, key: str, score: float, member: bytes, until: int = 0) -> None:
        """Add to a sorted set."""
        self._add("ZCARD", "ZADD", key, (exact(score), member), 1, until)

    def fill(self, key: str, fields: Mapping[str, Any]) -> None:
        """Write a hash, whole; one without fields is no key."""
        if fields:
            self._add("HLEN", "HSET", key, [word for pair in fields.items() for word in pair], len(fields))

    def write(self, key: str, text: str | bytes, until: int = 0) -> None:
        """Write a string; what is no ASCII comes as bytes."""
        self._add("STRLEN", "SET", key, [text], len(text), until)

    def append(self, key: str, entry: bytes) -> None:
        """Add to a list; what a first try may have added is taken off before."""
        before = self.keys[key].held if key in self.keys else 0
        if not self._commands or self._commands[-1][:2] != ["RPUSH", self.name(key)]:
            keep = ["LTRIM", self.name(key), 0, before - 1] if before else ["UNLINK", self.name(key)]
            self._commands.append(keep)
        self._add("LLEN", "RPUSH", key, [entry], 1)

    def _add(self, size: str, verb: str, key: str, words: Iterable[Any], n: int, until: int = 0) -> None:
        staged = self.keys.setdefault(key, Staged(size))
        staged.held, staged.until = staged.held + n, max(staged.until, until)
        if not self._commands or self._commands[-1][:2] != [verb, self.name(key)]:
            self._commands.append([verb, self.name(key)])
            self.waiting += _COMMAND
        some = list(words)
        self._commands[-1] += some
        self.waiting += sum(len(word) if isinstance(word, bytes | str) else _NUMBER for word in some)

    def send(self) -> Steps[None]:
        """Send what waits, in one step."""
        commands, self._commands, self.waiting = self._commands, [], 0
        lives = [["EXPIRE", name, STAGED_S] for name in dict.fromkeys(command[1] for command in commands)]
        yield from write(*(tuple(command) for command in (*commands, *lives)))

    def drop(self) -> Steps[None]:
        """Remove what was sent."""
        names = [self.name(key) for key in self.keys]
        for start in range(0, len(names), _AT_ONCE):
            yield from write(("UNLINK", *names[start : start + _AT_ONCE]))
