"""Hooks of a test's own: entry points as if a package had installed them, and how settings name them."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from om_api.hooks import entry_points


class Installed(NamedTuple):
    """What stands for an entry point of the standard library's."""

    function: Callable[[Any], Any]

    def load(self) -> Callable[[Any], Any]:
        return self.function


class HookHouse:
    """`installed` are its entry points; one that hangs does until the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.installed: dict[str, Any] = {}

    def install(self, **functions: Callable[[Any], Any]) -> None:
        self.installed |= {name: Installed(function) for name, function in functions.items()}

    def install_bad(self) -> None:
        """One for each way to fail but being `missing`: it raises, hangs, or answers nonsense."""
        self.install(raises=lambda _: 1 / 0, hangs=lambda _: self.over.wait(30), nonsense=lambda _: {"words": 1})


@contextlib.contextmanager
def hooks_installed(monkeypatch: Any) -> Any:
    """A house of hooks, while the block runs."""
    house = HookHouse()
    monkeypatch.setattr(entry_points, "installed", lambda: house.installed)
    yield house
    house.over.set()


def hooked(point: str, *names: str, **said: Any) -> dict[str, str]:
    """Settings that name entry points at a point."""
    listed = [{"entry_point": name, "timeout": 0.3, **said} for name in names]
    return {f"hooks__{point}": msgspec.json.encode(listed).decode()}
