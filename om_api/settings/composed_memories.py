"""Which other memories an agent's contexts are composed of: read from `compose`, and refused where they lead back to it."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationError

from om_api.domain.values import is_id
from om_api.settings.fields import MAX_TOKENS, Group, setting

MOST_COMPOSED = 8
LEAST_COMPOSED, COMPOSED_TOKENS = 400, 4_000  # tokens of one
KINDS = ("decisions", "preferences", "facts")
PERMITTED = (
    f"up to {MOST_COMPOSED}, each once: a resource's id, or resource with max_tokens ({LEAST_COMPOSED} to {MAX_TOKENS:,}) and "
    f"share (of {', '.join(KINDS)})"
)


class ComposedMemory(Group):
    """A memory that another one's contexts show: whose it is, how much of it, and what of the own notes it is told."""

    resource: str
    max_tokens: int = setting(COMPOSED_TOKENS, "most of it in a context", "tokens", ge=LEAST_COMPOSED, le=MAX_TOKENS)
    share: tuple[str, ...] = ()


def _composed(value: object) -> tuple[ComposedMemory, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST_COMPOSED:
        raise ValueError("not a list of them")
    found = tuple(each if isinstance(each, ComposedMemory) else _one(each) for each in value)
    if len({each.resource for each in found}) < len(found):
        raise ValueError("one stands here twice")
    return found


def _one(value: object) -> ComposedMemory:
    """One of a list, as YAML says it."""
    said: dict[Any, Any] = {"resource": value} if isinstance(value, str) else value if isinstance(value, dict) else {}
    share = said.get("share") or ()
    if not is_id(said.get("resource")) or not isinstance(share, list | tuple) or not {*map(str, share)} <= {*KINDS}:
        raise ValueError("no memory, or nothing that can be shared")
    try:
        return ComposedMemory(**{**said, "share": tuple(dict.fromkeys(share))})
    except (ValidationError, TypeError):
        raise ValueError("no such field, or too many tokens") from None


Composed = Annotated[tuple[ComposedMemory, ...], PlainValidator(_composed)]


def composed_by(memories: Collection[ComposedMemory], resource: str) -> list[ComposedMemory]:
    """What a resource composes: nobody composes itself, though what holds for all may name it."""
    return [each for each in memories if each.resource != resource]


def shared_kinds(memories: Collection[ComposedMemory]) -> list[str]:
    """What of the own notes any of them is told."""
    return [kind for kind in KINDS if any(kind in each.share for each in memories)]


def leads_back(name: str, own: Mapping[str, Collection[str]]) -> list[str]:
    """The way from an agent over what each composes back to it, both ends included; [] where there is none."""
    ways, met = [[name]], set[str]()
    while ways:
        way = ways.pop()
        for each in own.get(way[-1], ()):
            if each == name:
                return [*way, name]
            if each not in met:
                met.add(each)
                ways.append([*way, each])
    return []


def why_not(way: Collection[str]) -> str:
    """What is wrong where an agent's own settings lead back to it."""
    first, *between, _ = way
    if not between:
        return f"compose names {first} itself; permitted: other memories"
    over = " which composes ".join([*between, first])
    return f"compose leads in a circle: {first} composes {over}; permitted: memories that do not lead back"
