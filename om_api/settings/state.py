"""One state of the configuration, built aside from files and environment: complete, or an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from om_api.errors import SettingsError
from om_api.settings.catalogue import BASE_FILE
from om_api.settings.environment import environment_layer
from om_api.settings.files import Stamp, agent_files, read_layer, stamp
from om_api.settings.layers import Effective, Layer, compose, of_model
from om_api.settings.models import DEFAULT_MODELS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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


def problem_of(file: Path | None, error: SettingsError) -> Problem:
    """Return what is wrong with a file; the text leaves out the file's name, which stands beside it."""
    return Problem(str(file), str(error).replace(f"{file}: ", "").replace(f"{file}, ", ""))


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


class Sources:
    """The folder and the environment that states are built from; remembers what it read until a file changes."""

    def __init__(self, folder: Path | None, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self.environ = environ
        self._read: dict[Path, tuple[Stamp | None, Layer]] = {}

    def look(self) -> tuple[dict[str, Path], dict[Path, Stamp | None]]:
        """Return the overrides by name, and the stamps of all files; raises SettingsError for an unlistable folder."""
        if self.folder is None:
            return {}, {}
        files = agent_files(self.folder / "agents")
        return files, {file: stamp(file) for file in (self.folder / BASE_FILE, *files.values())}

    def first(self) -> State:
        """Build the first state; raises SettingsError if the base cannot be in force."""
        files, stamps = self.look()
        return self._with_agents(State(self._base(stamps)), files, stamps)

    def next(self, last: State, files: Mapping[str, Path], stamps: Mapping[Path, Stamp | None]) -> State:
        """Build the state after `last`; what cannot be in force any more becomes a problem, and stays as it was."""
        try:
            return self._with_agents(last._replace(base=self._base(stamps), problems=()), files, stamps)
        except SettingsError as error:
            problem = problem_of(self.folder and self.folder / BASE_FILE, error)
            return self._with_agents(last._replace(problems=(problem,)), files, stamps)

    def _base(self, stamps: Mapping[Path, Stamp | None]) -> Base:
        file = self.folder / BASE_FILE if self.folder else None
        layer = self._layer(file, stamps[file]) if file and (stamps[file] or file in self._read) else {}
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
            try:
                agents[name] = self._agent(last.base, file, stamps[file])
            except SettingsError as error:
                problems.append(problem_of(file, error))
                agents |= {name: last.agents[name]} if name in last.agents else {}
        self._forget(stamps)
        return State(last.base, tuple(files), agents, tuple(problems), stamps)

    def _agent(self, base: Base, file: Path, now: Stamp | None) -> Effective:
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
