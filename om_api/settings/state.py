"""One state of the configuration, built aside from files and environment: complete, or an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from om_api.errors import SettingsError
from om_api.settings.catalogue import BASE_FILE
from om_api.settings.environment import environment_layer
from om_api.settings.files import Stamp, agent_files, is_agent, read_layer, stamp
from om_api.settings.layers import Effective, Layer, compose, of_model
from om_api.settings.models import DEFAULT_MODELS
from om_api.settings.plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

T = TypeVar("T")
_LONGEST_PATH = 4_096
_LONGEST_PROBLEM = 1_000
_SYSTEM_WIDE = (
    "storage",
    "observer_interval",
    "reflector_interval",
    "stop_grace",
    "total_budget",
    "events",
    "metrics",
    "api",
)


class Problem(NamedTuple):
    """A file that could not be put in force, and why."""

    file: str
    text: str


def problem_of(file: Path | None, error: str) -> Problem:
    """What is wrong with a file, in one line; the text leaves out the file's name, which stands beside it."""
    lines = error.replace(f"{file}: ", "").replace(f"{file}, ", "").splitlines()
    return Problem(plain(str(file), _LONGEST_PATH), plain("; ".join(lines), _LONGEST_PROBLEM))


class Base(NamedTuple):
    """What holds for every agent, and the layers it is made of: overrides go between them."""

    file_layer: Layer
    environment: Layer
    effective: Effective
    redis_url: str


class State(NamedTuple):
    """Everything a reader sees, replaced as a whole; `agents` holds the overrides that could be put in force."""

    base: Base
    names: tuple[str, ...] = ()
    agents: Mapping[str, Effective] = {}
    problems: tuple[Problem, ...] = ()
    stamps: Mapping[Path, Stamp | None] = {}


class _Made(NamedTuple):
    """What came of an agent's file: settings, or a text that says why not."""

    stamp: Stamp | None
    base: Base
    result: Effective | str


class Sources:
    """The folder and the environment that states are built from; remembers what came of a file until it changes."""

    def __init__(self, folder: Path | None, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self.environ = environ
        self._read: dict[Path, tuple[Stamp | None, Layer]] = {}
        self._made: dict[Path, _Made] = {}

    def look(self) -> tuple[dict[str, Path], dict[Path, Stamp | None]]:
        """Return the overrides by name, and the stamps of all files; raises SettingsError for an unlistable folder."""
        if self.folder is None:
            return {}, {}
        files = agent_files(self.folder / "agents")
        return files, {file: stamp(file) for file in (self.folder / BASE_FILE, *files.values())}

    def first(self) -> State:
        """Build the first state; raises SettingsError if the base cannot be in force."""
        files, stamps = self.look()
        base = _attempt(lambda: self._base(stamps))
        if isinstance(base, str):
            raise SettingsError(base)
        return self._with_agents(State(base), files, stamps)

    def next(self, last: State, files: Mapping[str, Path], stamps: Mapping[Path, Stamp | None]) -> State:
        """Build the state after `last`; what cannot be in force any more becomes a problem, and stays as it was."""
        base, file = _attempt(lambda: self._base(stamps, last.base)), self.folder and self.folder / BASE_FILE
        if isinstance(base, str):
            return self._with_agents(last._replace(problems=(problem_of(file, base),)), files, stamps)
        return self._with_agents(last._replace(base=base, problems=()), files, stamps)

    def _base(self, stamps: Mapping[Path, Stamp | None], last: Base | None = None) -> Base:
        file = self.folder / BASE_FILE if self.folder else None
        layer = self._layer(file, stamps[file]) if file and (stamps[file] or file in self._read) else {}
        if last is not None and layer == last.file_layer:
            return last  # the same object: what was made of it need not be made again
        names = [*DEFAULT_MODELS, *(path[1] for path in layer if of_model(path))]
        environment = environment_layer(self.environ, dict.fromkeys(names))
        effective = compose((layer, environment), str(file or "environment"))
        return Base(layer, environment, effective, self._address(effective))

    def _layer(self, file: Path, now: Stamp | None) -> Layer:
        """Read a file unless it is as we know it; a base file that was there and is gone raises like a broken one."""
        before, layer = self._read.get(file, (None, {}))
        if now is None or now != before:
            layer = read_layer(file)
            self._read[file] = (now, layer)
        return layer

    def _address(self, effective: Effective) -> str:
        redis = effective.memory.storage.redis
        if redis.password_env is None or self.environ.get(redis.password_env):
            return redis.address(self.environ.get(redis.password_env or ""))
        where = effective.origin["storage.redis.password_env"]
        raise SettingsError(f"{where}: storage.redis.password_env names {redis.password_env}, which is not set")

    def _with_agents(self, last: State, files: Mapping[str, Path], stamps: Mapping[Path, Stamp | None]) -> State:
        agents: dict[str, Effective] = {}
        problems = list(last.problems)
        for name, file in files.items():
            result = self._result(last.base, name, file, stamps[file])
            if isinstance(result, Effective):
                agents[name] = result
            else:
                problems.append(problem_of(file, result))
                agents |= {name: last.agents[name]} if name in last.agents else {}
        self._forget(stamps)
        return State(last.base, tuple(filter(is_agent, files)), agents, tuple(problems), stamps)

    def _result(self, base: Base, name: str, file: Path, now: Stamp | None) -> Effective | str:
        """What comes of an agent's file, worked out once for each of its and the base's changes."""
        known = self._made.get(file)
        if known is None or now is None or known.stamp != now or known.base is not base:
            known = self._made[file] = _Made(now, base, _attempt(lambda: self._agent(base, name, file, now)))
        return known.result

    def _agent(self, base: Base, name: str, file: Path, now: Stamp | None) -> Effective:
        if not is_agent(name):
            raise SettingsError(
                f"{file}: no agent has such a name; permitted: A-Z a-z 0-9 . _ : @ + - and globs of them"
            )
        layer = self._layer(file, now)
        effective = compose((base.file_layer, layer, base.environment), str(file))
        changed = [key for key in _SYSTEM_WIDE if getattr(effective.memory, key) != getattr(base.effective.memory, key)]
        if effective.models != base.effective.models:
            changed.append("models")
        if changed:
            raise SettingsError(f"{file}: {changed[0]} holds for the whole system; permitted: in {BASE_FILE} only")
        return effective

    def _forget(self, stamps: Mapping[Path, Stamp | None]) -> None:
        self._read = {file: read for file, read in self._read.items() if file in stamps}
        self._made = {file: made for file, made in self._made.items() if file in stamps}


def _attempt(make: Callable[[], T]) -> T | str:
    """What is made, or why it cannot be: whatever a file does to us stays that file's own problem."""
    try:
        return make()
    except SettingsError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  what nobody thought of must not stop everybody else
        return f"cannot be used: {type(error).__name__}; tell us, and leave out what was added last"
