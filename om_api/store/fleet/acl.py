"""Redis' own users: what an agent, and what our processes, may do at the store itself; made, listed and ended.

A key that `om keys` makes is asked for at the HTTP API only: whoever talks to Redis passes it by, and is stopped here.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError, NotPermittedError, StoreError
from om_api.domain.naming.ids import escape_id, unescape_id
from om_api.domain.values import check_id
from om_api.store.driver.partitions import PartedIndex
from om_api.store.driver.replies import as_bytes, as_int, as_list, command, fields, write
from om_api.store.driver.scripts import provide
from om_api.store.driver.steps import Askable, Node, Nodes, Steps, at
from om_api.store.items.namespaces import name_of
from om_api.store.memory.keys import Keys

ROLES = (Role.READER, Role.WRITER)
LEAST_PASSWORD = 16
_DAY = "????-??-??"  # as long as a day is, so that no other resource's bill fits
_CONNECT = ("auth", "hello", "ping", "select", "quit", "time", "multi", "exec", "discard", "wait")
_ON_A_CLUSTER = ("asking", "cluster|slots", "command", "readonly")
_READ = (
    *("get", "hget", "hgetall", "hlen", "hmget", "exists"),
    *("lrange", "llen"),
    *("zcard", "zcount", "zrange", "zscore"),
)
_WRITE = (
    *("set", "hset", "hdel", "hincrby", "expire", "pexpireat", "persist", "unlink", "rename"),
    *("zadd", "zrem", "zremrangebyscore"),
    *("mget", "pttl", "ttl", "zrangebyscore"),  # whoever erases what was archived has it archived again
)
_BROKER = ("ticks", "observe", "reflect", "maintenance", "celery", "unacked", "_kombu.binding", "*.celery.pidbox")
# all channels: Celery subscribes to patterns, and a pattern is permitted only where the rule is that very pattern
_OURS = ("&*", "+@all", "-@admin", "-@dangerous", "-function", "-script|flush", "+info", "+config|get")
T = TypeVar("T")
_EVERYBODY = "default"  # who a connection is before it logs in, and after RESET
_ANEW = ("on", "resetkeys", "resetchannels", "clearselectors", "-@all")


class StoreUser(NamedTuple):
    """A Redis ACL user: its name, and what stands behind `resetkeys resetchannels clearselectors -@all` in its rules."""

    name: str
    rules: tuple[str, ...]

    def line(self, passwords: Sequence[str] = ()) -> str:
        """The command that makes this user anew, as redis-cli takes it; `passwords` as `kept` writes them."""
        return " ".join(("ACL SETUSER", self.name, "reset", "on", *passwords, *self.rules))


def agent(keys: Keys, resource: str, role: Role, composed: Sequence[str] = ()) -> StoreUser:
    """Who may read one resource's memory, or also write it: its keys, its bill, and for a writer the workers' bells.

    Of the memories that its settings compose it may read all, and write nothing.

    Of items those of namespaces that begin with its name; a writer may tell the index that there are such.
    Scripts run with the rights of whoever calls them; EVALSHA wants to write whatever key it is told, so it stands apart.
    """
    own = [f"{keys.of(check_id(resource, 'resource')).base}:*", *_items(keys, resource)]
    bill = keys.spent_by(_DAY, resource)
    known = [*_CONNECT, *_ON_A_CLUSTER, *_READ]
    indexes = (keys.due_observe, keys.due_reflect, keys.adopt)
    told = [name for index in indexes for name in _parts(index)] + [keys.namespace_roots, keys.archivable]
    bells = f"(+zadd {' '.join(f'%W~{name}' for name in told)})"
    archive = f"(+exists %R~{keys.archive})"  # who changes something must know whether there is one
    beside = (f"(+hgetall +hmget %R~{bill})", f"(+get %R~{keys.partitions})")
    due = " ".join(f"~{name}" for name in _parts(keys.due_observe))
    others = [readable(keys, name) for name in composed]
    every = " ".join(f"~{name}" for name in (*own, *(keys.of(name).base + ":*" for name in composed)))
    if role is Role.READER:
        rules = (*(f"%R~{name}" for name in own), *others, *_granted(known), f"(+evalsha {every})", *beside)
    elif role is Role.WRITER:
        writes = (*(f"~{name}" for name in own), *others, *_granted([*known, *_WRITE]))
        rules = (*writes, f"(+evalsha {every} {due})", bells, archive, *beside)
    else:
        raise InvalidInputError(f"{role} is no role of a store's user: use {' or '.join(ROLES)}, and om acl --workers")
    return StoreUser(f"{of_all(keys)}{resource}/{role}", rules)


def readable(keys: Keys, resource: str) -> str:
    """The pattern by which a user may read a resource's memory."""
    return f"%R~{keys.of(check_id(resource, 'resource')).base}:*"


def readers(keys: Keys) -> Steps[dict[str, set[str]]]:
    """Agents' users at the first node, each with the resources whose memory it may read.

    Raises NotPermittedError, without a refused command in ACL LOG, for the workers' user: who may list users may read the
    hashes of their passwords.
    """
    (node, *_), found = (yield from Nodes()), dict[str, set[str]]()
    if (yield from at(node, as_bytes("ACL", "WHOAMI"))) == workers(keys).name.encode():
        raise NotPermittedError("the workers' user may not list users of Redis")
    memories = re.compile(rf"(?:%R)?~{re.escape(keys.prefix)}:\{{([^{{}}]+)\}}:\*")
    for name in (each.decode() for each in (yield from at(node, as_list("ACL", "USERS")))):
        if not name.startswith(of_all(keys)) or name == workers(keys).name:
            continue
        if said := (yield from at(node, command(_said, "ACL", "GETUSER", name))):
            granted = said.get(b"keys", b"")
            patterns = granted.split() if isinstance(granted, bytes) else granted
            found[name] = {met[1] for met in map(memories.fullmatch, (each.decode() for each in patterns)) if met}
    return found


def _items(keys: Keys, resource: str) -> tuple[str, ...]:
    """Patterns of the keys of namespaces that are, or begin with, the label that is a resource's name.

    The label is the name as people write it: `auth0|1` of the resource `auth0+_7C1`. An id that no name is escaped to has none.
    """
    label = unescape_id(resource)
    if escape_id(label) != resource:
        return ()
    start = f"{keys.prefix}:store:{{{name_of((label,))}"
    return f"{start}}}:*", f"{start}/*"


def _parts(index: PartedIndex) -> tuple[str, str]:
    """Patterns of an index' parts, however many there are: what stands beside a part is named by letters."""
    return str(index), f"{index}:[0-9]*"


def workers(keys: Keys) -> StoreUser:
    """Who our own processes are: workers, beats, the HTTP API, `om doctor`. All of our keys, and the broker's queues."""
    queues = tuple(f"~{name}*" for name in _BROKER)
    return StoreUser(f"{of_all(keys)}workers", (f"~{keys.prefix}:*", *queues, "~celeryev.*", *_OURS))


def of_all(keys: Keys) -> str:
    """What every user's name begins with; no prefix and no id holds a slash, so no two names are equal."""
    return f"{keys.prefix}/"


def _granted(commands: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"+{name}" for name in commands)


def new_password() -> str:
    """256 random bits, in 43 letters that a URL takes as they are."""
    return secrets.token_urlsafe(32)


def kept(password: str) -> str:
    """What the server is told of a password: its hash, so that it stands in no log; raises InvalidInputError for a short one."""
    if len(password) < LEAST_PASSWORD:
        raise InvalidInputError(
            f"the password has {len(password)} characters; permitted: {LEAST_PASSWORD} and more. --generate makes one"
        )
    return f"#{hashlib.sha256(password.encode()).hexdigest()}"


class Known(NamedTuple):
    """A user as the server knows it: its name, whether it may log in, how many passwords it has, or whether it needs none.

    Of a Cluster's nodes the one that permits least counts: whoever is not known everywhere may not log in.
    """

    name: str
    on: bool
    passwords: int
    nopass: bool


class _Held(NamedTuple):
    """A user as one node holds it."""

    on: bool = False
    passwords: tuple[str, ...] = ()
    nopass: bool = False


class Applied(NamedTuple):
    """What holds after a user was set: `saved` where the server's file knows it, `open_door` where nobody needs a user."""

    saved: bool
    open_door: bool


def apply(user: StoreUser, passwords: Sequence[str], *, reset: bool) -> Steps[Applied]:
    """Set a user's rules, in one step, and give it passwords; with `reset` its older ones end, and its connections too.

    On a Cluster at every node: users are not copied from one to another. A node that is new is told the passwords that the
    others know. Has the server hold our scripts. Raises InvalidInputError for a user that would have no password, and
    StoreError when a node cannot be told, once the others have been: repeat it then.
    """
    nodes = yield from Nodes()
    held, failed = yield from _at_each(nodes, lambda node: _held(node, user.name))
    if failed and not held:
        raise failed
    known = () if reset else sorted({password for each in held.values() for password in each.passwords})
    if not passwords and not known:
        raise InvalidInputError(
            f"{user.name} would have no password: add --generate, --password-file FILE or --password-env NAME"
        )
    words = (*(("resetpass",) if reset else ()), *known, *passwords, *_ANEW, *user.rules)
    ended = [("CLIENT", "KILL", "USER", user.name)] if reset else []
    tell = write(("ACL", "SETUSER", user.name, *words), *ended, atomic=False)
    _, failed = yield from _at_each(nodes, lambda node: at(node, tell))
    if failed:
        raise failed
    yield from provide()
    saved = yield from _save(nodes)
    everybody, _ = yield from _at_each(nodes, lambda node: _held(node, _EVERYBODY))
    return Applied(saved, open_door=any(each.on and each.nopass for each in everybody.values()))


def revoke(names: Sequence[str]) -> Steps[tuple[int, bool]]:
    """End users at once, with their connections, at every node: how many there were, and whether the server's file knows it.

    Raises StoreError when a node cannot be told, once the others have been: there they may still log in.
    """
    nodes = yield from Nodes()
    ended, failed = yield from _at_each(nodes, lambda node: at(node, as_int("ACL", "DELUSER", *names).writing()))
    saved = yield from _save([*ended])
    if failed:
        raise failed
    return max(ended.values()), saved


def listed(keys: Keys) -> Steps[list[Known]]:
    """Every user of this store's, by name."""
    nodes, names = (yield from Nodes()), set[str]()
    for node in nodes:
        names.update(each.decode() for each in (yield from at(node, as_list("ACL", "USERS"))))
    found: list[Known] = []
    for name in sorted(name for name in names if name.startswith(of_all(keys))):
        known, failed = yield from _at_each(nodes, partial(_held, name=name))
        if failed:
            raise failed
        held = list(known.values())
        least = min(len(each.passwords) for each in held)
        found.append(Known(name, all(each.on for each in held), least, any(each.nopass for each in held)))
    return found


def _at_each(
    nodes: Sequence[Node], ask: Callable[[Node], Askable[T]]
) -> Steps[tuple[dict[Node, T], StoreError | None]]:
    """What nodes answer, and why one of them does not, if so: the others are asked all the same."""
    found: dict[Node, T] = {}
    failed: StoreError | None = None
    for node in nodes:
        try:
            found[node] = yield from ask(node)
        except StoreError as error:
            failed = error
    return found, failed


def _held(node: Node, name: str) -> Steps[_Held]:
    """What a node knows of a user; of one that it does not know, that it may do nothing."""
    said = yield from at(node, command(_said, "ACL", "GETUSER", name))
    flags = said[b"flags"] if said else ()
    hashes = tuple(f"#{each.decode()}" for each in said[b"passwords"]) if said else ()
    return _Held(b"on" in flags, hashes, b"nopass" in flags)


def _said(reply: Any) -> dict[bytes, Any] | None:
    return None if reply is None else dict(fields(reply))


def _save(nodes: Sequence[Node]) -> Steps[bool]:
    saved = True
    for node in nodes:
        saved &= yield from _saved(node)
    return saved


def _saved(node: Node) -> Steps[bool]:
    try:
        yield from at(node, write(("ACL", "SAVE")))
    except NotPermittedError:
        raise
    except StoreError:  # it keeps users in no file
        return False
    return True
