"""Configuration files: found, read, and watched for changes."""

import fnmatch
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import SETTINGS, TOP_KEYS
from om_api.settings.documents import parse, plain, read
from om_api.settings.places import placed
from om_api.settings.sections.urls import has_password
from om_api.settings.sources import Layer, flatten, flatten_models

AGENTS = "agents"
AGENT_FILE = "memory.yaml"
_GLOB = frozenset("*?[")
_AGENT = re.compile(r"[A-Za-z0-9._:@+*?\[\]!-]+")


class Stamp(NamedTuple):
    """What tells that a file is not the one we read."""

    modified: int
    size: int
    inode: int


def read_layer(file: Path) -> Layer:
    """Return what a file states; raises SettingsError with file and line, one for each key that cannot be read."""
    return layer_of(read(file), str(file))


def layer_of(data: bytes | str, origin: str) -> Layer:
    """Return what a document states that comes from somewhere; raises SettingsError, one for each key that cannot be read."""
    layer, mistakes = Layer(), list[str]()
    for _, read_piece in _each(data, origin):
        try:
            layer |= read_piece()
        except SettingsError as error:
            mistakes.append(str(error))
    if mistakes:
        raise SettingsError("\n".join(mistakes))
    return layer


def pieces(file: Path) -> list[Layer]:
    """What a file states, each key by itself: those that cannot be read are left out, and none is checked.

    Raises SettingsError where it is the store that cannot be read.
    """
    found: list[Layer] = []
    try:
        every = [*_each(read(file), str(file))]
    except SettingsError:
        return []
    for key, read_piece in every:
        try:
            found.append(read_piece())
        except SettingsError:
            if key in {"storage", "archive"}:
                raise
    return found


def _each(data: bytes | str, origin: str) -> Iterator[tuple[str, Callable[[], Layer]]]:
    """The keys of a document, of settings and of models, and how to read each by itself."""
    document = parse(data, origin)
    if not isinstance(document, dict | None):
        raise SettingsError(f"{origin}: not a mapping; permitted at the top: {' and '.join(TOP_KEYS)}")
    for top, group in (document or {}).items():
        if top in TOP_KEYS and isinstance(group, dict):
            named = ((key, f"{top}.{key}", {key: value}) for key, value in group.items())
            yield from ((key, partial(_read_piece, origin, top, where, part)) for key, where, part in named)
        else:
            yield top, partial(_read_piece, origin, top, top, group)


def _read_piece(origin: str, top: str, key: str, part: object) -> Layer:
    flattened = {"observational_memory": flatten, "models": flatten_models}.get(top)
    if flattened is None:
        raise SettingsError(f"{placed(origin, top)}: {_misplaced(top)}")
    try:
        layer = flattened(part, origin)
    except SettingsError as error:
        raise SettingsError(str(error).replace(f"{origin}: ", f"{placed(origin, key)}: ", 1)) from None
    _refuse_passwords(layer)
    return layer


def _misplaced(key: str) -> str:
    if any(path[0] == key for path in SETTINGS):
        return f"{key} stands at the top; did you mean observational_memory.{key}?"
    return f"{plain(key)} is not known at the top; permitted: {' and '.join(TOP_KEYS)}"


def _refuse_passwords(layer: Layer) -> None:
    for group, variable in (("storage.redis", "OM_REDIS_URL"), ("archive", "OM_ARCHIVE__URL")):
        stated = layer.get((*group.split("."), "url"))
        if stated and isinstance(stated.value, str) and has_password(stated.value):
            raise SettingsError(
                f"{stated.origin}: {group}.url holds a password, which no file may; permitted: "
                f"{group}.password_env, naming the variable that holds it, or the whole address in {variable}"
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
    files = (own / AGENT_FILE for own in folders if not own.name.startswith("."))
    return {file: stamp(file) for file in files if is_there(file)}


def is_there(file: Path) -> bool:
    """A file we may not look at is there, and so is a link to nothing: reading it will tell what is wrong with it."""
    try:
        file.lstat()
    except OSError as error:
        return not isinstance(error, FileNotFoundError | NotADirectoryError)
    return True


def is_agent(name: str) -> bool:
    """Whether a folder's name is one that an agent can have, or a glob that can fit one."""
    return _AGENT.fullmatch(name) is not None


def is_one(name: str) -> bool:
    """Whether a name is that of one agent, and no glob."""
    return _GLOB.isdisjoint(name)


def match(resource: str, names: Collection[str]) -> str | None:
    """Return the name an agent's override stands under: its own, else the longest glob that fits it, else None."""
    if _GLOB.isdisjoint(resource) and resource in names:
        return resource
    fitting = [name for name in names if not _GLOB.isdisjoint(name) and fnmatch.fnmatchcase(resource, name)]
    return max(fitting, key=lambda name: (len(name), name), default=None)
