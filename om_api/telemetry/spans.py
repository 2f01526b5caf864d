"""Spans as the rest of the code says them: a no-op that costs nothing measurable while nothing is traced.

No text of a message, a prompt, a note or a query is ever given to a span, nor what an error says: ids, numbers and words of ours.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal, Protocol, Self, TypeAlias

from om_api.domain.values import Scope

Kind: TypeAlias = Literal["internal", "server", "client", "producer", "consumer"]
OURS = "cortex_om."  # before the names of our own attributes
LINKS = 8  # of one span: those that were told last


class OurSpan(Protocol):
    """A piece of work while it is done: within `with` it is the current one."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def note(self, plain: Mapping[str, Any] | None = None, /, **ours: Any) -> None:
        """Say what came of it: attributes by their whole names, and ours. None is not said."""

    def link(self, traceparents: Iterable[str]) -> None:
        """Say what it goes on from, oldest first: of many the last."""

    def rename(self, name: str) -> None:
        """Give it another name, known only now."""

    def apart(self) -> Self:
        """The same, which does not become the current one: for steps, which another thread may go on with."""

    def leave(self) -> None:
        """Tell nothing of it: there was nothing to do."""


class Recorder(Protocol):
    """What makes spans while something is traced."""

    def span(
        self,
        name: str,
        kind: Kind,
        links: Iterable[str],
        parent: str,
        plain: Mapping[str, Any],
        ours: Mapping[str, Any],
    ) -> OurSpan:
        """A span that has not begun."""

    def current(self) -> OurSpan:
        """The span that is being done."""

    def traceparent(self) -> str:
        """Its name, "" where it is not exported."""

    def ids(self) -> dict[str, str]:
        """The same as a line of log takes it."""

    def caused_by(self, traceparent: str) -> AbstractContextManager[None]:
        """Have what begins a trace within link to a span of another process."""


class _Nothing:
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...
    def note(self, _: Mapping[str, Any] | None = None, /, **__: Any) -> None: ...
    def link(self, _: Iterable[str]) -> None: ...
    def rename(self, _: str) -> None: ...
    def apart(self) -> Self:
        return self

    def leave(self) -> None: ...


NOTHING: OurSpan = _Nothing()
_held: list[Recorder] = []  # of this process, if it traces


def use(recorder: Recorder | None) -> None:
    """Have this process trace by a recorder, or (None) not."""
    _held[:] = [recorder] if recorder else []


@contextmanager
def paused() -> Iterator[None]:
    """Within it nothing is traced in this process."""
    held = [*_held]
    use(None)
    try:
        yield
    finally:
        _held[:] = held


def on() -> bool:
    """Whether anything is traced."""
    return bool(_held)


def span(
    name: str,
    kind: Kind = "internal",
    plain: Mapping[str, Any] | None = None,
    *,
    links: Iterable[str] = (),
    parent: str = "",
    **ours: Any,
) -> OurSpan:
    """A piece of work to be told, begun by `with`; an error that ends it is told by its kind alone.

    `links` are spans that it goes on from, `parent` one of another process; `plain` and `ours` as OurSpan.note says.
    """
    return _held[0].span(name, kind, links, parent, plain or {}, ours) if _held else NOTHING


def current() -> OurSpan:
    """The span that is being done here."""
    return _held[0].current() if _held else NOTHING


def traceparent() -> str:
    """The name of the current span, for what is made by it to carry; "" where there is none that is exported."""
    return _held[0].traceparent() if _held else ""


def caused_by(name: str) -> AbstractContextManager[None]:
    """Have what begins a trace within link to the span of that name ("": to none)."""
    return _held[0].caused_by(name) if _held and name else nullcontext()


def committing(scope: Scope, links: Iterable[str]) -> OurSpan:
    """A script that changes what a memory holds, which goes on from those spans."""
    return span("om.commit", links=links, resource=scope.resource, thread=scope.thread) if _held else NOTHING


def log_ids(_: Any, __: str, line: dict[str, Any]) -> dict[str, Any]:
    """A processor of structlog: the ids of the current span stand in each line that is written within."""
    return line | _held[0].ids() if _held else line
