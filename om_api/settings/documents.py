"""One YAML document, read within bounds: whatever stands in it, it costs little, and says what JSON could say."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import SafeConstructor

from om_api.domain.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from yaml import SafeLoader as _Yaml
    from yaml.nodes import Node
else:
    _Yaml = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's parser, ten times faster, where PyYAML has it

T = TypeVar("T")
MOST_BYTES = 65_536
MOST_VALUES = 2_048
MOST_LEVELS = 20
LONGEST_NUMBER = 100  # characters
_MOST = 2 * MOST_BYTES  # all weights together
_LEAST = _MOST // MOST_VALUES  # the weight of a key or a value: its characters, but at least this
_LONGEST_REASON = 200
_STANDARD = "tag:yaml.org,2002:"
_TEXT, _MERGE = f"{_STANDARD}str", f"{_STANDARD}merge"


def plain(text: str, longest: int = 60) -> str:
    """What others wrote, in one line of printable characters, others spelled out, cut off with `…` after about `longest`."""
    kept = text[:longest]
    shown = kept if kept.isprintable() else "".join(map(_spelled, kept))
    return shown if len(text) <= longest else f"{shown}…"


def _spelled(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def halved(text: str) -> bool:
    """Whether half of a character (a lone surrogate) stands in a text: no UTF-8 says it."""
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


class _BeyondError(ComposerError):
    """YAML, but more of it or of another kind than is read."""

    def __init__(self, text: str, mark: Any) -> None:
        super().__init__(None, None, text, mark)


class _Bounded(Composer):
    """Composes events to nodes while they are few, flat and untagged; an alias weighs all that it stands for."""

    peek_event: Callable[[], Any]

    _weight = _level = 0
    _weights: dict[str, int]

    def compose_node(self, parent: Node | None, index: Any) -> Any:
        event, before = self.peek_event(), self._weight
        self._refuse(event)
        self._level += 1
        node = super().compose_node(parent, index)
        self._level -= 1
        if event.anchor is not None and not isinstance(event, yaml.AliasEvent):
            self._weights[event.anchor] = self._weight - before
        if isinstance(node, yaml.MappingNode):
            _refuse_twice(node)
        return _as_key(node) if index is None and isinstance(parent, yaml.MappingNode) else node

    def _refuse(self, event: Any) -> None:
        """Raise for what goes beyond a bound before it is composed."""
        self._weight += max(_LEAST, self._weight_of(event))
        if self._weight > _MOST:
            text = f"too much; permitted: {MOST_VALUES:,} keys and values, aliases written out"
            raise _BeyondError(text, event.start_mark)
        if self._level >= MOST_LEVELS:
            raise _BeyondError(f"too deep; permitted: {MOST_LEVELS} levels", event.start_mark)
        if (tag := getattr(event, "tag", None)) not in {None, "!"}:
            raise _BeyondError(f"the tag {tag.replace(_STANDARD, '!!')}; permitted: no tags", event.start_mark)

    def _weight_of(self, event: Any) -> int:
        if isinstance(event, yaml.ScalarEvent):
            return len(event.value)
        if not isinstance(event, yaml.AliasEvent):
            return 0
        if event.anchor in self.anchors and event.anchor not in self._weights:
            text = "a value contains itself; permitted: no YAML alias inside its own anchor"
            raise _BeyondError(text, event.start_mark)
        return self._weights.get(str(event.anchor), 0)


def _refuse_twice(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if key.value in seen and key.tag != _MERGE:
            raise ComposerError(None, None, f"the key {key.value} stands here twice", key.start_mark)
        seen.add(key.value)


def _as_key(node: Any) -> Node:
    """A key is text, as it is written; `<<` goes on to merge."""
    if not isinstance(node, yaml.ScalarNode):
        raise _BeyondError("a key that is a list or a mapping; permitted: text", node.start_mark)
    return node if node.tag == _MERGE else yaml.ScalarNode(_TEXT, node.value, node.start_mark, node.end_mark)


class _Loader(_Bounded, _Yaml):
    """Makes what JSON has of nodes: no dates, no sets, no bytes; a date is the text that stands there."""

    def __init__(self, data: bytes | str) -> None:
        _Yaml.__init__(self, data)
        Composer.__init__(self)
        self._weights = {}

    def construct_number(self, node: yaml.ScalarNode) -> float:
        if len(node.value) > LONGEST_NUMBER:
            text = f"a number of {len(node.value):,} characters; permitted: {LONGEST_NUMBER}"
            raise _BeyondError(text, node.start_mark)
        whole = node.tag == f"{_STANDARD}int"
        try:
            return self.construct_yaml_int(node) if whole else self.construct_yaml_float(node)
        except (ValueError, OverflowError):
            raise _BeyondError(f"{node.value} is no number", node.start_mark) from None

    def construct_text(self, node: yaml.ScalarNode) -> str:
        text = str(node.value)
        if halved(text):
            raise _BeyondError("half of a character (a lone surrogate); permitted: whole ones", node.start_mark)
        return text


_Loader.yaml_constructors = {
    **{tag: SafeConstructor.yaml_constructors[tag] for tag in map(_STANDARD.__add__, ("null", "bool", "seq", "map"))},
    **{_STANDARD + kind: _Loader.construct_number for kind in ("int", "float")},
    **{_STANDARD + kind: _Loader.construct_text for kind in ("str", "timestamp", "value", "merge")},
}


def read(file: Path) -> bytes:
    """The file's bytes, one more than may be parsed at most; raises SettingsError.

    Nothing waits for a pipe that nobody writes to.
    """
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return stream.read(MOST_BYTES + 1) or b""
    except OSError as error:
        astray = file.is_symlink() and isinstance(error, FileNotFoundError)
        why = f"it is a link to {file.readlink()}, which is not there" if astray else error.strerror
        raise SettingsError(f"{file}: cannot be read: {why}") from None
    raise SettingsError(f"{file}: cannot be read: not a file, but a pipe or a device")


def lines(data: bytes) -> dict[str, int]:
    """The line on which each key of a document stands, by dotted key; raises SettingsError as `parse` does."""
    node = _loaded(data, "", _Loader.get_single_node)
    return dict(_lines(node)) if node else {}


def tree(text: str, origin: str) -> Node | None:
    """One document as nodes that know where in the text they stand, None if it says nothing; raises as `parse` does."""
    return _loaded(text, origin, _Loader.get_single_node)


def _lines(node: Node, above: str = "") -> Iterator[tuple[str, int]]:
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        dotted = f"{above}{key.value}"
        yield dotted, key.start_mark.line + 1
        yield from _lines(value, f"{dotted}.")


def parse(data: bytes | str, origin: str) -> Any:
    """What one document says, in JSON's types, None if nothing; raises SettingsError naming origin, line and column."""
    return _loaded(data, origin, _Loader.get_single_data)


def _loaded(data: bytes | str, origin: str, load: Callable[[_Loader], T]) -> T:
    if len(data) > MOST_BYTES:
        raise SettingsError(f"{origin}: larger than {MOST_BYTES:,} bytes; permitted: up to that")
    try:
        return load(_Loader(data))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = "" if isinstance(error, _BeyondError) else "not YAML: "
        raise SettingsError(f"{origin}{where}: {what}{plain(str(error.problem), _LONGEST_REASON)}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = plain(str(error).partition("\n")[0], _LONGEST_REASON)
        raise SettingsError(f"{origin}: not YAML: {reason}") from None
