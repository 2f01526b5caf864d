"""Settings while the system runs: what is in force, for whom, why, and what could not be loaded."""

import json
import os
import threading
from collections.abc import Mapping
from functools import reduce
from itertools import chain
from operator import getitem
from pathlib import Path
from typing import Any

import msgspec

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import BASE_FILE, MODEL_FIELDS, SETTINGS, Key, about, dotted, is_system_wide, owner_of
from om_api.settings.composed_memories import Links
from om_api.settings.documents import plain
from om_api.settings.environment import unknown_variables
from om_api.settings.files import match
from om_api.settings.fingerprint import fingerprint_of
from om_api.settings.folder import Folder
from om_api.settings.loaded import FileProblem, Loaded, problem_of
from om_api.settings.logs import library_log
from om_api.settings.memory_settings import MemorySettings
from om_api.settings.model_settings import ModelSettings
from om_api.settings.sections import urls
from om_api.settings.sources import DEFAULT, Effective
from om_api.settings.stored_layers import StoredTexts

_HIDDEN = "***"
_warned: set[str] = set()  # unknown variables that this process has logged


class Settings:
    """What is in force: read it from any thread, refresh it from any thread; make it with `load_settings`.

    A reader takes one reference to an unchangeable state; `refresh` builds the next one aside and swaps the reference:
    no reader ever sees half of a change.
    """

    def __init__(self, folder: Folder, *, strict: bool = True) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded = folder.load(strict=strict)
        self._digest: tuple[Loaded, str] | None = None

    def __repr__(self) -> str:
        """Show where it was read from; no value, since one may be a password."""
        return f"Settings({str(self._folder.path)!r}, agents={len(self.agents())}, problems={len(self.problems)})"

    @property
    def memory(self) -> MemorySettings:
        """The settings of every agent that has no override."""
        return self._loaded.base.effective.memory

    @property
    def models(self) -> Mapping[str, ModelSettings]:
        """The models by name. A name that is not here may still be used: its provider is guessed from it."""
        return self._loaded.base.effective.models

    @property
    def redis_url(self) -> str:
        """Where memories live, password included: show `safe_url(redis_url)`."""
        return self._loaded.base.redis_url

    @property
    def archive_url(self) -> str | None:
        """Where the past goes that leaves Redis, password included: show `safe_url` of it. None where there is no archive.

        Raises SettingsError where a variable is named for its password that is not set.
        """
        archive = self.memory.archived
        if archive is None or archive.password_env is None:
            return archive.url if archive else None
        if password := self.variable(archive.password_env):
            return urls.with_password(archive.url or "", password)
        raise SettingsError(f"archive.password_env names {archive.password_env}, which is not set: set it")

    @property
    def broker_url(self) -> str:
        """Where tasks wait, password included; the same address as Redis unless OM_BROKER_URL says otherwise.

        Raises SettingsError for a Cluster: tasks cannot wait there.
        """
        url = self.variable("OM_BROKER_URL") or self.redis_url
        if urls.is_cluster_url(url):
            raise SettingsError(
                "tasks cannot wait on a Cluster: set OM_BROKER_URL to a server of their own, such as redis://10.0.0.9:6379/0"
            )
        return url

    @property
    def prefix(self) -> str:
        """What every key in Redis starts with."""
        return self.memory.storage.redis.prefix

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """What could not be put in force: files, entries of the store, and links that close circles.

        Of files and entries what they said last is in force, else the base; of links that close circles nothing.
        """
        return (*self._loaded.problems, *self._loaded.of_store(), *self._circles())

    @property
    def folder(self) -> Folder:
        """Where they are loaded from."""
        return self._folder

    @property
    def broken_base(self) -> FileProblem | None:
        """The base file among them, where that is one."""
        return self.problems[0] if self._loaded.mistake else None

    def mistakes(self) -> list[FileProblem]:
        """The same of files, with everything that is wrong with them, each by itself."""
        return [*self._folder.mistakes(self._loaded), *self._circles()]

    @property
    def fingerprint(self) -> str:
        """16 hex digits that processes with the same settings share, wherever these come from.

        They say nothing of secrets, of where memories live, and of what only `om api` goes by.
        """
        loaded, known = self._loaded, self._digest
        if known is None or known[0] is not loaded:
            known = self._digest = (loaded, fingerprint_of(loaded))
        return known[1]

    def agents(self) -> tuple[str, ...]:
        """The names and globs of the agents that have an override, in a file or in the store."""
        return tuple(dict.fromkeys((*self._loaded.names, *self._loaded.stored.layers)))

    def for_agent(self, resource: str) -> MemorySettings:
        """The settings of one agent: its own override, else that of the longest glob its id fits, else the base."""
        return self._effective(resource).memory

    def links(self, resource: str) -> Links:
        """The links of one agent's `compose`, with and without consent."""
        return self._loaded.links(resource)

    def problem(self, resource: str) -> FileProblem | None:
        """Why an agent's own file, that of the glob its id fits, or a link of it is not in force; None if all of it is."""
        loaded = self._loaded
        name = match(resource, loaded.names) if loaded.problems else None
        broken = ((file, one.result) for file, one in loaded.made.items() if file.parent.name == name)
        found = (problem_of(file, text) for file, text in broken if isinstance(text, str))
        return next(chain(found, loaded.circles_of(resource)), None)

    def origin(self, resource: str | None = None) -> dict[str, str]:
        """Where each value comes from, by dotted key: `default`, `preset small`, a file, `store harold`, `environment OM_X`."""
        return dict(self._effective(resource).origin)

    def variable(self, name: str) -> str | None:
        """An environment variable that is no setting: a model's API key, OM_LOG_LEVEL and the like; None if empty."""
        return self._folder.environ.get(name) or None

    @staticmethod
    def safe_url(url: str) -> str:
        """An address with its passwords replaced by ***."""
        return urls.safe_url(url)

    @property
    def stored(self) -> StoredTexts:
        """What the store said last; nothing where nobody told it to `refresh`."""
        return self._loaded.stored.texts

    @property
    def loaded(self) -> Loaded:
        """All that is in force at this moment, for whoever reckons what would be."""
        return self._loaded

    def refresh(self, stored: StoredTexts | None = None) -> bool:
        """Read again what changed on disk, cheaply if nothing did; returns whether anybody's settings are others now.

        `stored`: what the store says now; None: what it said last. Never raises: a broken file becomes a problem, and what was
        in force stays in force.
        """
        with self._lock:
            before = self._loaded
            try:
                self._loaded = self._folder.load(before, texts=stored)
            except SettingsError as error:
                problem = problem_of(self._folder.path, str(error))
                self._loaded = before._replace(problems=(problem,), stamps={})
            return not self._loaded.same_as(before)

    def _circles(self) -> list[FileProblem]:
        return [problem for name in self._loaded.circles for problem in self._loaded.circles_of(name)]

    def _effective(self, resource: str | None) -> Effective:
        return self._loaded.base.effective if resource is None else self._loaded.of(resource)


class Setting(msgspec.Struct, frozen=True):
    """One setting in force: durations in seconds, and where the value comes from.

    `permitted` and `text` say what it may be and what it is for, `default` what it is where nobody says anything. Where
    `system_wide`, it holds for all agents, and stands in the base file or the environment only. `owner` is who may change it:
    the agent, its operator, or an administrator.
    """

    key: str
    value: Any
    origin: str
    unit: str
    permitted: str = ""
    default: Any = None
    text: str = ""
    system_wide: bool = False
    owner: str = "administrator"

    def shown(self) -> str:
        """The value in the words of YAML."""
        if self.unit == "duration" and self.value is not None:
            return f"{self.value:g}s"
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


def rows(settings: Settings, agent: str | None = None) -> list[Setting]:
    """What is in force for an agent; without one for every agent that has no override, models included."""
    found = rows_of(settings, settings.loaded.base.effective if agent is None else settings.loaded.of(agent))
    return found if agent else [*found, *_rows_of_models(settings)]


def rows_of(settings: Settings, effective: Effective) -> list[Setting]:
    """The same of what would be in force."""
    dumped = effective.memory.model_dump()
    return [_row(settings, path, reduce(getitem, path, dumped), effective.origin) for path in SETTINGS]


def _rows_of_models(settings: Settings) -> list[Setting]:
    origin = settings.origin()
    return [
        _row(settings, ("models", name, field), value, origin)
        for name, model in settings.models.items()
        for field, value in model.model_dump().items()
    ]


def _row(settings: Settings, path: Key, value: Any, origin: dict[str, str]) -> Setting:
    key, described, info = dotted(path), about(path), SETTINGS.get(path)
    info = info or MODEL_FIELDS[path[-1]]
    return Setting(
        key,
        _without_secrets(settings, path, value),
        origin.get(key, DEFAULT),
        described["unit"],
        described["permitted"],
        None if info.is_required() else info.default,
        info.description or "",
        is_system_wide(path),
        owner_of(path),
    )


def _without_secrets(settings: Settings, path: Key, value: Any) -> Any:
    """Hide passwords in addresses, and a key that stands where the name of its variable should."""
    if not isinstance(value, str):
        return value
    if path[-1].endswith("_env"):
        return value if value.isupper() or settings.variable(value) else _HIDDEN
    address, asked, _ = settings.safe_url(value).partition("?")
    return f"{address}?{_HIDDEN}" if asked and path[-1].endswith("url") else settings.safe_url(value)


def load_settings(
    config_dir: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    strict: bool = True,
    warn_unknown: bool = False,
) -> Settings:
    """Load the configuration of this process.

    The folder is `config_dir`, else $OM_CONFIG_DIR, else ./config once it holds observational-memory.yaml or agents/, until when
    defaults and environment are all there is. `environ` is the process's own unless given. Raises SettingsError
    that names file or variable, key and what is permitted; a broken override of one agent is a problem, not an error. With
    `strict` False a broken base file is one, too: what of it can be in force is, and the defaults for the rest. With
    `warn_unknown` an unknown `OM_…` variable is ignored and logged, once for each name, instead of an error.
    """
    environ = dict(os.environ if environ is None else environ)
    if warn_unknown:
        _drop_unknown(environ)
    stated = environ.get("OM_CONFIG_DIR") or None if config_dir is None else config_dir
    if stated is None:
        return Settings(Folder(Path("config"), environ, optional=True), strict=strict)
    return Settings(Folder(_folder(stated), environ), strict=strict)


def _drop_unknown(environ: dict[str, str]) -> None:
    unknown = unknown_variables(environ)
    for name in unknown:
        del environ[name]
    if new := {name: near for name, near in unknown.items() if name not in _warned}:
        _warned.update(new)
        names = [plain(f"{name} (did you mean {near}?)" if near else name) for name, near in new.items()]
        library_log().warning("unknown_variables_ignored", variables=names)


def _folder(stated: object) -> Path:
    if not isinstance(stated, str | os.PathLike) or not isinstance(path := os.fspath(stated), str) or not path:
        raise SettingsError(f"config_dir is {stated!r:.100}; permitted: the path of a folder, as text or as a Path")
    if not (folder := Path(path)).is_dir():
        raise SettingsError(f"{folder}: no such folder; permitted: a folder with {BASE_FILE} and agents/ in it")
    return folder
