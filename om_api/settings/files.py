"""Configuration files: found, read, and watched for changes."""

from __future__ import annotations

import fnmatch
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from om_api.errors import SettingsError
from om_api.settings.catalogue import SETTINGS, TOP_KEYS
from om_api.settings.layers import Layer, flatten, flatten_models
from om_api.settings.urls import has_password

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from pathlib import Path

_AGENT_FILE = "memory.yaml"
_GLOB = frozenset("*?[")


class Stamp(NamedTuple):
    """What tells that a file is not the one we read."""

    modified: int
    size: int
    inode: int


class _Loader(yaml.SafeLoader):
    """YAML's safe loader, which also refuses a key stated twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002  its signature
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen and key.value != "<<":
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value} stands here twice", key.start_mark
                )
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def read_layer(file: Path) -> Layer:
    """Return what a file states; raises SettingsError with file, and line and column where YAML ends to be YAML."""
    data = _read(file)
    if not isinstance(data, dict | None):
        raise SettingsError(f"{file}: not a mapping; permitted at the top: {' and '.join(TOP_KEYS)}")
    for key in data or {}:
        if key not in TOP_KEYS:
            raise SettingsError(f"{file}: {_misplaced(key)}")
    data = data or {}
    layer = flatten(data.get("observational_memory"), str(file)) | flatten_models(data.get("models"), str(file))
    _refuse_passwords(layer)
    return layer


def _misplaced(key: object) -> str:
    if (key,) in SETTINGS or any(path[0] == key for path in SETTINGS):
        return f"{key} stands at the top; did you mean observational_memory.{key}?"
    return f"{key} is not known at the top; permitted: {' and '.join(TOP_KEYS)}"


def _read(file: Path) -> Any:
    try:
        return yaml.load(file.read_bytes(), Loader=_Loader)  # noqa: S506  a SafeLoader
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise SettingsError(f"{file}{where}: not YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"{file}: not YAML: {str(error).splitlines()[0]}") from None


def _refuse_passwords(layer: Layer) -> None:
    stated = layer.get(("storage", "redis", "url"))
    if stated and isinstance(stated.value, str) and has_password(stated.value):
        raise SettingsError(
            f"{stated.origin}: storage.redis.url holds a password, which no file may; permitted: "
            "storage.redis.password_env, naming the variable that holds it, or the whole address in OM_REDIS_URL"
        )


def stamp(file: Path) -> Stamp | None:
    """Return a file's stamp, or None if there is no file to look at."""
    try:
        found = file.stat()
    except OSError:
        return None
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)


def agent_files(folder: Path) -> dict[str, Path]:
    """Return the overrides in a folder, by the name or glob of the agents they are for; raises SettingsError."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be read: {error.strerror}") from None
    return {name: folder / name / _AGENT_FILE for name in names if _is_there(folder / name / _AGENT_FILE)}


def _is_there(file: Path) -> bool:
    """A file we may not look at is there: reading it will tell what is wrong with it."""
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def is_glob(name: str) -> bool:
    """Whether a folder's name stands for many agents."""
    return not _GLOB.isdisjoint(name)


def match(resource: str, names: Iterable[str]) -> str | None:
    """Return the name an agent's override stands under: its own, else the longest glob that fits it, else None."""
    known = set(names)
    if resource in known and not is_glob(resource):
        return resource
    fitting = [name for name in known if is_glob(name) and fnmatch.fnmatchcase(resource, name)]
    return max(fitting, key=lambda name: (len(name), name), default=None)
