"""Counting tokens behind a callable: exactly where a vocabulary is at hand, else by an estimate; never over a network.

tiktoken downloads its vocabulary at first use and has no timeout, so it is asked only once a verified copy lies in the
folder it will look in. The copy comes out of the `bpe-openai` package, whose code is not imported.

The environment belongs to settings.py, with this one exception: TIKTOKEN_CACHE_DIR (and XDG_CACHE_HOME) are read here,
because tiktoken takes its folder from the first. While the vocabulary is loaded, once a process, that variable may hold
our folder; afterwards it is as it was.

A message that says its tokens is never counted here. One that a plain writer left without them is met again and again
before it is observed: a process remembers what it counted, so it tokenises each text once.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import math
import os
import secrets
import tempfile
import threading
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import tiktoken

from om_api.errors import InvalidInputError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINDS = ("auto", "o200k_base", "estimate")
SLICE = 50_000  # characters; one run of letters or blanks costs more than its length, and a million can fail outright
REMEMBERED = 20_000  # counts, about 3 MB of them
_FOLDER = "TIKTOKEN_CACHE_DIR"
_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"  # tiktoken's file name: the SHA-1 of the vocabulary's URL
_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_LOCK = threading.Lock()
_LOADED: list[tiktoken.Encoding | None] = []  # empty until the first count, then one entry


def counter(kind: str = "auto") -> Callable[[str], int]:
    """Return a function that counts the tokens of a text.

    `o200k_base` counts as recent models do and raises SettingsError at the first count if its vocabulary cannot be had
    offline; `estimate` needs no vocabulary; `auto` is the first of the two that works. Making a counter loads nothing.
    The first two remember what they counted last. Raises InvalidInputError for another kind.
    """
    if kind == "auto":
        return Remembering(_count)
    if kind == "o200k_base":
        return Remembering(_count_exactly)
    if kind == "estimate":
        return estimate
    raise InvalidInputError(f"token counter {kind!r} is unknown: use one of {', '.join(KINDS)}")


class Remembering:
    """A counter that remembers the counts of the last 20,000 texts it was given, not the texts; threads may share it."""

    def __init__(self, count: Callable[[str], int], most: int = REMEMBERED) -> None:
        self._count, self._most = count, most
        self._known: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def __call__(self, text: str) -> int:
        """Count the tokens of a text, or remember them."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._known.get(key)
        return self._remember(key, self._count(text)) if known is None else known

    def _remember(self, key: bytes, tokens: int) -> int:
        with self._lock:
            self._known[key] = tokens
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]
        return tokens


def estimate(text: str) -> int:
    """Guess the tokens of a text: four ASCII characters to a token, and one for every other character."""
    ascii_only = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_only / 4) + len(text) - ascii_only


def _count(text: str) -> int:
    encoding = _encoding()
    return _sum_slices(encoding, text) if encoding else estimate(text)


def _count_exactly(text: str) -> int:
    encoding = _encoding()
    if encoding is None:
        raise SettingsError(
            f"the vocabulary o200k_base cannot be had offline: install bpe-openai and set {_FOLDER} to a folder that"
            " can be written, or count with 'auto' or 'estimate'"
        )
    return _sum_slices(encoding, text)


def _sum_slices(encoding: tiktoken.Encoding, text: str) -> int:
    return sum(len(encoding.encode_ordinary(piece)) for piece in _slices(text))


def _slices(text: str) -> Iterator[str]:
    """Cut a text before a blank where one is near, because a blank begins a token and so the sum stays the same."""
    start = 0
    while len(text) - start > SLICE:
        blank = text.rfind(" ", start + SLICE // 2, start + SLICE)
        end = blank if blank > 0 else start + SLICE
        yield text[start:end]
        start = end
    yield text[start:]


def _encoding() -> tiktoken.Encoding | None:
    """Load the vocabulary at the first call of the process; None, from then on, if it could not be."""
    if not _LOADED:
        with _LOCK:
            if not _LOADED:
                _LOADED.append(_load())
    return _LOADED[0]


def _load() -> tiktoken.Encoding | None:
    for folder in _folders():
        if _provide(folder):
            with _tiktoken_looks_in(folder):
                return tiktoken.get_encoding("o200k_base")
    return None


def _folders() -> Iterator[Path]:
    """Where the vocabulary may lie, best place first: what the user named, the user's cache, the temporary folder."""
    if named := os.environ.get(_FOLDER):
        yield Path(named)
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a container's user may have no home
        cache = Path()
    if cache.is_absolute():
        yield cache / "tiktoken"
    yield Path(tempfile.gettempdir()) / "tiktoken"


def _provide(folder: Path) -> bool:
    """Say whether the folder holds the true vocabulary, after putting it there where it is missing or damaged."""
    path = folder / _NAME
    try:
        if path.exists() and _is_true(path.read_bytes()):
            return True
        packed = _packed()
        vocabulary = gzip.decompress(packed.read_bytes()) if packed else b""
        return _is_true(vocabulary) and _write(path, vocabulary)
    except (OSError, EOFError, zlib.error):
        return False


def _is_true(vocabulary: bytes) -> bool:
    return hashlib.sha256(vocabulary).hexdigest() == _SHA256


def _packed() -> Path | None:
    """Find bpe-openai's packed vocabulary without importing the package, whose extension weighs 74 MB."""
    spec = importlib.util.find_spec("bpe_openai")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0], "data", "o200k_base.tiktoken.gz") if places else None


def _write(path: Path, vocabulary: bytes) -> bool:
    """Write the file whole or not at all: other processes may be reading or writing it now. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{secrets.token_hex(8)}")
    try:
        draft.write_bytes(vocabulary)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return True


@contextmanager
def _tiktoken_looks_in(folder: Path) -> Iterator[None]:
    before = os.environ.get(_FOLDER)
    if before == str(folder):
        yield
        return
    os.environ[_FOLDER] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_FOLDER]
        else:
            os.environ[_FOLDER] = before
