"""Forms are taken of our own pages and of their session alone; what was done is said once, and by nobody's address."""

import pytest

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PAUSE = "/ui/agents/harold/pause"


@pytest.fixture
def harold(world, sign_in):
    world.say("Mine.")
    return sign_in("operator", "harold")


def _is_paused(world):
    return world.om.stats("harold").paused


def test_a_form_that_none_of_our_pages_sent_is_refused_with_what_to_do(world, harold, sign_in):
    other = sign_in("operator", "harold")
    assert len({harold.token, other.token, harold.cookie, other.cookie}) == 4
    for how, status in [
        ({"data": {"token": "0" * 64}}, 403), ({"data": {"token": other.token}}, 403), ({"data": {"token": "é"}}, 403),
        ({"data": {}}, 415), ({"data": {"other": "x"}}, 403), ({"json": {"token": "x"}}, 415),
        ({"content": b"token=\xff\xfe%ff", "headers": FORM}, 400),
        ({"content": "&".join(f"f{n}=1" for n in range(1_100)), "headers": FORM}, 400),
    ]:  # fmt: skip
        answer = harold.ask("POST", PAUSE, **how)
        assert (answer.status_code, _is_paused(world)) == (status, False), how
        assert "This was not done" in answer.text
    for origin in ("https://elsewhere.example", "null"):  # although its token is right
        answer = harold.send(PAUSE, headers={"Origin": origin})
        assert (answer.status_code, _is_paused(world)) == (403, False), origin


def test_what_was_done_is_said_by_the_next_page_once_and_by_no_part_of_one(world, harold):
    answer = harold.send(PAUSE)
    said = answer.cookies["om_said"]
    cookies = {"Cookie": f"om_session={harold.cookie}; om_said={said}"}
    part = harold.ask("GET", "/ui/agents/harold", headers={**cookies, "hx-request": "true"})
    page = harold.ask("GET", "/ui/agents/harold", headers=cookies)

    assert _is_paused(world)
    assert 'class="done"' not in part.text
    assert "om_said" not in part.headers.get("set-cookie", "")
    assert "Paused: messages are kept" in page.text
    assert 'om_said=""' in page.headers["set-cookie"]
    assert {"HttpOnly", "Path=/ui", "SameSite=strict"} <= {*answer.headers["set-cookie"].split("; ")}
