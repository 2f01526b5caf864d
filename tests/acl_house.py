"""A server with harold's and albert's memories in it, and whoever the ACL makes of them."""

import inspect
from typing import Any
from urllib.parse import quote

import redis
from servers import Server
from world import World

from om_api.domain.values import Scope
from om_api.store.driver.connection import Connection
from om_api.store.fleet import acl
from om_api.store.memory.keys import Keys

PASSWORD = "a password of sixteen and more"
ADMIN = "admin"


def lock(server: Server, *, default: str = "off") -> None:
    """Close the door that a new server leaves open: whoever logs in as nobody in particular may do everything."""
    with server.client() as anybody:
        anybody.execute_command("ACL", "SETUSER", ADMIN, "on", f">{PASSWORD}", "~*", "&*", "+@all")
        anybody.execute_command("ACL", "SETUSER", "default", default)


class House:
    """`admin` may do everything; `as_user` is a client of a user that was applied."""

    def __init__(self, server: Server, prefix: str) -> None:
        self.server, self.prefix, self.keys = server, prefix, Keys(prefix)
        self.admin = redis.Redis(port=server.port, username=ADMIN, password=PASSWORD)
        self.clients = [self.admin]
        self.world = World(self.admin, prefix)

    def run(self, steps: Any) -> Any:
        return Connection(self.admin).run(steps)

    def apply(self, user: acl.StoreUser, password: str = PASSWORD, *, reset: bool = False) -> str:
        """Set a user; the address with which it logs in."""
        self.run(acl.apply(user, [acl.kept(password)], reset=reset))
        return self.server.url.replace("://", f"://{quote(user.name, safe='')}:{quote(password, safe='')}@")

    def agent(self, resource: str, role: Any, **options: Any) -> Any:
        """A plain client that logs in as an agent."""
        url = self.apply(acl.agent(self.keys, resource, role))
        self.clients.append(redis.Redis.from_url(url, **options))
        return self.clients[-1]

    def filled(self) -> None:
        """Both have every tier, a thread of their own and one that both have, and a bill."""
        for resource in ("harold", "albert"):
            self.world.say(*(f"{resource} says {n}" for n in range(12)), resource=resource)
            self.world.settle()
            self.world.om.force_reflect(resource)
            self.world.settle()
            self.world.say(*(f"{resource} says {n}" for n in range(20, 29)), resource=resource, thread="t-2")
            day = self.keys.spent_by("2026-11-21", resource)
            self.admin.hset(day, "all|calls", 1)
            self.admin.rpush(self.keys.of(resource).rejected, b'{"kind":"malformed"}')

    def close(self) -> None:
        names = [name for name in self.admin.acl_users() if name.startswith(self.prefix.split(":")[0])]
        if names:
            self.admin.execute_command("ACL", "DELUSER", *names)
        for client in self.clients:
            client.close()


def every_key(keys: Keys, resource: str) -> set[str]:
    """Every name that keys.py builds of one resource, and of nobody."""
    words = {"window": 1, "generation": 1, "day": "2026-11-21", "step": 600, "resource": resource}
    found: set[str] = set()
    for holder in (keys, keys.of(resource)):
        found |= {
            text for name, text in vars(holder).items() if isinstance(text, str) and name not in {"prefix", "base"}
        }
        for _, method in inspect.getmembers(holder, inspect.ismethod):
            shape = inspect.signature(method)
            for scope in (Scope(resource), Scope(resource, "t-1")) if shape.return_annotation is str else ():
                found.add(method(**{name: {**words, "scope": scope}.get(name, "x") for name in shape.parameters}))
    return found
