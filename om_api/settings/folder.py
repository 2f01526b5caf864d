"""The folder of the configuration, with the environment above it: what is in force by them, complete, or an error."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import BASE_FILE
from om_api.settings.environment import environment_layer
from om_api.settings.files import (
    AGENT_FILE,
    AGENTS,
    Stamp,
    agent_files,
    is_agent,
    is_there,
    layer_of,
    pieces,
    read_layer,
    stamp,
)
from om_api.settings.loaded import (
    Base,
    FileProblem,
    Loaded,
    LoadedFile,
    attempt,
    lines_of,
    of_layer,
    one_line,
    problem_of,
    still_fits,
    with_store,
)
from om_api.settings.model_settings import DEFAULT_MODELS
from om_api.settings.sources import Effective, Layer, compose, of_model
from om_api.settings.stored_layers import StoredLayers, StoredTexts

_CALLED, _STORE = "config", "storage"


class Folder:
    """Where settings are loaded from: a folder and the environment.

    An `optional` folder counts once it holds the base file or `agents`. What lies in `agents` beside a folder called
    `config` counts as what lies in `agents` within it.
    """

    def __init__(self, path: Path, environ: Mapping[str, str], *, optional: bool = False) -> None:
        self.path = path
        self.environ = environ
        self._optional = optional
        self._base_file = path / BASE_FILE
        self._base_was_read = False

    def load(self, last: Loaded | None = None, *, strict: bool = True, texts: StoredTexts | None = None) -> Loaded:
        """Return what is in force after `last`, which is that itself if neither a file nor what the store says changed.

        `texts`: what the store says; None: what it said last. What cannot be in force any more becomes a problem, and stays as
        it was. Raises SettingsError for a folder that cannot be listed, and for a base that cannot be in force while there is no
        last one. Unless it is `strict`: then what of the base file can be in force is, and only an environment that cannot be
        raises.
        """
        before = StoredLayers() if last is None else last.stored
        loaded = self._of_files(last, strict=strict)
        says = before.texts if texts is None else texts
        if says.mistake:
            says = says._replace(texts=before.texts.texts)
        unsaid = says == StoredTexts() and before == StoredLayers()
        return loaded if unsaid or (loaded is last and says == before.texts) else with_store(loaded, last, says)

    def _of_files(self, last: Loaded | None, *, strict: bool) -> Loaded:
        files = self._agent_files()
        stamps = files | {self._base_file: stamp(self._base_file)}
        if last is not None and stamps == last.stamps:
            return last
        base = attempt(lambda: self._base(last.base if last else None))
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
                further = attempt(partial(self._check, loaded.base, file))
                lines = [*lines_of(file, text), *lines_of(file, further if isinstance(further, str) else "")]
                yield from (one_line(file, line) for line in dict.fromkeys(lines))

    def _check(self, base: Base, file: Path) -> Effective:
        """What the keys of a file come to that can be read, though others cannot."""
        stated = Layer()
        for piece in pieces(file):
            stated |= piece
        below = () if file == self._base_file else (base.file_layer,)
        return compose((*below, stated, base.environment), str(file))

    def file_of(self, name: str, loaded: Loaded) -> Path | None:
        """The file of an agent's name or glob, which may not be there yet; None where no file of that name would be read."""
        if name.startswith(".") or self._is_ignored():
            return None
        there = [file for file in loaded.made if file.parent.name == name]
        return there[0] if there else self.places()[0] / name / AGENT_FILE

    def with_file(self, loaded: Loaded, name: str, text: str, origin: str) -> Loaded:
        """What would be in force if a name's file said this, and came from `origin`; raises SettingsError."""
        effective = of_layer(loaded.base, layer_of(text, origin), origin)
        agents, names = {**loaded.agents, name: effective}, tuple(dict.fromkeys((*loaded.names, name)))
        changed = loaded._replace(agents=agents, names=names)
        return still_fits(with_store(changed, loaded, loaded.stored.texts), loaded)

    def without_file(self, loaded: Loaded, name: str) -> Loaded:
        """What would be in force without a name's file; raises SettingsError."""
        agents = {each: effective for each, effective in loaded.agents.items() if each != name}
        changed = loaded._replace(agents=agents, names=tuple(each for each in loaded.names if each != name))
        return still_fits(with_store(changed, loaded, loaded.stored.texts), loaded)

    def with_entry(self, loaded: Loaded, name: str, text: str | None) -> Loaded:
        """What would be in force if the store's entry of a name said this, or were not there; raises SettingsError."""
        says = loaded.stored.texts
        texts = {each: data for each, data in says.texts.items() if each != name}
        texts |= {} if text is None else {name: text.encode()}
        others = {each: layer for each, layer in loaded.stored.layers.items() if each != name}
        last = loaded._replace(stored=loaded.stored._replace(layers=others))
        found = with_store(loaded, last, says._replace(texts=texts))
        if name in found.stored.mistakes:
            raise SettingsError(found.stored.mistakes[name])
        return found

    def places(self) -> list[Path]:
        """The folders that hold agents' files: the one within ours, and the one beside it if ours is called `config`."""
        beside = self.path.parent / AGENTS
        return [self.path / AGENTS, *([beside] if self.path.name == _CALLED and beside.is_dir() else [])]

    def _is_ignored(self) -> bool:
        """Whether the folder is an optional one that holds nothing of ours."""
        is_ours = self._base_was_read or is_there(self._base_file) or (self.path / AGENTS).is_dir()
        return self._optional and not is_ours

    def _agent_files(self) -> dict[Path, Stamp | None]:
        if self._is_ignored():
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
            more = attempt(partial(self._of, {**base.file_layer, **piece}))
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
        loaded = Loaded(base, kept | good, tuple(filter(is_agent, results)), tuple(problems), made=made)
        return loaded.without_circles()

    def _made(
        self, known: LoadedFile | None, base: Base, file: Path, now: Stamp | None, beside: Sequence[Path]
    ) -> LoadedFile:
        """What comes of an agent's file, worked out once for each of its and the base's changes."""
        if beside:
            both = " and ".join(map(str, (file, *beside)))
            return LoadedFile(base, None, f"{both} are both there; permitted: one of the two")
        if known is not None and now is not None and known.stamp == now and known.base is base:
            return known
        return LoadedFile(base, now, attempt(lambda: _agent(base, file)))


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
    return of_layer(base, read_layer(file), str(file))
