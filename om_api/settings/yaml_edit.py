"""Changing a document of YAML by as few characters as will do: comments, order and whatever else stands there stay."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import SETTINGS, Key, dotted
from om_api.settings.documents import parse, tree

_ALIAS = re.compile(r"\s*:\s*\*[^\s,\[\]{}]+")
_COLON = re.compile(r"\s*:")
_STEP = 2  # columns
_WIDE = 2**31  # characters: a value stays on its line
_BY_HAND = "is written in a way that cannot be changed from here: change it by hand"


class YamlPair(NamedTuple):
    """A key with its value, and the mapping that they stand in."""

    key: Any  # nodes, whose attributes PyYAML's stubs do not all know
    value: Any
    within: Any


def edited(text: str, stated: Mapping[Key, Any], removed: Sequence[Key], origin: str) -> str:
    """The text with these keys set and those taken out; raises SettingsError where that cannot be done, naming `origin`.

    Nobody is handed a text that says anything else: it is read again, and compared with what was meant.
    """
    was = _leaves(parse(text, origin))
    after = text
    for path in removed:
        after = _without(after, path, origin)
    for path, value in stated.items():
        after = _with(after, path, value, origin)
    meant = {path: value for path, value in was.items() if path not in removed} | dict(stated)
    keys = ", ".join(dotted(path[1:]) for path in (*stated, *removed))
    try:
        says = _leaves(parse(after, origin))
    except SettingsError as error:
        raise SettingsError(f"{error}; with {keys} changed: change it by hand") from None
    if says != meant:
        raise SettingsError(f"{origin}: {keys} {_BY_HAND}")
    return after


def _leaves(data: Any, path: Key = ()) -> dict[Key, Any]:
    """What a document says, by path, without groups in which nothing is said."""
    if isinstance(data, dict) and (data or path[1:] not in SETTINGS):
        return {key: value for name, part in data.items() for key, value in _leaves(part, (*path, name)).items()}
    return {} if data is None and path[1:] not in SETTINGS else {path: data}


def _found(text: str, path: Key, origin: str) -> tuple[Node | None, list[YamlPair]]:
    """The document, and the places along a path as far as there are any."""
    root = node = tree(text, origin)
    places: list[YamlPair] = []
    for name in path:
        pairs = node.value if isinstance(node, MappingNode) else ()
        found = next(((key, value) for key, value in pairs if key.value == name), None)
        if found is None:
            break
        places.append(YamlPair(found[0], found[1], node))
        node = found[1]
    return root, places


def _with(text: str, path: Key, value: Any, origin: str) -> str:
    root, places = _found(text, path, origin)
    within: Any
    rest, said = path[len(places) :], _dumped(value)
    if not rest:
        return _replaced(text, places[-1], said)
    within = places[-1].value if places else root
    if places and _is_alias(places[-1]):
        raise SettingsError(f"{origin}: {dotted(path[1 : len(places)])} {_BY_HAND}")
    if isinstance(within, MappingNode) and within.value and not within.flow_style:
        last = _last(within)
        return _line_below(text, _end(text, last), within.value[0][0].start_mark.column, rest, said)
    if isinstance(within, MappingNode):
        return _in_braces(text, within, rest, said)
    if within is None:
        return _line_below(text, len(text.rstrip()), 0, rest, said)
    if not places or not isinstance(within, ScalarNode) or within.value not in {"", "~", "null"}:
        raise SettingsError(f"{origin}: {dotted(path[1 : len(places)]) or path[0]} {_BY_HAND}")
    return _in_nothing(text, places[-1], rest, said)


def _replaced(text: str, place: YamlPair, said: str) -> str:
    """Another value in the place of one, with the comments between it and its key."""
    colon, end = _colon(text, place), _end(text, place)
    between = "" if _is_alias(place) else text[colon : place.value.start_mark.index].rstrip()
    return f"{text[:colon]} {said}{between}{text[end:]}"


def _line_below(text: str, end: int, column: int, rest: Key, said: str) -> str:
    """Lines of their own under the one on which something ends."""
    newline = "\r\n" if "\r\n" in text else "\n"
    at = text.find("\n", end) + 1 if "\n" in text[end:] else len(text)
    lines = [f"{' ' * (column + _STEP * deep)}{_dumped(name)}:" for deep, name in enumerate(rest)]
    before = "" if at == 0 or text[at - 1] == "\n" else newline
    return f"{text[:at]}{before}{newline.join(lines)} {said}{newline}{text[at:]}"


def _in_braces(text: str, within: MappingNode, rest: Key, said: str) -> str:
    if within.value:
        at, comma = _end(text, _last(within)), ", "
    else:
        at, comma = within.start_mark.index + 1, ""
    return f"{text[:at]}{comma}{_nested(rest, said)}{text[at:]}"


def _in_nothing(text: str, place: YamlPair, rest: Key, said: str) -> str:
    """In a group that stands there and says nothing."""
    start, end = place.value.start_mark.index, place.value.end_mark.index
    if place.within.flow_style:
        return f"{text[:start].rstrip()} {{{_nested(rest, said)}}}{text[end:]}"
    bare = text[:start].rstrip(" ") + text[end:]
    return _line_below(bare, len(text[:start].rstrip(" ")), place.key.start_mark.column + _STEP, rest, said)


def _nested(rest: Key, said: str) -> str:
    *above, last = map(_dumped, rest)
    return f"{''.join(f'{name}: {{' for name in above)}{last}: {said}{'}' * len(above)}"


def _without(text: str, path: Key, origin: str) -> str:
    """The text without a key, and without the groups that hold nothing else; comments above it stay."""
    _, places = _found(text, path, origin)
    if len(places) < len(path):
        return text
    here = len(places) - 1
    while here and len(places[here].within.value) == 1 and "#" not in _between(text, places[here - 1], places[here]):
        here -= 1
    place = places[here]
    return _out_of_braces(text, place) if place.within.flow_style else _out_of_lines(text, place)


def _between(text: str, group: YamlPair, place: YamlPair) -> str:
    return text[group.key.end_mark.index : place.key.start_mark.index]


def _out_of_lines(text: str, place: YamlPair) -> str:
    start = text.rfind("\n", 0, place.key.start_mark.index) + 1
    end = text.find("\n", _end(text, place)) + 1 or len(text)
    return text[:start] + text[end:]


def _out_of_braces(text: str, place: YamlPair) -> str:
    pairs = [YamlPair(key, value, place.within) for key, value in place.within.value]
    here = next(n for n, pair in enumerate(pairs) if pair.key is place.key)
    start, end = place.key.start_mark.index, _end(text, place)
    if here + 1 < len(pairs):
        end = pairs[here + 1].key.start_mark.index
    elif here:
        start = _end(text, pairs[here - 1])
    return text[:start] + text[end:]


def _colon(text: str, place: YamlPair) -> int:
    """Where the colon behind a key ends."""
    found = _COLON.match(text, place.key.end_mark.index)
    return found.end() if found else place.key.end_mark.index


def _is_alias(place: YamlPair) -> bool:
    """Whether the value is another's, written `*name`: its node is that of where it was named."""
    return bool(place.value.start_mark.index < place.key.end_mark.index)


def _end(text: str, place: YamlPair) -> int:
    """Where a value ends: behind its last character, not where the next thing begins."""
    key, value = place.key, place.value
    if _is_alias(place):
        found = _ALIAS.match(text, key.end_mark.index)
        return found.end() if found else key.end_mark.index
    inner = list(_inner(value))
    if inner and not value.flow_style:
        return _end(text, inner[-1])
    return len(text[: max(value.end_mark.index, _colon(text, place))].rstrip())


def _last(within: Any) -> YamlPair:
    key, value = within.value[-1]
    return YamlPair(key, value, within)


def _inner(value: Any) -> Iterator[YamlPair]:
    """What stands in a mapping or a list, each item of a list being its own key."""
    for item in value.value if isinstance(value, CollectionNode) else ():
        key, inner = item if isinstance(item, tuple) else (Node("", "", value.start_mark, value.start_mark), item)
        yield YamlPair(key, inner, value)


def _dumped(value: Any) -> str:
    """A value as YAML writes it within a line."""
    style = '"' if isinstance(value, str) and not value.isprintable() else None
    said = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=_WIDE, default_style=style)
    return str(said).strip()[1:-1]
