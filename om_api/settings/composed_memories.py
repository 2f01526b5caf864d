"""Which other memories an agent's contexts are composed of: read from `compose`, and refused where they lead back to it."""

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import PlainValidator

from om_api.domain.values import is_id
from om_api.settings.sections.fields import MAX_TOKENS, Mapped

MOST_COMPOSED = 8
LEAST_COMPOSED, COMPOSED_TOKENS = 400, 4_000  # tokens of one
KINDS = ("decisions", "preferences", "facts")
PERMITTED = (
    f"up to {MOST_COMPOSED}, each once: a resource's id, or resource with max_tokens ({LEAST_COMPOSED} to {MAX_TOKENS:,}) and "
    f"share (of {', '.join(KINDS)})"
)


class ComposedMemory(NamedTuple):
    """A memory that another one's contexts show: whose it is, how much of it, and what of the own notes it is told."""

    resource: str
    max_tokens: int = COMPOSED_TOKENS
    share: tuple[str, ...] = ()


def _composed(value: object) -> tuple[Mapped, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST_COMPOSED:
        raise ValueError("not a list of them")
    found = tuple(map(_one, value))
    if len({each["resource"] for each in found}) < len(found):
        raise ValueError("one stands here twice")
    return found


def _one(value: object) -> Mapped:
    """One of a list, as YAML says it, with all that it leaves out."""
    said: dict[Any, Any] = {"resource": value} if isinstance(value, str) else value if isinstance(value, dict) else {}
    share, most = said.get("share") or (), said.get("max_tokens", COMPOSED_TOKENS)
    if not is_id(said.get("resource")) or not said.keys() <= {*ComposedMemory._fields}:
        raise ValueError("no memory, or no such field")
    if not isinstance(share, list | tuple) or not {*map(str, share)} <= {*KINDS}:
        raise ValueError("nothing that can be shared")
    if isinstance(most, bool) or not isinstance(most, int) or not LEAST_COMPOSED <= most <= MAX_TOKENS:
        raise ValueError("out of range")
    return Mapped({"resource": said["resource"], "max_tokens": most, "share": list(dict.fromkeys(share))})


Composed = Annotated[tuple[Mapped, ...], PlainValidator(_composed)]
Stated: TypeAlias = Iterable[Mapping[str, Any]]  # as settings hold it


def composed_by(stated: Stated, resource: str) -> list[ComposedMemory]:
    """What a resource composes: nobody composes itself, though what holds for all may name it."""
    every = (ComposedMemory(each["resource"], each["max_tokens"], tuple(each["share"])) for each in stated)
    return [each for each in every if each.resource != resource]


def shared_kinds(stated: Stated) -> list[str]:
    """What of the own notes any of them is told."""
    told = {kind for each in stated for kind in each["share"]}
    return [kind for kind in KINDS if kind in told]


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
