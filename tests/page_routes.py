"""The routes under /ui, read off the app, and a memory with something for each of them: what is made later is walked too."""

import json
import re
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fastapi.routing import iter_route_contexts
from world import World

import om_api.web
from om_api import load_settings
from om_api.domain.events import Event
from om_api.http import make_app
from om_api.http.requests.guard import Guarded
from om_api.store.fleet import event_stream
from om_api.web import with_pages

ROUTES: list[tuple[str, str, Any]] = [
    (method, each.path, each.original_route)
    for each in iter_route_contexts(with_pages(make_app(load_settings(environ={}))).routes)
    if each.path.startswith("/ui")
    for method in sorted((each.methods or set()) - {"HEAD"})
]
GUARDED = [each for each in ROUTES if isinstance(each[2], Guarded)]
GOT, POSTED = ([each for each in GUARDED if each[0] == method] for method in ("GET", "POST"))
STREAMS = {"/ui/live/rows", "/ui/live/changes"}
FILES = {"/ui/agents/{resource}/export"}
PAGES = [path for _, path, _ in GOT if path not in STREAMS | FILES]
_TEMPLATES = Path(om_api.web.__file__).parent / "templates"
#: every field that any form of ours has
FIELDS = {name for file in _TEMPLATES.glob("*.html") for name in re.findall(r'\bname="(\w+)"', file.read_text())}
SECRET = "cinnamon"


class Owner:
    """An agent with something of everything: raw messages, observations, a generation, what was rejected, events."""

    def __init__(self, world: World, resource: str, ids: dict[str, str] | None = None) -> None:
        self.world, self.resource, self.thread = world, resource, f"{resource}-talks"
        self.ids = ids or self._filled()

    def _filled(self) -> dict[str, str]:
        world, resource = self.world, self.resource
        self._say(14)
        world.om.force_reflect(resource)
        self._say(18)
        world.client.zadd(f"{world.prefix}:{{{resource}}}:messages:{self.thread}", {f"not JSON, {SECRET}": 1})
        world.sweep()
        world.settle()
        (entry, *_) = world.om.rejected(resource)
        tell(world, resource)
        observation = world.om.observations(resource)[0]
        message = world.om.sources(observation.id, resource)[0].id
        return {"observation": observation.id, "message": message, "entry": entry.id, "group": self._group()}

    def _group(self) -> str:
        """The name of a group, as if what the first generation replaced had been set aside."""
        client, name = self.world.client, f"{self.resource:a<8}"[:8]
        key = f"{self.world.prefix}:{{{self.resource}}}:reflected:1"
        for member, seq in client.zrange(key, 0, -1, withscores=True):
            client.zrem(key, member)
            client.zadd(key, {json.dumps({**json.loads(member), "group": name}): seq})
        client.persist(key)
        return name

    def _say(self, n: int) -> None:
        texts = [f"The zanzibar password of {self.resource} is {SECRET}-{each}." for each in range(n)]
        self.world.say(*texts, resource=self.resource, thread=self.thread)
        self.world.settle()

    def path(self, pattern: str, resource: str) -> str:
        """A route's path with an agent's name and these ids."""
        named = defaultdict(lambda: self.resource, {**self.ids, "resource": resource})
        return pattern.format_map(named)

    def fields(self, names: Iterable[str]) -> dict[str, str]:
        """Whatever may be asked or sent, with these names in it; but for what is a choice of few, and a number."""
        known = {
            "thread": self.thread,
            "thread_id": self.thread,
            "message": self.ids["message"],
            "message_id": self.ids["message"],
            "observation": self.ids["observation"],
            "generation": "1",
            "days": "7",
            "offset": "0",
            "since": str(round(time.time() * 1000)),
            "query": "zanzibar",
            "matching": "zanzibar",
            "sure": "yes",
        }
        left_out = {"token", "key", "now", "before", "after", "kind", "role", "sort", "descending", "cursor", "state"}
        return {name: known.get(name, self.resource) for name in names if name not in left_out}


def tell(world: World, resource: str) -> None:
    """Have something happen to an agent."""
    told = [Event(kind="paused", resource=resource, by=SECRET)]
    world.services.run(event_stream.publish(world.services.keys, told, None, 0))


def asked(route: Any) -> set[str]:
    """The names of everything that a route reads of its question."""
    parts, names = [route.dependant], set()
    while parts:
        part = parts.pop()
        names |= {each.alias for each in part.query_params}
        parts += part.dependencies
    return names
