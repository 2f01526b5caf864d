"""The folder of the configuration, with the environment above it: what is in force by them, complete, or an error."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import BASE_FILE
from om_api.settings.documents import plain
from om_api.settings.environment import environment_layer
from om_api.settings.files import Stamp, agent_files, is_agent, read_layer, stamp
from om_api.settings.model_settings import DEFAULT_MODELS
from om_api.settings.sources import Effective, Layer, compose, of_model

T = TypeVar("T")
_LONGEST_PATH = 4_096
_LONGEST_PROBLEM = 1_000
_INTERVALS = ("observer_interval", "reflector_interval", "stop_grace")
_SYSTEM_WIDE = ("storage", *_INTERVALS, "total_budget", "events", "metrics", "api", "flower_ticks")


class FileProblem(NamedTuple):
    """A file that could not be put in force, and why."""

    file: str
    text: str


def problem_of(file: Path | None, error: str) -> FileProblem:
    """What is wrong with a file, in one line; the text leaves out the file's name, which stands beside it."""
    lines = error.replace(f"{file}: ", "").replace(f"{file}, ", "").splitlines()
    return FileProblem(plain(str(file), _LONGEST_PATH), plain("; ".join(lines), _LONGEST_PROBLEM))


class Base(NamedTuple):
    """What holds for every agent, and the layers it is made of: overrides go between them."""

    file_layer: Layer
    environment: Layer
    effective: Effective
    redis_url: str


class LoadedFile(NamedTuple):
    """What came of an agent's file with a base: settings, or a text that says why not."""

    base: Base
    stamp: Stamp | None
    result: Effective | str


class Loaded(NamedTuple):
    """Everything a reader sees, replaced as a whole; `agents` holds the overrides that could be put in force."""

    base: Base
    agents: Mapping[str, Effective] = {}
    names: tuple[str, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    stamps: Mapping[Path, Stamp | None] = {}
    made: Mapping[Path, LoadedFile] = {}

    def same_as(self, other: "Loaded") -> bool:
        """Whether everybody's settings are those of another state."""
        return self[:3] == other[:3]


class Folder:
    """Where settings are loaded from: a folder, if there is one, and the environment."""

    def __init__(self, path: Path | None, environ: Mapping[str, str]) -> None:
        self.path = path
        self.environ = environ
        self._base_file = path / BASE_FILE if path else None
        self._base_was_read = False

    def load(self, last: Loaded | None = None) -> Loaded:
        """Return what is in force after `last`, which is that itself if no file changed.

        What cannot be in force any more becomes a problem, and stays as it was. Raises SettingsError for a folder that
        cannot be listed, and for a base that cannot be in force while there is no last one.
        """
        files = agent_files(self.path / "agents") if self.path else {}
        stamps = files | ({self._base_file: stamp(self._base_file)} if self._base_file else {})
        if last is not None and stamps == last.stamps:
            return last
        base = _attempt(lambda: self._base(last.base if last else None, stamps))
        if isinstance(base, Base):
            return self._with_agents(last or Loaded(base), base, files)._replace(stamps=stamps)
        if last is None:
            raise SettingsError(base)
        loaded = self._with_agents(last, last.base, files)
        return loaded._replace(stamps=stamps, problems=(problem_of(self._base_file, base), *loaded.problems))

    def _base(self, last: Base | None, stamps: Mapping[Path, Stamp | None]) -> Base:
        """The same object if the file says the same: what was made of it need not be made again."""
        file, layer = self._base_file, Layer()
        if file and (stamps[file] or self._base_was_read):  # one that is gone raises like a broken one
            layer = read_layer(file)
            self._base_was_read = True
        if last is not None and layer == last.file_layer:
            return last
        names = [*DEFAULT_MODELS, *(path[1] for path in layer if of_model(path))]
        environment = environment_layer(self.environ, dict.fromkeys(names))
        effective = compose((layer, environment), str(file or "environment"))
        return Base(layer, environment, effective, self._address(effective))

    def _address(self, effective: Effective) -> str:
        redis = effective.memory.storage.redis
        if redis.password_env is None or self.environ.get(redis.password_env):
            return redis.address(self.environ.get(redis.password_env or ""))
        where = effective.origin["storage.redis.password_env"]
        raise SettingsError(f"{where}: storage.redis.password_env names {redis.password_env}, which is not set")

    def _with_agents(self, last: Loaded, base: Base, files: Mapping[Path, Stamp | None]) -> Loaded:
        made = {file: self._made(last.made.get(file), base, file, now) for file, now in files.items()}
        results = {file.parent.name: one.result for file, one in made.items()}
        good = {name: result for name, result in results.items() if isinstance(result, Effective)}
        kept = {name: last.agents[name] for name in results.keys() & last.agents.keys()}
        problems = [problem_of(file, one.result) for file, one in made.items() if isinstance(one.result, str)]
        return Loaded(base, kept | good, tuple(filter(is_agent, results)), tuple(problems), made=made)

    def _made(self, known: LoadedFile | None, base: Base, file: Path, now: Stamp | None) -> LoadedFile:
        """What comes of an agent's file, worked out once for each of its and the base's changes."""
        if known is not None and now is not None and known.stamp == now and known.base is base:
            return known
        return LoadedFile(base, now, _attempt(lambda: _agent(base, file)))


def _agent(base: Base, file: Path) -> Effective:
    """What is in force for the agents that a file is for; raises SettingsError."""
    if not is_agent(file.parent.name):
        raise SettingsError(f"{file}: no agent has such a name; permitted: A-Z a-z 0-9 . _ : @ + - and globs of them")
    effective = compose((base.file_layer, read_layer(file), base.environment), str(file))
    changed = [key for key in _SYSTEM_WIDE if getattr(effective.memory, key) != getattr(base.effective.memory, key)]
    if effective.models != base.effective.models:
        changed.append("models")
    if changed:
        raise SettingsError(f"{file}: {changed[0]} holds for the whole system; permitted: in {BASE_FILE} only")
    return effective


def _attempt(make: Callable[[], T]) -> T | str:
    """What is made, or why it cannot be: whatever a file does to us stays that file's own problem."""
    try:
        return make()
    except SettingsError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  what nobody thought of must not stop everybody else
        return f"cannot be used: {type(error).__name__}; tell us, and leave out what was added last"
