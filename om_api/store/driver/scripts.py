"""Lua scripts as callable verbs: loaded from lua/, their headers parsed, their keys counted before a call leaves."""

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from om_api.domain.errors import StoreError
from om_api.store.driver.replies import command, write
from om_api.store.driver.steps import ALONE, Node, Nodes, Steps, at

_HEADER = re.compile(r"-- (\w+)\(([^;)]*);([^)]*)\)")
_USES = re.compile(r"^-- uses (\w+)$", re.MULTILINE)
_GROUP = re.compile(r"\[([^\]\[]*)\]\.\.\.")


class Script(NamedTuple):
    """One verb: its source, and the numbers of keys that its header permits."""

    name: str
    source: str
    sha: str
    fixed: int
    groups: tuple[int, ...]

    def check(self, keys: int) -> None:
        """Raise TypeError unless a call with this many keys fits the header."""
        extra = keys - self.fixed
        if extra < 0 or (extra and not self.groups) or (len(self.groups) == 1 and extra % self.groups[0]):
            raise TypeError(f"{self.name}.lua takes {self.signature()} keys, not {keys}")

    def signature(self) -> str:
        """How many keys: a number, and what may repeat."""
        return " + n x ".join(str(n) for n in (self.fixed, *self.groups))


def parse(name: str, source: str) -> Script:
    """Read a script's first line: `-- verb(key, [key, key]...; arg, ...)`; raises ValueError when it says otherwise."""
    header = _HEADER.match(source)
    if not header or header[1] != name:
        raise ValueError(f"the first line of {name}.lua must be its signature: -- {name}(key, ...; argument, ...)")
    groups = tuple(len(group.split(",")) for group in _GROUP.findall(header[2]))
    fixed = [key for key in _GROUP.sub("", header[2]).split(",") if key.strip()]
    return Script(name, source, _sha(source), len(fixed), groups)


def _sha(source: str) -> str:
    return hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


@cache
def load_all(*, cluster: bool = False) -> dict[str, Script]:
    """Every verb by its name; those for a Cluster take one key more, see `absent`."""
    folder = files("om_api.store") / "lua"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".lua"))
    verbs = {name[:-4]: parse(name[:-4], whole((folder / name).read_text("utf-8"))) for name in names}
    if not cluster:
        return verbs
    taking = {name: f"KEYS[#KEYS] = nil\n{verb.source}" for name, verb in verbs.items()}
    return {name: verb._replace(source=taking[name], sha=_sha(taking[name])) for name, verb in verbs.items()}


def absent(key: str) -> str:
    """A key of a key's slot that never exists: with it a script runs where all of its slot is, or not at all.

    A node that gives a slot away runs scripts all of whose keys it still has. Time 0: a script takes the last member out of
    a set, which is gone by that. Time 1: it adds another one. Time 2: the node says that the set must be elsewhere by now, and
    ends the script, of which half was written. Where a key is missing from the beginning, it says to try again.
    """
    return f"{key}:absent" if "{" in key else f"{key}:absent:{{{key}}}"


def whole(source: str) -> str:
    """A script with what it shares with others, which a line `-- uses name` names: `shared/name.lua`, as the local `name`."""
    shared = files("om_api.store") / "lua" / "shared"

    def included(found: re.Match[str]) -> str:
        return f"local {found[1]} = (function()\n{(shared / f'{found[1]}.lua').read_text('utf-8')}end)()"

    return _USES.sub(included, source)


def provide() -> Steps[int]:
    """Have every server hold every script, for users who may run them and not bring any; how many were missing.

    A server forgets them when it starts again, and a replica that takes over has none; those of a Cluster get them before.
    Raises StoreError when a primary cannot be given them; the others have been.
    """
    missing, failed = 0, None
    for node in (yield from Nodes()):
        try:
            missing += yield from _provide(node)
        except StoreError as error:
            failed = error if node.primary else failed
    if failed:
        raise failed
    return missing


def _provide(node: Node) -> Steps[int]:
    verbs = list((load_all() if node is ALONE else load_all(cluster=True)).values())
    held = yield from at(node, command(_flags, "SCRIPT EXISTS", *(verb.sha for verb in verbs)))
    missing = [verb for verb, there in zip(verbs, held, strict=True) if not there]
    for verb in missing:
        yield from at(node, write(("SCRIPT LOAD", verb.source)))
    return len(missing)


def _flags(reply: Any) -> list[bool]:
    return [bool(flag) for flag in reply]
