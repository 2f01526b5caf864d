"""Putting a text in the place of a file, whole or not at all, unless somebody else was first."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from om_api.domain.errors import SettingsError
from om_api.settings.documents import MOST_BYTES
from om_api.settings.stored_layers import version_of

_MODE = 0o644  # of a new one


def text_of(file: Path) -> bytes | None:
    """What stands in a file, no more than may be read of one; None where there is none. Raises SettingsError."""
    try:
        with file.open("rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None


def may_be_written(file: Path) -> bool:
    """Whether a file could be put there, as far as can be told beforehand."""
    place = file.resolve().parent
    while not place.exists() and place != place.parent:
        place = place.parent
    return place.is_dir() and os.access(place, os.W_OK | os.X_OK)


def save(file: Path, text: str | None, was: str) -> bool:
    """Put a text in a file's place, None taking it away; False, and nothing is changed, if its version is not `was` any more.

    Time 0: two read version a. Time 1: one has the folder to itself, still finds a, and renames its text into place. Time 2: the
    other one finds b, and is told. Whoever is killed before the rename leaves the file as it was, and a hidden one beside it
    that nobody reads. Raises SettingsError where the folder takes no writes.
    """
    there = file.resolve()  # a link stays one
    try:
        if text is not None:
            there.parent.mkdir(parents=True, exist_ok=True)
        with _alone(there.parent):
            if version_of(text_of(there)) != was:
                return False
            if text is None:
                there.unlink(missing_ok=True)
            else:
                _replace(there, text.encode())
            return True
    except OSError as error:
        where = "save it in the store instead (--store)"
        raise SettingsError(f"{file}: cannot be written: {error.strerror}; nothing was changed: {where}") from None


def _replace(file: Path, data: bytes) -> None:
    beside = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    mode = file.stat().st_mode & 0o7777 if file.exists() else _MODE
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        beside.replace(file)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    _sync(file.parent)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While nobody else saves in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    """Have the rename survive a crash of the machine, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
