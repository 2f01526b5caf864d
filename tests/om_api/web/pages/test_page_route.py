"""What a page's route makes of strangers, of mistakes and of a part that looks again; and who was told of it."""

import pytest

from om_api.domain.errors import InvalidInputError, NotFoundError, OMError, RateLimitedError, StoreError
from om_api.web.pages.reader import AsyncObservationalMemory


@pytest.fixture
def harold(world, sign_in):
    world.say("Mine.")
    return sign_in("reader", "harold")


@pytest.mark.parametrize(
    ("method", "headers", "status", "goes"),
    [
        ("GET", {}, 303, "/ui/sign-in?next=%2Fui%2Fagents%2Fharold%3Fthread%3Dt-1"),
        ("POST", {}, 303, "/ui/sign-in"),
        ("GET", {"hx-request": "true"}, 204, "/ui/sign-in"),
    ],
)
def test_a_stranger_is_sent_to_sign_in_and_a_part_takes_its_page_there(app, method, headers, status, goes):
    path = "/ui/agents/harold?thread=t-1" if method == "GET" else "/ui/agents/harold/pause"
    answer = app.request(method, path, headers=headers)

    assert answer.status_code == status
    assert answer.headers.get("location", answer.headers.get("hx-redirect")) == goes


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFoundError("no such: look elsewhere"), 404),
        (InvalidInputError("not so: write it so"), 422),
        (RateLimitedError("too much: wait", retry_after=1), 429),
        (StoreError("away: wait"), 503),
        (OMError("odd: tell us"), 500),
    ],
)
def test_what_fails_is_told_on_a_page_with_its_status_and_what_to_do(harold, monkeypatch, error, status):
    def fail(*_):
        raise error

    monkeypatch.setattr(AsyncObservationalMemory, "is_known", fail)
    answer = harold.get("/ui/agents/harold")

    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert f'role="alert">{error}</p>' in answer.text
    assert "This cannot be shown" in answer.text


def test_an_address_that_cannot_be_says_which_part(harold):
    answer = harold.get("/ui/agents/harold/figures", days=0)

    assert answer.status_code == 422
    assert "days: " in answer.text


def test_who_opened_a_page_is_told_once_and_not_what_looks_again_by_itself(world, harold):
    harold.get("/ui/agents/harold/generations")
    for _ in range(3):
        harold.ask("GET", "/ui/agents/harold/generations", headers={"hx-request": "true"})
    harold.get("/ui/agents/harold/settings")
    told = world.om.audit(resource_id=["harold"], did=["read"]).entries

    assert [(each.via, each.of, each.outcome) for each in told] == [
        ("page", "", "refused"),
        ("page", "generations", "done"),
    ]


@pytest.mark.parametrize(
    ("path", "did"), [("/ui/agents/harold/context", "read"), ("/ui/agents/harold/export", "exported")]
)
def test_who_only_says_that_a_page_looks_again_is_told_of(world, sign_in, path, did):
    world.say("Mine.")
    sign_in("operator", "harold").ask("GET", path, headers={"hx-request": "true"})

    assert [each.did for each in world.om.audit(resource_id=["harold"], count=1).entries] == [did]


@pytest.mark.parametrize(("role", "pages"), [("reader", 1), ("writer", 1), ("operator", 2)])
def test_a_page_offers_what_the_key_may_do(world, sign_in, role, pages):
    world.say("Mine.")
    text = sign_in(role, "harold").get("/ui/agents/harold").text

    assert ("/observe" in text, "/pause" in text) == (role != "reader", role == "operator")
    assert text.count('aria-label="Pages') == 2
    assert ("/ui/agents/harold/settings" in text) == (pages > 1)
