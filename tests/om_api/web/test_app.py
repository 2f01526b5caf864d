"""Every route of the pages x role x own or foreign agent, read off the app: a route that is made later is walked by itself."""

import threading

import pytest
from page_routes import FIELDS, GOT, GUARDED, POSTED, ROUTES, SECRET, STREAMS, Owner, asked, tell
from served import filled
from world import contents

from om_api.domain.api_keys import Role
from om_api.http.requests.guard import Guarded
from om_api.web.pages import live

PUBLIC = {"/ui", "/ui/sign-in", "/ui/static/{name}"}


@pytest.fixture
def owners(world):
    """Albert and harold, who have something of everything."""
    made = filled("owners", world, lambda world: {name: Owner(world, name).ids for name in ("albert", "harold")})
    return [Owner(world, name, ids) for name, ids in made.items()]


def _answer(app, who, method, path, route, names, resource):
    """Ask for a route with somebody's names in its path, its question and its form."""
    where, state = names.path(path, resource), app.app.state.app_state
    if method == "POST":
        return who.send(where, names.fields(FIELDS), headers={"x-form-token": who.token})
    if path not in STREAMS:
        return who.get(where, **names.fields(asked(route)))
    telling = threading.Timer(0.3, lambda: tell(names.world, "albert"))
    ending = threading.Timer(0.6, state.streams.end)
    for each in (telling, ending):
        each.start()
    answer = who.get(where, **names.fields(asked(route)))
    for each in (telling, ending):
        each.join()
    state.streams.ending = False
    return answer


def test_every_route_is_guarded_or_public(app):
    assert {path for method, path, route in ROUTES if not isinstance(route, Guarded)} == PUBLIC
    assert len(GUARDED) > 20
    assert not any(path.startswith("/ui") for path in app.get("/v1/openapi.json").json()["paths"])


@pytest.mark.parametrize("walked", [GOT, POSTED], ids=["read", "sent"])
def test_whoever_names_another_agent_in_path_question_or_form_gets_nothing_of_it(
    app, sign_in, world, walked, monkeypatch
):
    monkeypatch.setattr(live, "LOOK_S", 0.05)
    albert = Owner(world, "albert", filled("albert", world, lambda world: Owner(world, "albert").ids))
    world.say("Mine.", resource="harold")
    who = sign_in("operator", "harold")
    before = contents(world.client, f"{world.prefix}:{{albert}}*")

    for method, path, route in walked:
        for resource in ("albert", "harold"):
            answer = _answer(app, who, method, path, route, albert, resource)
            assert SECRET not in answer.text, path
            assert answer.status_code < 500, path
            names_albert = resource == "albert" if "{resource}" in path else "resource" in asked(route)
            assert answer.status_code == 403 or not names_albert, path
            if path == "/ui/sign-out":
                who = sign_in("operator", "harold")
    assert contents(world.client, f"{world.prefix}:{{albert}}*") == before


def test_whoever_asks_for_their_own_agent_reads_nothing_of_another_one(app, sign_in, owners, monkeypatch):
    monkeypatch.setattr(live, "LOOK_S", 0.05)
    (albert, harold), who = owners, sign_in("operator", "harold")
    named = {"albert", albert.thread, *albert.ids.values()}

    for method, path, route in GOT:
        answers = [_answer(app, who, method, path, route, harold, "harold")]
        if path not in STREAMS:
            answers.append(who.get(harold.path(path, "harold")))
        for answer in answers:
            assert [name for name in named if name in answer.text] == [], path
            assert "event: om-change" not in answer.text
        assert answers[-1].status_code == (403 if route.of_all else 200), path


def test_a_role_opens_what_it_includes_and_nothing_else(app, sign_in, world, owners):
    _, names = owners
    for method, path, _ in GUARDED:  # without a session every page leads to where one begins
        answer = app.request(method, names.path(path, "harold"))
        assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/ui/sign-in"), path
        assert SECRET not in answer.text
    for role in Role:
        world.say("Mine.", resource="harold")
        who = sign_in(role, "harold")
        for method, path, route in GUARDED:
            if path in STREAMS:
                continue
            status = _answer(app, who, method, path, route, names, "harold").status_code
            may = role.includes(route.role) and not route.of_all
            assert (status != 403) == may, f"{method} {path} as {role}: {status}"
            if path == "/ui/sign-out":
                who = sign_in(role, "harold")


def test_a_form_that_none_of_our_pages_of_this_session_sent_changes_nothing(sign_in, world, owners):
    _, names = owners
    who, fields = sign_in("operator", "*"), names.fields(FIELDS)
    before = contents(world.client, f"{world.prefix}:{{harold}}*")
    elsewhere = {"x-form-token": who.token, "Origin": "http://elsewhere.example"}
    for sent in ({"data": fields}, {"data": {**fields, "token": who.token}, "headers": elsewhere}):
        for _, path, _ in POSTED:
            assert who.ask("POST", names.path(path, "harold"), **sent).status_code == 403, path
    assert contents(world.client, f"{world.prefix}:{{harold}}*") == before
    assert who.get("/ui/agents").status_code == 200
