"""What keeps memories that settings compose out of contexts, as `om doctor` tells it."""

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from om_api.domain.errors import StoreError
from om_api.settings import Settings
from om_api.settings.composed_memories import lacking_consent
from om_api.settings.files import is_one
from om_api.store.driver.replies import as_bool, as_bytes
from om_api.store.driver.steps import Steps, batch
from om_api.store.driver.tolerant_read import of_many
from om_api.store.fleet import acl
from om_api.store.memory.keys import Keys

_MOST = 1_000  # agents, and memories, that are looked at


class ComposedFault(NamedTuple):
    """A memory that agents compose in vain, why, and what to do about it; `left_out`: somebody should act."""

    agents: tuple[str, ...]
    composed: str
    why: str
    do: str
    left_out: bool = True
    link: str = "would compose"


def composed_faults(settings: Settings, keys: Keys, known: Collection[str]) -> Steps[list[ComposedFault]]:
    """Faults of the links of all agents that have settings or are in `known`.

    They are: links without consent, memories for each thread, and empty memories.
    """
    agents = list(dict.fromkeys([*filter(is_one, settings.agents()), *known]))[:_MOST]
    links = {name: settings.links(name) for name in agents}
    composed = {name: [each.resource for each in found.composed] for name, found in links.items()}
    by = defaultdict[str, list[str]](list)
    for name, others in composed.items():
        for other in others:
            by[other].append(name)
    words = yield from of_many(
        lambda name: batch(as_bytes("GET", keys.of(name).scope), as_bool("EXISTS", keys.of(name).tokens)),
        list(by)[:_MOST],
    )
    found = [unshared(name, *each) for name, found in links.items() for each in found.refused]
    found += [fault for name, said in words.items() for fault in _of_one(tuple(by[name]), name, *said)]
    return found


def user_faults(settings: Settings, keys: Keys) -> Steps[list[ComposedFault] | None]:
    """Redis users with too few or too many rights for the links of their agents; None where users cannot be listed."""
    try:
        users = yield from acl.readers(keys)
    except StoreError:  # this user may not list users, or the server has no such command
        return None
    found: list[ComposedFault] = []
    for user, memories in users.items():
        agent = user.removeprefix(acl.of_all(keys)).rpartition("/")[0]
        linked = {each.resource for each in settings.links(agent).composed}
        found += [_refused(agent, user, each) for each in sorted(linked - memories)]
        found += [_beyond(agent, user, each) for each in sorted(memories - linked - {agent})]
    return found


def unshared(agent: str, other: str, key: str) -> ComposedFault:
    """A link of an agent that the other memory does not permit."""
    why = f"does not permit it: {lacking_consent(agent, other, key)}"
    return ComposedFault((agent,), other, why, f"om config set {other} {key}='[{agent}]', or leave it out of compose")


def _of_one(agents: tuple[str, ...], name: str, word: bytes | None, there: bool) -> list[ComposedFault]:  # noqa: FBT001 - as it was read
    if word == b"thread":
        why = "keeps a memory for each thread, so that there is none to show"
        return [ComposedFault(agents, name, why, f"om migrate-scope {name} --to resource, or leave it out of compose")]
    if word is None and not there:
        return [ComposedFault(agents, name, "holds nothing", "see that it is spelled as its agent is", left_out=False)]
    return []


def _beyond(agent: str, user: str, other: str) -> ComposedFault:
    """A right of a Redis user that no link needs."""
    role = user.rpartition("/")[2]
    return ComposedFault(
        (agent,),
        other,
        f"the user {user} of Redis may read",
        f"om acl {agent} --role {role} --apply",
        link="does not compose",
    )


def _refused(agent: str, user: str, composed: str) -> ComposedFault:
    return ComposedFault((agent,), composed, f"the user {user} of Redis may not read", f"om acl {agent} --apply")
