"""What pages are made of: charts, filters, page turns, sessions and static files."""

import re
from pathlib import Path

import pytest

import om_api.web
from om_api.domain.errors import InvalidInputError, NotFoundError, OMError, RateLimitedError, StoreError
from om_api.web.pages import filters, static_files
from om_api.web.pages.charts import EDGE, HEIGHT, WIDTH, ChartSeries, chart
from om_api.web.pages.reader import AsyncObservationalMemory
from om_api.web.pages.rendering import address


def test_every_corner_lies_within_the_frame():
    for values in [[[1, 2, 3], [4, 0, 1]], [[0, 0]], [[5]], [[1e12, 1e-9]], [[-2, 1], [1, -4]]]:
        series = [ChartSeries(str(n), each) for n, each in enumerate(values)]
        made = chart([str(n) for n in range(len(values[0]))], series, "$")
        corners = [map(float, corner.split(",")) for area in made.areas for corner in area.corners.split()]
        xs, ys = zip(*corners, strict=True)

        assert 0 <= min(xs) < max(xs) <= WIDTH, values
        assert EDGE <= min(ys) <= max(ys) <= HEIGHT - EDGE, values


def test_a_figure_is_written_in_one_form():
    for name, shown in {
        "number": {None: "–", 0: "0", 1234567: "1,234,567", 2.5: "2.50"},
        "dollars": {None: "–", 0: "$0.00", 1234.5: "$1,234.50", -3: "-$3.00", 0.00042: "$0.00042"},
        "percent": {None: "–", 0.724: "72 %"},
        "times": {None: "–", 5.44: "5.4x"},
        "duration": {None: "–", 0: "0 s", -5: "0 s", 200: "3 min 20 s", 187_200: "2 d 4 h", 86_401: "1 d 1 s"},
        "short": {"t-1": "t-1", "01a21664a9ed3e609f479a94fc25e97c": "…94fc25e97c"},
        "moment": {
            None: "–",
            0: "–",
            1_767_270_600_000: '<time datetime="2026-01-01T12:30:00+00:00">2026-01-01 12:30 UTC</time>',
            -5: '<time datetime="1970-01-01T00:00:00+00:00">1970-01-01 00:00 UTC</time>',
            1e300: '<time datetime="9892-03-08T12:26:40+00:00">9892-03-08 12:26 UTC</time>',
        },
    }.items():
        assert {value: filters.ALL[name](value) for value in shown} == shown


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


TEMPLATES = sorted(Path(om_api.web.__file__).parent.joinpath("templates").glob("*.html"))
_INLINE = re.compile(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:|https?://", re.IGNORECASE)


def test_no_template_holds_a_script_a_style_or_an_address_of_elsewhere():
    assert TEMPLATES
    assert {file.stem: found for file in TEMPLATES if (found := _INLINE.findall(file.read_text()))} == {}


def test_every_page_says_what_a_browser_may_load_and_is_kept_by_nobody(sign_in):
    who = sign_in("reader", "harold")
    for path, status in (("/ui/agents", 200), ("/ui/agents/harold", 404), ("/ui/nowhere", 404)):
        answer = who.get(path)
        may = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))
        assert answer.status_code == status, path
        assert (may["default-src"], may["script-src"], may["frame-ancestors"]) == ("'none'", "'self'", "'none'")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_address_holds_names_whatever_is_in_them():
    assert address("a/b", thread=None) == "/ui/agents/a%2Fb"
    assert address("a/b", thread="x y&z=1") == "/ui/agents/a%2Fb?thread=x%20y%26z%3D1"


def test_a_file_is_kept_until_its_address_changes_and_no_other_file_is_served(app):
    for name, kind in (("pages.css", "text/css"), ("pages.js", "text/javascript"), ("icon.svg", "image/svg+xml")):
        answer = app.get(static_files.address(name))
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    for name in ("none.css", "..%2fapp.py", "%2e%2e/app.py", "__init__.py", ""):
        assert app.get(f"/ui/static/{name}").status_code in {303, 404}, name
