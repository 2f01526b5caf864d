"""Whether an item's value has what a filter asks for: equal fields, or fields compared by $eq, $ne, $gt, $gte, $lt, $lte."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from om_api.domain.errors import InvalidInputError

_EQUAL: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"$eq": operator.eq, "$ne": operator.ne}
_ORDERED: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def check_filter(wanted: Mapping[str, Any] | None) -> None:
    """Raise InvalidInputError for a filter with an operator that there is not, or one that compares what is no number."""
    for asked in (wanted or {}).values():
        if isinstance(asked, Mapping) and not _compares(asked):
            check_filter(asked)
        for name, bound in asked.items() if isinstance(asked, Mapping) and _compares(asked) else ():
            if name not in {*_EQUAL, *_ORDERED}:
                raise InvalidInputError(f"a filter knows no {name!r}: use one of {', '.join([*_EQUAL, *_ORDERED])}")
            if name in _ORDERED and _number(bound) is None:
                raise InvalidInputError(f"a filter's {name} compares numbers, not {bound!r}: give one")


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether every field that a checked filter names is as it says; a field that is no number is neither more nor less."""
    return all(_is(value.get(name), asked) for name, asked in (wanted or {}).items())


def _compares(asked: Mapping[str, Any]) -> bool:
    return any(str(name).startswith("$") for name in asked)


def _is(found: Any, asked: Any) -> bool:
    if isinstance(asked, Mapping):
        if _compares(asked):
            return all(_compared(found, name, bound) for name, bound in asked.items())
        return isinstance(found, Mapping) and matches(found, asked)
    if isinstance(asked, list | tuple):
        alike = isinstance(found, list | tuple) and len(found) == len(asked)
        return alike and all(_is(*pair) for pair in zip(found, asked, strict=True))
    return bool(found == asked)


def _compared(found: Any, name: str, bound: Any) -> bool:
    if name in _EQUAL:
        return _EQUAL[name](found, bound)
    has, limit = _number(found), _number(bound)
    return has is not None and limit is not None and _ORDERED[name](has, limit)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
