"""What a page's route makes of strangers, of mistakes and of a part that looks again; and who was told of it."""

import pytest

from om_api.domain.errors import InvalidInputError, NotFoundError, OMError, RateLimitedError, StoreError
from om_api.web.pages.reader import AsyncObservationalMemory


@pytest.fixture
def harold(world, sign_in):
    world.say("Mine.")
    return sign_in("reader", "harold")


def test_a_stranger_is_sent_to_sign_in_and_a_part_takes_its_page_there(app):
    agent = "/ui/agents/harold"
    there = app.get(f"{agent}?thread=t-1")
    sent, part = app.post(f"{agent}/pause"), app.get(agent, headers={"hx-request": "true"})

    goes = "/ui/sign-in?next=%2Fui%2Fagents%2Fharold%3Fthread%3Dt-1"
    assert (there.status_code, there.headers["location"]) == (303, goes)
    assert (sent.status_code, sent.headers["location"]) == (303, "/ui/sign-in")
    assert (part.status_code, part.headers["hx-redirect"]) == (204, "/ui/sign-in")


def test_what_fails_is_told_on_a_page_with_its_status_and_what_to_do(harold, monkeypatch):
    for error, status in [
        (NotFoundError("no such: look elsewhere"), 404), (InvalidInputError("not so: write it so"), 422),
        (RateLimitedError("too much: wait", retry_after=1), 429), (StoreError("away: wait"), 503),
        (OMError("odd: tell us"), 500),
    ]:  # fmt: skip

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(AsyncObservationalMemory, "is_known", fail)
        answer = harold.get("/ui/agents/harold")
        assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert f'role="alert">{error}</p>' in answer.text
        assert "This cannot be shown" in answer.text


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


def test_a_page_offers_what_the_key_may_do(world, sign_in):
    world.say("Mine.")
    for role in ("reader", "writer", "operator"):
        text = sign_in(role, "harold").get("/ui/agents/harold").text
        assert ("/observe" in text, "/pause" in text) == (role != "reader", role == "operator"), role
        assert text.count('aria-label="Pages') == 2
        assert ("/ui/agents/harold/settings" in text) == (role == "operator"), role
