"""Events over HTTP: who sees whose, page by page, and what is refused before a stream begins."""

import msgspec
import pytest

EVENTS = "/v1/events"


def test_a_page_holds_the_newest_events_and_says_where_to_go_on(using, publish):
    publish("sealed", "buffered", "activated")
    ask = using("reader", "harold")
    newest = ask("GET", EVENTS, params={"limit": 2}).json()
    oldest = ask("GET", EVENTS, params={"after": "0", "limit": 2}).json()
    rest = ask("GET", EVENTS, params={"after": oldest["after"]}).json()

    assert [each["kind"] for each in newest["items"]] == ["buffered", "activated"]
    assert [each["kind"] for each in oldest["items"]] == ["sealed", "buffered"]
    assert [each["kind"] for each in rest["items"]] == ["activated"]
    assert set(rest["items"][0]) == {"kind", "id", "at", "resource"}


@pytest.mark.parametrize(
    ("bound", "query", "seen"),
    [
        (["harold"], {}, ["harold"]),
        (["harold", "ada"], {}, ["harold", "ada"]),
        (["*"], {}, ["harold", "albert", "ada", ""]),
        (["*"], {"resource": ["albert", "ada"]}, ["albert", "ada"]),
        (["harold", "ada"], {"resource": "ada"}, ["ada"]),
    ],
)
def test_a_key_sees_the_events_of_its_resources_and_of_nobody_else(using, publish, bound, query, seen):
    for resource in ("harold", "albert", "ada", ""):
        publish("failed", resource=resource)
    found = using("reader", *bound)("GET", EVENTS, params={"after": "0", **query}).json()

    assert [each.get("resource", "") for each in found["items"]] == seen


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_key_is_refused_the_events_of_others(using, accept):
    ask = using("operator", "harold")

    for query in ({"resource": "albert"}, {"resource": ["harold", "albert"]}, {"resource": "*"}):
        assert ask("GET", EVENTS, params=query, headers={"Accept": accept}).status_code == 403


def test_a_key_that_is_bound_to_nothing_is_refused_all_events(using, ring, client, prefix):
    """No command makes such a key; were it taken as one that names no resource, it would see those of everybody."""
    reader = using("reader", "harold")
    (key,) = ring.list()
    client.hset(f"{prefix}:keys", key.id, msgspec.json.encode(msgspec.structs.replace(key, resources=())))
    answer = reader("GET", EVENTS, params={"after": "0"})

    assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json")
    assert "bound to no resource" in answer.json()["detail"]


def test_the_events_of_a_hundred_resources_can_be_asked_for_and_of_no_more(using):
    ask = using("reader", "*")
    statuses = [ask("GET", EVENTS, params={"resource": ["harold"] * n}).status_code for n in (100, 101)]

    assert statuses == [200, 422]


@pytest.mark.parametrize(
    "query", [{"kinds": "seald"}, {"after": "x"}, {"limit": 0}, {"limit": 501}, {"after": "1" * 42}]
)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_what_cannot_be_asked_for_is_refused_before_a_stream_begins(using, query, accept):
    answer = using("reader", "harold")("GET", EVENTS, params=query, headers={"Accept": accept})

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_what_an_owner_does_over_http_is_among_the_events(ask, full):
    (observation, *_) = full.om.observations("harold")
    assert ask("POST", "/v1/resources/harold/pause").status_code == 200
    assert ask("POST", "/v1/resources/harold/resume").status_code == 200
    assert ask("DELETE", f"/v1/resources/harold/observations/{observation.id}").status_code == 200
    found = ask("GET", EVENTS, params={"limit": 3}).json()["items"]

    assert [each["kind"] for each in found] == ["paused", "resumed", "forgotten"]
    assert found[-1]["observation"] == observation.id
