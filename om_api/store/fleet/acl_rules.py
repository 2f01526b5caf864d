"""Redis' own users: what an agent, and what our processes, may do at the store itself. The rules as data.

A key that `om keys` makes is asked for at the HTTP API only: whoever talks to Redis passes it by, and is stopped here.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import NamedTuple

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import check_id
from om_api.store.memory.keys import Keys

ROLES = (Role.READER, Role.WRITER)
LEAST_PASSWORD = 16
_DAY = "????-??-??"  # as long as a day is, so that no other resource's bill fits
_CONNECT = ("auth", "hello", "ping", "select", "quit", "time", "multi", "exec", "discard")
_ON_A_CLUSTER = ("asking", "cluster|slots", "command", "readonly")
_READ = (
    *("get", "hget", "hgetall", "hmget", "hlen", "exists"),
    *("lrange", "llen", "smismember"),
    *("zcard", "zmscore", "zrange", "zscore"),
)
_WRITE = (
    *("hset", "hdel", "hincrby", "sadd", "expire", "unlink", "rename"),
    *("zadd", "zrem", "zremrangebyscore"),
)
_BROKER = ("ticks", "observe", "reflect", "maintenance", "celery", "unacked", "_kombu.binding", "*.celery.pidbox")
# all channels: Celery subscribes to patterns, and a pattern is permitted only where the rule is that very pattern
_OURS = ("&*", "+@all", "-@admin", "-@dangerous", "-function", "-script|flush", "+info", "+config|get")


class StoreUser(NamedTuple):
    """A Redis ACL user: its name, and what stands behind `resetkeys resetchannels clearselectors -@all` in its rules."""

    name: str
    rules: tuple[str, ...]

    def line(self, passwords: Sequence[str] = ()) -> str:
        """The command that makes this user anew, as redis-cli takes it; `passwords` as `kept` writes them."""
        return " ".join(("ACL SETUSER", self.name, "reset", "on", *passwords, *self.rules))


def agent(keys: Keys, resource: str, role: Role) -> StoreUser:
    """Who may read one resource's memory, or also write it: its keys, its bill, and for a writer the workers' bells.

    Scripts run with the rights of whoever calls them; EVALSHA wants to write whatever key it is told, so it stands apart.
    """
    base, bill = f"{keys.of(check_id(resource, 'resource')).base}:*", keys.spent_by(_DAY, resource)
    known = [*_CONNECT, *_ON_A_CLUSTER, *_READ]
    bells = f"(+zadd %W~{keys.due_observe} %W~{keys.due_reflect} %W~{keys.adopt})"
    billed = f"(+hgetall +hmget %R~{bill})"
    if role is Role.READER:
        rules = (f"%R~{base}", *_granted(known), f"(+evalsha ~{base})", billed)
    elif role is Role.WRITER:
        rules = (f"~{base}", *_granted([*known, *_WRITE]), f"(+evalsha ~{base} ~{keys.due_observe})", bells, billed)
    else:
        raise InvalidInputError(f"{role} is no role of a store's user: use {' or '.join(ROLES)}, and om acl --workers")
    return StoreUser(f"{of_all(keys)}{resource}/{role}", rules)


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
