"""Configuration files: found, read, and watched for changes."""

import fnmatch
import os
import re
import stat
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import SETTINGS, TOP_KEYS
from om_api.settings.documents import MOST_BYTES, parse, plain
from om_api.settings.sources import Layer, flatten, flatten_models
from om_api.settings.urls import has_password

_AGENT_FILE = "memory.yaml"
_GLOB = frozenset("*?[")
_AGENT = re.compile(r"[A-Za-z0-9._:@+*?\[\]!-]+")


class Stamp(NamedTuple):
    """What tells that a file is not the one we read."""

    modified: int
    size: int
    inode: int


def read_layer(file: Path) -> Layer:
    """Return what a file states; raises SettingsError with file, and line and column where YAML ends to be YAML."""
    data = parse(_read(file), str(file))
    if not isinstance(data, dict | None):
        raise SettingsError(f"{file}: not a mapping; permitted at the top: {' and '.join(TOP_KEYS)}")
    for key in data or {}:
        if key not in TOP_KEYS:
            raise SettingsError(f"{file}: {_misplaced(key)}")
    data = data or {}
    layer = flatten(data.get("observational_memory"), str(file)) | flatten_models(data.get("models"), str(file))
    _refuse_passwords(layer)
    return layer


def _misplaced(key: str) -> str:
    if any(path[0] == key for path in SETTINGS):
        return f"{key} stands at the top; did you mean observational_memory.{key}?"
    return f"{plain(key)} is not known at the top; permitted: {' and '.join(TOP_KEYS)}"


def _read(file: Path) -> bytes:
    """The file's bytes, one more than may be parsed at most; nothing waits for a pipe that nobody writes to."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return stream.read(MOST_BYTES + 1) or b""
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None
    raise SettingsError(f"{file}: cannot be read: not a file, but a pipe or a device")


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


def agent_files(folder: Path) -> dict[Path, Stamp | None]:
    """Return the overrides in a folder, each in one of its agents' name or glob; raises SettingsError."""
    try:
        folders = sorted(folder.iterdir())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be read: {error.strerror}") from None
    files = (own / _AGENT_FILE for own in folders if not own.name.startswith("."))
    return {file: stamp(file) for file in files if _is_there(file)}


def _is_there(file: Path) -> bool:
    """A file we may not look at is there: reading it will tell what is wrong with it."""
    try:
        file.stat()
    except OSError as error:
        return not isinstance(error, FileNotFoundError | NotADirectoryError)
    return True


def is_agent(name: str) -> bool:
    """Whether a folder's name is one that an agent can have, or a glob that can fit one."""
    return _AGENT.fullmatch(name) is not None


def match(resource: str, names: Collection[str]) -> str | None:
    """Return the name an agent's override stands under: its own, else the longest glob that fits it, else None."""
    if _GLOB.isdisjoint(resource) and resource in names:
        return resource
    fitting = [name for name in names if not _GLOB.isdisjoint(name) and fnmatch.fnmatchcase(resource, name)]
    return max(fitting, key=lambda name: (len(name), name), default=None)
