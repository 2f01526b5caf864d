"""Links between memories: `compose`, the consent of the other memory, and circles, which are refused."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import BeforeValidator, PlainValidator

from om_api.domain.values import is_id
from om_api.settings.sections.fields import MAX_TOKENS, Mapped

MOST_COMPOSED = 8
LEAST_COMPOSED, COMPOSED_TOKENS = 400, 4_000  # tokens of one
KINDS = ("decisions", "preferences", "facts")
PERMITTED = (
    f"up to {MOST_COMPOSED}, each once: a resource's id, or resource with max_tokens ({LEAST_COMPOSED} to {MAX_TOKENS:,}) and "
    f"share (of {', '.join(KINDS)})"
)

MOST_CONSENTS = 100
CONSENTS_PERMITTED = f"up to {MOST_CONSENTS} resource ids or globs of them, such as [alice, team-*]"
_NAME = re.compile(r"[A-Za-z0-9._:@+*?\[\]!-]{1,200}")


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


def _consents(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST_CONSENTS:
        raise ValueError("not a list of them")
    if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in value):
        raise ValueError("not a name or a glob")
    return tuple(dict.fromkeys(value))


Composed = Annotated[tuple[Mapped, ...], PlainValidator(_composed)]
Consents = Annotated[tuple[str, ...], BeforeValidator(_consents)]
Stated: TypeAlias = Iterable[Mapping[str, Any]]  # as settings hold it


class Consent(NamedTuple):
    """Who may compose a memory, and who may share into it: ids or globs."""

    composed_by: tuple[str, ...]
    shared_by: tuple[str, ...]


class Links(NamedTuple):
    """The links of a memory's `compose`: with consent, and without.

    `composed` may be read, `shared` may be written to. `refused` names other memories, each with its setting that does not
    consent. `circles` are the memories whose link closes a circle; it is not in force.
    """

    composed: tuple[ComposedMemory, ...] = ()
    shared: tuple[ComposedMemory, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    circles: tuple[str, ...] = ()


def named_memories(stated: Stated, resource: str) -> list[ComposedMemory]:
    """The memories that `compose` names, without the resource itself: a base file may name it for all."""
    every = (ComposedMemory(each["resource"], each["max_tokens"], tuple(each["share"])) for each in stated)
    return [each for each in every if each.resource != resource]


def shared_kinds(stated: Stated) -> list[str]:
    """The kinds of own notes that `compose` shares with any memory."""
    shared = {kind for each in stated for kind in each["share"]}
    return [kind for kind in KINDS if kind in shared]


def links_of(stated: Stated, resource: str, consent_of: Callable[[str], Consent], circles: Sequence[str] = ()) -> Links:
    """Sort what `compose` of a resource names by whether the other side permits it; links to `circles` are left out."""
    composed, shared, refused = list[ComposedMemory](), list[ComposedMemory](), list[tuple[str, str]]()
    for memory in named_memories(stated, resource):
        if memory.resource in circles:
            continue
        consent = consent_of(memory.resource)
        if _permits(consent.composed_by, resource):
            composed.append(memory)
        else:
            refused.append((memory.resource, "composed_by"))
        if memory.share and _permits(consent.shared_by, resource):
            shared.append(memory)
        elif memory.share:
            refused.append((memory.resource, "shared_by"))
    return Links(tuple(composed), tuple(shared), tuple(refused), tuple(circles))


def _permits(names: Iterable[str], resource: str) -> bool:
    return any(fnmatchcase(resource, name) for name in names)


def consented(own: Mapping[str, Iterable[str]], consent_of: Callable[[str], Consent]) -> dict[str, list[str]]:
    """The links of agents that are in force; `own` names what each composes. A link to itself counts, too."""

    def is_in_force(name: str, other: str) -> bool:
        consent = consent_of(other)
        return other == name or _permits((*consent.composed_by, *consent.shared_by), name)

    return {name: [each for each in others if each in own and is_in_force(name, each)] for name, others in own.items()}


def lacking_consent(resource: str, other: str, key: str) -> str:
    """Why a link is not in force, and what to do about it."""
    return f"{key} of {other} does not name {resource}: add it there first (docs/composed-memories.md#consent)"


def way_between(first: str, last: str, links: Mapping[str, Iterable[str]]) -> list[str]:
    """A way over links from one memory to another one, both ends included; [] if there is none."""
    ways, met = [[first]], {first}
    while ways:
        way = ways.pop()
        if way[-1] == last:
            return way
        for each in links.get(way[-1], ()):
            if each not in met:
                met.add(each)
                ways.append([*way, each])
    return []


def closing_links(links: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The links that close a circle, by agent.

    Agents are taken in the order of their names, so the result depends on the links alone, and not on which was loaded first.
    """
    try:
        TopologicalSorter(links).prepare()
    except CycleError:
        pass
    else:
        return {}
    open_, closing = dict[str, list[str]](), defaultdict[str, list[str]](list)
    for name in sorted(links):
        open_[name] = []
        for other in links[name]:
            (closing if way_between(other, name, open_) else open_)[name].append(other)
    return {name: tuple(others) for name, others in closing.items()}


def new_circle(before: Mapping[str, Sequence[str]], then: Mapping[str, Sequence[str]]) -> list[str]:
    """A circle that a link closes which was not there before, its first memory also being the last; [] if there is none."""
    for name, others in then.items():
        for other in others:
            if other not in before.get(name, ()) and (way := way_between(other, name, then)):
                return [name, *way]
    return []


def circle_of(first: str, second: str) -> str:
    """What is wrong with a link that leads back to where it begins. It names the two memories of the link only."""
    if first == second:
        return f"compose names {first} itself; permitted: other memories"
    return (
        f"compose leads in a circle: {first} composes {second}, which leads back to it; permitted: memories that do not"
    )
