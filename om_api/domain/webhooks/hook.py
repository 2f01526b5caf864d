"""Hooks: code of an operator's own that sees what goes to a model, or comes from it, and may change it."""

from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from om_api.domain.errors import HookError

Point = Literal["before_observe", "after_observe", "before_reflect", "after_reflect", "before_context"]
Policy = Literal["skip", "stop"]
Fault = Literal["timeout", "error", "answer", "missing"]
Given = dict[str, Any]  # what a hook is handed, as JSON has it


class Hook(NamedTuple):
    """One hook as settings name it: an entry point or a URL, how many seconds it has, and what its failure means."""

    entry_point: str = ""
    url: str = ""
    secret_env: str = ""
    timeout: float = 2.0
    on_failure: Policy = "skip"

    @property
    def name(self) -> str:
        """What it is called: of a URL its host alone, for the rest may be a secret."""
        return self.entry_point or urlsplit(self.url).netloc


class HookFailure(NamedTuple):
    """That a hook failed at a point, and how. `detail` may hold its own words: for whoever tries it, and for no log."""

    point: Point
    hook: Hook
    why: Fault
    detail: str = ""


class Hooked(NamedTuple):
    """What hooks made of what they were given, which of them failed, and whether one of these has it stop."""

    given: Given
    failures: tuple[HookFailure, ...] = ()

    def go_on(self, resource: str, instead: str) -> Given:
        """What hooks made of it; raises HookError, which says what is done `instead`, where one failed that says stop."""
        for each in self.failures:
            if each.hook.on_failure == "stop":
                raise HookError(
                    f"the hook {each.hook.name} of {each.point} failed ({each.why}), and says stop: {instead}. Mend it, or set"
                    f" its on_failure to skip: om hooks list {resource}"
                )
        return self.given
