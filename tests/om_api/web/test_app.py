"""Every route of the pages x role x own or foreign agent, read off the app: a route that is made later is walked by itself."""

import re
import threading
from collections import defaultdict
from pathlib import Path

import pytest
from fastapi.routing import iter_route_contexts
from world import contents

import om_api.web
from om_api import load_settings
from om_api.domain.api_keys import Role
from om_api.domain.events import Event
from om_api.http import make_app
from om_api.http.requests.guard import Guarded
from om_api.store.fleet import event_stream
from om_api.web import with_pages

PUBLIC = {"/ui", "/ui/sign-in", "/ui/static/{name}"}
ROUTES = [
    (method, each.path, each.original_route)
    for each in iter_route_contexts(with_pages(make_app(load_settings(environ={}))).routes)
    if each.path.startswith("/ui")
    for method in sorted((each.methods or set()) - {"HEAD"})
]
GUARDED = [(method, path, route) for method, path, route in ROUTES if isinstance(route, Guarded)]
GOT, POSTED = ([each for each in GUARDED if each[0] == method] for method in ("GET", "POST"))
STREAMS = {"/ui/live/rows", "/ui/live/changes"}
TEMPLATES = Path(om_api.web.__file__).parent / "templates"
#: every field that any form of ours has
FIELDS = {name for file in TEMPLATES.glob("*.html") for name in re.findall(r'\bname="(\w+)"', file.read_text())}
SECRET = "cinnamon"


class Names:
    """What an agent's own things are called; each of them names the agent."""

    def __init__(self, world, resource):
        self.world, self.resource, self.thread = world, resource, f"{resource}-talks"
        self._say(14)
        world.om.force_reflect(resource)
        self._say(14)
        world.client.zadd(f"{world.prefix}:{{{resource}}}:messages:{self.thread}", {f"not JSON, {SECRET}": 1})
        world.sweep()
        world.settle()
        (entry, *_) = world.om.rejected(resource)
        _tell(world)
        observation = world.om.observations(resource)[0]
        message = world.om.sources(observation.id, resource)[0].id
        self.ids = {"observation": observation.id, "message": message, "entry": entry.id}

    def _say(self, n):
        texts = [f"The zanzibar password of {self.resource} is {SECRET}-{each}." for each in range(n)]
        self.world.say(*texts, resource=self.resource, thread=self.thread)
        self.world.settle()

    def path(self, pattern, resource):
        """A route's path with an agent's name and these ids."""
        named = defaultdict(lambda: self.resource, {**self.ids, "resource": resource, "name": "pages.css"})
        return pattern.format_map(named)

    def fields(self, names):
        """Whatever may be asked or sent, with these names in it."""
        known = {
            "thread": self.thread,
            "thread_id": self.thread,
            "message": self.ids["message"],
            "message_id": self.ids["message"],
            "generation": "1",
            "days": "7",
            "offset": "0",
            "query": "zanzibar",
            "matching": "zanzibar",
            "kind": "",
            "role": "",
            "after": "",
            "sure": "yes",
        }
        asked = {name: known.get(name, self.resource) for name in names}
        return {name: text for name, text in asked.items() if name not in {"token", "now", "before", "key"}}


@pytest.fixture
def albert(world):
    return Names(world, "albert")


def _asked(route):
    """The names of everything that a route reads of its question."""
    parts, names = [route.dependant], set()
    while parts:
        part = parts.pop()
        names |= {each.alias for each in part.query_params}
        parts += part.dependencies
    return names


def _answer(app, who, method, path, route, names, resource):
    """Ask for a route with somebody's names in its path, its question and its form."""
    where, state = names.path(path, resource), app.app.state.app_state
    if method == "POST":
        return who.send(where, names.fields(FIELDS), headers={"x-form-token": who.token})
    if path not in STREAMS:
        return who.get(where, **names.fields(_asked(route)))
    telling = threading.Timer(1, lambda: _tell(names.world))
    ending = threading.Timer(2, state.streams.end)
    for each in (telling, ending):
        each.start()
    answer = who.get(where, **names.fields(_asked(route)))
    for each in (telling, ending):
        each.join()
    state.streams.ending = False
    return answer


def _names(path, route, resource):
    """Whether a question names albert where an agent is to be named."""
    return resource == "albert" if "{resource}" in path else "resource" in _asked(route)


def _tell(world):
    """Have something happen to albert."""
    told = [Event(kind="paused", resource="albert", by=SECRET)]
    world.services.run(event_stream.publish(world.services.keys, told, None, 0))


def test_every_route_is_guarded_or_public():
    assert {path for method, path, route in ROUTES if not isinstance(route, Guarded)} == PUBLIC
    assert len(GUARDED) > 20


@pytest.mark.parametrize("walked", [GOT, *([each] for each in POSTED)], ids=lambda each: f"{each[0][0]} {each[0][1]}")
def test_whoever_names_another_agent_in_path_question_or_form_gets_nothing_of_it(app, sign_in, world, albert, walked):
    world.say("Mine.", resource="harold")
    who = sign_in("operator", "harold")
    before = contents(world.client, f"{world.prefix}:{{albert}}*")

    for method, path, route in walked:
        for resource in ("albert", "harold"):
            answer = _answer(app, who, method, path, route, albert, resource)
            assert SECRET not in answer.text, path
            assert answer.status_code < 500, path
            assert answer.status_code == 403 or not _names(path, route, resource), path
    assert contents(world.client, f"{world.prefix}:{{albert}}*") == before


def test_whoever_asks_for_their_own_agent_reads_nothing_of_another_one(app, sign_in, world, albert):
    harold, who = Names(world, "harold"), sign_in("operator", "harold")
    named = {"albert", albert.thread, *albert.ids.values()}

    for method, path, route in GOT:
        answer = _answer(app, who, method, path, route, harold, "harold")
        assert [name for name in named if name in answer.text] == [], path
        assert "event: om-change" not in answer.text
        assert answer.status_code == (403 if route.of_all else 200), path


@pytest.mark.parametrize("role", list(Role))
def test_a_role_opens_what_it_includes_and_nothing_else(app, sign_in, world, role):
    world.say("Mine.", resource="harold")
    who = sign_in(role, "harold")
    names = Names(world, "harold")
    for method, path, route in GUARDED:
        if path in STREAMS:
            continue
        status = _answer(app, who, method, path, route, names, "harold").status_code
        may = role.includes(route.role) and not route.of_all
        assert (status != 403) == may, f"{method} {path} as {role}: {status}"
        if path == "/ui/sign-out":
            who = sign_in(role, "harold")


def test_without_a_session_every_page_leads_to_where_one_begins(app, world):
    names = Names(world, "harold")
    for method, path, _ in GUARDED:
        answer = app.request(method, names.path(path, "harold"))
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/ui/sign-in"), path
        assert SECRET not in answer.text


@pytest.mark.parametrize("how", ["no token", "another session's", "another site's page", "no form"])
def test_a_form_that_none_of_our_pages_of_this_session_sent_changes_nothing(app, sign_in, world, how):
    names = Names(world, "harold")
    who, other = sign_in("operator", "*"), sign_in("operator", "*")
    fields = names.fields(FIELDS)
    sent = {
        "no token": {"data": fields},
        "another session's": {"data": {**fields, "token": other.token}, "headers": {"x-form-token": other.token}},
        "another site's page": {
            "data": {**fields, "token": who.token},
            "headers": {"x-form-token": who.token, "Origin": "http://elsewhere.example"},
        },
        "no form": {"json": {**fields, "token": who.token}},
    }
    before = contents(world.client, f"{world.prefix}:{{harold}}*")
    for _, path, _ in POSTED:
        answer = who.ask("POST", names.path(path, "harold"), **sent[how])
        assert answer.status_code == (415 if how == "no form" and not path.endswith("/import") else 403), path
    assert contents(world.client, f"{world.prefix}:{{harold}}*") == before
    assert who.get("/ui/agents").status_code == 200


def test_a_page_loads_nothing_from_elsewhere_and_runs_no_script_that_is_written_in_it(app, sign_in):
    answer = sign_in("operator", "*").get("/ui/agents")

    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert re.findall(r"<script(?![^>]*\bsrc=)|\son\w+=|<style|style=", answer.text) == []
    assert re.findall(r'(?:src|href|action)="(?:https?:)?//', answer.text) == []


def test_the_documents_of_the_api_know_no_page(app):
    assert not any(path.startswith("/ui") for path in app.get("/v1/openapi.json").json()["paths"])
