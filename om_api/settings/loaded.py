"""What is in force by files, the store and the environment: one unchangeable state, and what comes of changing a layer of it."""

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeVar

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import BASE_FILE, SYSTEM_WIDE, dotted, owner_of
from om_api.settings.composed_memories import Consent, Links, circle_of, closing_links, consented, links_of
from om_api.settings.documents import plain
from om_api.settings.files import Stamp, is_one, match
from om_api.settings.sections.fields import SettingOwner
from om_api.settings.sources import Effective, Layer, compose
from om_api.settings.stored_layers import ORIGIN, StoredLayers, StoredTexts, layer_of_entry, origin_of

T = TypeVar("T")
_COMPOSE = ("compose",)
_LONGEST_PATH = 4_096
_LONGEST_PROBLEM = 1_000
_MOST_TOLD = 20  # entries of the store


class FileProblem(NamedTuple):
    """A file that could not be put in force, and why."""

    file: str
    text: str


def problem_of(file: Path | str | None, error: str) -> FileProblem:
    """What is wrong with a file, in one line; the text leaves out the file's name, which stands beside it."""
    return one_line(file, "; ".join(lines_of(file, error)))


def lines_of(file: Path | str | None, error: str) -> list[str]:
    """What is wrong with a file, a line for each mistake, without its name."""
    return error.replace(f"{file}: ", "").replace(f"{file}, ", "").splitlines()


def one_line(file: Path | str | None, text: str) -> FileProblem:
    """A problem of a file, printable whatever its name and the text hold."""
    return FileProblem(plain(str(file), _LONGEST_PATH), plain(text, _LONGEST_PROBLEM))


class HiddenSettings(NamedTuple):
    """Administrators' settings of a glob's file that an agent lacks, because its own file is in force instead."""

    agent: str
    glob: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        """The fault in one line."""
        return f"{self.agent} has its own file, so these settings of {self.glob} do not apply: {', '.join(self.keys)}"


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

    `mistake` says why the base file could not be. `above`: what files and an entry of the store come to together, by the names
    that they stand under, as it is asked for: entries that are globs may meet any file. `circles` are the links that close
    circles, by agent: they alone are not in force.
    """

    base: Base
    agents: Mapping[str, Effective] = {}
    names: tuple[str, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    stamps: Mapping[Path, Stamp | None] = {}
    made: Mapping[Path, LoadedFile] = {}
    mistake: str = ""
    stored: StoredLayers = StoredLayers()
    above: dict[tuple[str | None, str], Effective | str] = {}  # noqa: RUF012  with_store makes one that is written to
    circles: Mapping[str, tuple[str, ...]] = {}

    def same_as(self, other: "Loaded") -> bool:
        """Whether everybody's settings are those of another state."""
        return self[:3] == other[:3] and self.stored.layers == other.stored.layers

    def below(self, name: str | None) -> Effective:
        """What is in force by files where one of this name holds, None being no file but the base."""
        return self.base.effective if name is None else self.agents.get(name, self.base.effective)

    def of(self, resource: str) -> Effective:
        """What is in force for an agent; where an entry of the store cannot be with its file, the file without it."""
        name = match(resource, self.names) if self.names else None
        below = self.below(name)
        entry = match(resource, self.stored.layers) if self.stored.layers else None
        if entry is None:
            return below
        found = self.above.get((name, entry))
        if found is None:
            layer = self.stored.layers[entry]
            found = self.above[name, entry] = attempt(lambda: _with_entry(self.base, below, layer, entry))
        return below if isinstance(found, str) else found

    def links(self, resource: str) -> Links:
        """The links of an agent's `compose`, with and without consent."""
        return links_of(self.of(resource).memory.compose, resource, self.consent, self.circles.get(resource, ()))

    def consent(self, resource: str) -> Consent:
        """Who may compose an agent's memory, and share into it."""
        return self.of(resource).memory.consent

    def own_links(self) -> dict[str, list[str]]:
        """The links with consent between agents whose own file or entry states their `compose`.

        Globs and the base may name everybody.
        """
        own = dict[str, list[str]]()
        for name in filter(is_one, {**self.agents, **self.stored.layers}):
            file = own_layer(self.agents[name]) if name in self.agents else Layer()
            origins = [
                layer[_COMPOSE].origin for layer in (file, self.stored.layers.get(name, Layer())) if _COMPOSE in layer
            ]
            if origins and (effective := self.of(name)).origin[dotted(_COMPOSE)] in origins:
                own[name] = [each["resource"] for each in effective.memory.compose]
        return consented(own, self.consent)

    def files_only(self) -> "Loaded":
        """What is in force for a process that does not read the store, such as a Python client."""
        return self._replace(stored=StoredLayers(), above={})

    def without_circles(self) -> "Loaded":
        """The same without the links that close circles. Call it on each state that is put together."""
        return self._replace(circles=closing_links(self.own_links()))

    def circles_of(self, name: str) -> list[FileProblem]:
        """The links of an agent that close circles, each as a problem of the file or entry that states it."""
        where = self.of(name).origin[dotted(_COMPOSE)]
        return [
            problem_of(where, f"{circle_of(name, other)}; this link alone is not in force")
            for other in self.circles.get(name, ())
        ]

    def hidden(self) -> list[HiddenSettings]:
        """Administrators' settings that agents lack, because their own file leaves them out and hides that of a glob."""
        globs = [name for name in self.agents if not is_one(name)]
        found = list[HiddenSettings]()
        for name, effective in self.agents.items():
            glob = match(name, globs) if is_one(name) else None
            lacking = own_layer(self.agents[glob]).keys() - own_layer(effective).keys() if glob else ()
            keys = sorted(dotted(key) for key in lacking if owner_of(key) is SettingOwner.ADMINISTRATOR)
            if glob and keys:
                found.append(HiddenSettings(name, glob, tuple(keys)))
        return found

    def of_store(self) -> tuple[FileProblem, ...]:
        """What is wrong with the layer in the store."""
        mistakes = dict(self.stored.mistakes)
        for (_, entry), found in tuple(self.above.items()):
            if isinstance(found, str):
                mistakes.setdefault(entry, found)
        own = [problem_of(origin_of(name), text) for name, text in sorted(mistakes.items())]
        more = [FileProblem(ORIGIN, f"{len(own) - _MOST_TOLD:,} more like these")] if len(own) > _MOST_TOLD else []
        whole = [FileProblem(ORIGIN, self.stored.texts.mistake)] if self.stored.texts.mistake else []
        return (*whole, *own[:_MOST_TOLD], *more)


def of_layer(base: Base, layer: Layer, origin: str) -> Effective:
    """What is in force where a file states this; raises SettingsError."""
    return _of_one_agent(base, compose((base.file_layer, layer, base.environment), origin), origin)


def own_layer(effective: Effective) -> Layer:
    """What an agent's file states."""
    return effective.layers[1] if len(effective.layers) > 2 else Layer()  # noqa: PLR2004 - the base's, its own, the environment's


def _with_entry(base: Base, below: Effective, layer: Layer, name: str) -> Effective:
    """What is in force where an entry of the store states this above what is `below`; raises SettingsError."""
    *files, environment = below.layers
    effective = _of_one_agent(base, compose((*files, layer, environment), origin_of(name)), origin_of(name))
    refuse_unlisted(effective, below, origin_of(name))
    return effective


def refuse_unlisted(effective: Effective, before: Effective, origin: str) -> None:
    """Raise SettingsError for a model that neither `models` lists nor was in use `before`.

    Its calls would be bounded by no limits and, where its price is not known, by no budget in dollars: both are administrators'.
    """
    used = [*before.memory.observer_models, *before.memory.reflector_models]
    for name in (*effective.memory.observer_models, *effective.memory.reflector_models):
        if name not in effective.models and name not in used:
            listed = ", ".join(sorted(effective.models))
            raise SettingsError(
                f"{origin}: model {plain(name)} is not listed; permitted: {listed}; administrators list models"
            )


def _of_one_agent(base: Base, effective: Effective, origin: str) -> Effective:
    """The same; raises SettingsError where it says what holds for everybody."""
    changed = [
        key for key in SYSTEM_WIDE if attrgetter(key)(effective.memory) != attrgetter(key)(base.effective.memory)
    ]
    if effective.models != base.effective.models:
        changed.append("models")
    if changed:
        raise SettingsError(f"{origin}: {changed[0]} holds for the whole system; permitted: in {BASE_FILE} only")
    return effective


def with_store(loaded: Loaded, last: Loaded | None, says: StoredTexts) -> Loaded:
    """The same with what the store says above files; an entry that cannot be in force stays as it was in the `last` state."""
    before = StoredLayers() if last is None else last.stored
    layers, mistakes = dict[str, Layer](), dict[str, str]()
    above: dict[tuple[str | None, str], Effective | str] = {}
    under = {name: match(name, loaded.names) for name in sorted(says.texts)}
    for name, below in under.items():
        if last is not None and _is_as_it_was(loaded, last, below, name, says.texts[name]):
            layers[name], above[below, name] = before.layers[name], last.above[below, name]
    for name, below in under.items():
        if name in layers:
            continue
        text = says.texts[name]
        found = attempt(partial(_read, loaded, below, name, text))
        if isinstance(found, str):
            mistakes[name] = found
            if name in before.layers:
                found = attempt(partial(_met, loaded, below, name, before.layers[name]))
        if not isinstance(found, str):
            layers[name], above[below, name] = found
    return loaded._replace(stored=StoredLayers(says, layers, mistakes), above=above).without_circles()


def _is_as_it_was(loaded: Loaded, last: Loaded, below: str | None, name: str, text: bytes) -> bool:
    """Whether neither an entry nor what it lies above is another one: a thousand are not worked through for one that is."""
    stored = last.stored
    same = stored.texts.texts.get(name) == text and name in stored.layers and name not in stored.mistakes
    return same and (below, name) in last.above and loaded.below(below) is last.below(below)


def _read(loaded: Loaded, below: str | None, name: str, text: bytes) -> tuple[Layer, Effective]:
    """What an entry states, with what it comes to; raises SettingsError."""
    return _met(loaded, below, name, layer_of_entry(name, text))


def _met(loaded: Loaded, below: str | None, name: str, layer: Layer) -> tuple[Layer, Effective]:
    """An entry with what it comes to above the file that its name fits; raises SettingsError."""
    return layer, _with_entry(loaded.base, loaded.below(below), layer, name)


def still_fits(after: Loaded, before: Loaded) -> Loaded:
    """What would be in force; raises SettingsError where an entry of the store, which could be in force, could not any more."""
    for name, text in after.stored.mistakes.items():
        if name not in before.stored.mistakes:
            raise SettingsError(text)
    return after


def attempt(make: Callable[[], T]) -> T | str:
    """What is made, or why it cannot be: whatever a file does to us stays that file's own problem."""
    try:
        return make()
    except SettingsError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  what nobody thought of must not stop everybody else
        return f"cannot be used: {type(error).__name__}; tell us, and leave out what was added last"
