"""The folder of the configuration, with the environment above it: what is in force by them, complete, or an error."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import BASE_FILE
from om_api.settings.documents import plain
from om_api.settings.environment import environment_layer
from om_api.settings.files import AGENTS, Stamp, agent_files, is_agent, is_there, pieces, read_layer, stamp
from om_api.settings.model_settings import DEFAULT_MODELS
from om_api.settings.sources import Effective, Layer, compose, of_model

T = TypeVar("T")
_CALLED, _STORE = "config", "storage"
_LONGEST_PATH = 4_096
_LONGEST_PROBLEM = 1_000
_INTERVALS = ("observer_interval", "reflector_interval", "stop_grace")
_SYSTEM_WIDE = (
    "storage",
    "partitions",
    *_INTERVALS,
    "total_budget",
    "events",
    "audit",
    "webhooks",
    "metrics",
    "api",
    "flower_ticks",
)


class FileProblem(NamedTuple):
    """A file that could not be put in force, and why."""

    file: str
    text: str


def problem_of(file: Path | None, error: str) -> FileProblem:
    """What is wrong with a file, in one line; the text leaves out the file's name, which stands beside it."""
    return _problem(file, "; ".join(_lines(file, error)))


def _lines(file: Path | None, error: str) -> list[str]:
    return error.replace(f"{file}: ", "").replace(f"{file}, ", "").splitlines()


def _problem(file: Path | None, text: str) -> FileProblem:
    return FileProblem(plain(str(file), _LONGEST_PATH), plain(text, _LONGEST_PROBLEM))


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
    """Everything a reader sees, replaced as a whole; `agents` holds the overrides that could be put in force.

    `mistake` says why the base file could not be.
    """

    base: Base
    agents: Mapping[str, Effective] = {}
    names: tuple[str, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    stamps: Mapping[Path, Stamp | None] = {}
    made: Mapping[Path, LoadedFile] = {}
    mistake: str = ""

    def same_as(self, other: "Loaded") -> bool:
        """Whether everybody's settings are those of another state."""
        return self[:3] == other[:3]


class Folder:
    """Where settings are loaded from: a folder and the environment. An `optional` folder counts once its base file is there.

    What lies in `agents` beside a folder called `config` counts as what lies in `agents` within it.
    """

    def __init__(self, path: Path, environ: Mapping[str, str], *, optional: bool = False) -> None:
        self.path = path
        self.environ = environ
        self._optional = optional
        self._base_file = path / BASE_FILE
        self._base_was_read = False

    def load(self, last: Loaded | None = None, *, strict: bool = True) -> Loaded:
        """Return what is in force after `last`, which is that itself if no file changed.

        What cannot be in force any more becomes a problem, and stays as it was. Raises SettingsError for a folder that
        cannot be listed, and for a base that cannot be in force while there is no last one. Unless it is `strict`: then what
        of the base file can be in force is, and only an environment that cannot be raises.
        """
        files = self._agent_files()
        stamps = files | {self._base_file: stamp(self._base_file)}
        if last is not None and stamps == last.stamps:
            return last
        base = _attempt(lambda: self._base(last.base if last else None))
        if isinstance(base, Base):
            return self._with_agents(last or Loaded(base), base, files)._replace(stamps=stamps)
        if last is None:
            last = Loaded(self._refused(base, strict=strict))
        loaded = self._with_agents(last, last.base, files)
        problems = (problem_of(self._base_file, base), *loaded.problems)
        return loaded._replace(stamps=stamps, problems=problems, mistake=base)

    def mistakes(self, loaded: Loaded) -> Iterator[FileProblem]:
        """Everything that is wrong with each file that could not be put in force, each by itself and in full."""
        found = {self._base_file: loaded.mistake} | {file: one.result for file, one in loaded.made.items()}
        for file, text in found.items():
            if isinstance(text, str) and text:
                further = _attempt(partial(self._check, loaded.base, file))
                lines = [*_lines(file, text), *_lines(file, further if isinstance(further, str) else "")]
                yield from (_problem(file, line) for line in dict.fromkeys(lines))

    def _check(self, base: Base, file: Path) -> Effective:
        """What the keys of a file come to that can be read, though others cannot."""
        stated = Layer()
        for piece in pieces(file):
            stated |= piece
        below = () if file == self._base_file else (base.file_layer,)
        return compose((*below, stated, base.environment), str(file))

    def places(self) -> list[Path]:
        """The folders that hold agents' files: the one within ours, and the one beside it if ours is called `config`."""
        beside = self.path.parent / AGENTS
        return [self.path / AGENTS, *([beside] if self.path.name == _CALLED and beside.is_dir() else [])]

    def _agent_files(self) -> dict[Path, Stamp | None]:
        if self._optional and not self._base_was_read and not is_there(self._base_file):
            return {}
        return {file: found for place in self.places() for file, found in agent_files(place).items()}

    def _base(self, last: Base | None) -> Base:
        """The same object if the file says the same: what was made of it need not be made again."""
        file, layer = self._base_file, Layer()
        if is_there(file) or self._base_was_read:  # one that is gone raises like a broken one
            layer = read_layer(file)
            self._base_was_read = True
        if last is not None and layer == last.file_layer:
            return last
        return self._of(layer)

    def _of(self, layer: Layer) -> Base:
        """What holds with a file that states this."""
        names = [*DEFAULT_MODELS, *(path[1] for path in layer if of_model(path))]
        environment = environment_layer(self.environ, dict.fromkeys(names))
        effective = compose((layer, environment), str(self._base_file))
        return Base(layer, environment, effective, self._address(effective))

    def _refused(self, error: str, *, strict: bool) -> Base:
        """What holds though the base file cannot: as much of it as can.

        Raises SettingsError if that is not to be; and where it is the store that is not known: nobody may take another for it.
        """
        if strict:
            raise SettingsError(error)
        base, found = self._of(Layer()), pieces(self._base_file)
        for piece in 2 * found:  # one may be possible beside another that stands behind it only
            more = _attempt(partial(self._of, {**base.file_layer, **piece}))
            base = more if isinstance(more, Base) else base
        if any(path[0] == _STORE and path not in base.file_layer for piece in found for path in piece):
            raise SettingsError(error)
        return base

    def _address(self, effective: Effective) -> str:
        redis = effective.memory.storage.redis
        if redis.password_env is None or self.environ.get(redis.password_env):
            return redis.address(self.environ.get(redis.password_env or ""))
        where = effective.origin["storage.redis.password_env"]
        raise SettingsError(f"{where}: storage.redis.password_env names {redis.password_env}, which is not set")

    def _with_agents(self, last: Loaded, base: Base, files: Mapping[Path, Stamp | None]) -> Loaded:
        beside = _beside(files)
        made = {file: self._made(last.made.get(file), base, file, now, beside[file]) for file, now in files.items()}
        results = {file.parent.name: one.result for file, one in made.items()}
        good = {name: result for name, result in results.items() if isinstance(result, Effective)}
        kept = {name: last.agents[name] for name in results.keys() & last.agents.keys()}
        problems = [problem_of(file, one.result) for file, one in made.items() if isinstance(one.result, str)]
        return Loaded(base, kept | good, tuple(filter(is_agent, results)), tuple(problems), made=made)

    def _made(
        self, known: LoadedFile | None, base: Base, file: Path, now: Stamp | None, beside: Sequence[Path]
    ) -> LoadedFile:
        """What comes of an agent's file, worked out once for each of its and the base's changes."""
        if beside:
            both = " and ".join(map(str, (file, *beside)))
            return LoadedFile(base, None, f"{both} are both there; permitted: one of the two")
        if known is not None and now is not None and known.stamp == now and known.base is base:
            return known
        return LoadedFile(base, now, _attempt(lambda: _agent(base, file)))


def _beside(files: Iterable[Path]) -> dict[Path, list[Path]]:
    """The other files of the same name of each."""
    named = defaultdict[str, list[Path]](list)
    for file in files:
        named[file.parent.name].append(file)
    return {file: [other for other in same if other != file] for same in named.values() for file in same}


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
