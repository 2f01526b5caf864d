"""Hooks that are Python functions: entry points of the group `cortex_om.hooks`, by the names they were installed under."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from om_api.hooks.faults import MissingHookError

GROUP = "cortex_om.hooks"


@cache
def installed() -> Mapping[str, EntryPoint]:
    """Those of this process' environment, looked for once."""
    return {each.name: each for each in entry_points(group=GROUP)}


def function_of(name: str) -> Callable[[Any], Any]:
    """The function behind a name; it is imported at its first call. Raises MissingHookError."""
    if name not in installed():
        raise MissingHookError(f"no package that is installed here has the entry point {name} of the group {GROUP}")
    try:
        found: Callable[[Any], Any] = installed()[name].load()
    except (ImportError, AttributeError) as error:
        raise MissingHookError(f"the entry point {name} cannot be imported: {error}") from error
    return found
