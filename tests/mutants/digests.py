"""What the files of a tree held when a run began: results rest on that, whatever is edited meanwhile."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

_PATTERNS = ("om_api/**/*.py", "om_api/**/*.lua", "om_workers/**/*.py", "tests/**/*.py")


class Digests:
    """By path, seen from the tree's root."""

    def __init__(self, root: Path) -> None:
        files = [file for pattern in _PATTERNS for file in root.glob(pattern)]
        self._of = {file.relative_to(root).as_posix(): _digest(file.read_bytes()) for file in files}

    def of(self, paths: Iterable[str]) -> str:
        """What some files held, in one word; a file that is not there has one too."""
        return _digest("".join(f"{path} {self._of.get(path)} " for path in sorted(paths)).encode())

    def shared(self) -> str:
        """What the tests share."""
        return self.of(path for path in self._of if path.startswith("tests/") and not _is_own(path))

    def scripts(self) -> list[str]:
        """Every script."""
        return [path for path in self._of if path.endswith(".lua")]


def _is_own(path: str) -> bool:
    return path.rpartition("/")[2].startswith("test_") or path.startswith("tests/mutants/")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
