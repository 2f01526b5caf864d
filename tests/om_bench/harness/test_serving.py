"""An API that is measured: only who signed in is answered, and what a page takes is told."""

import shutil

import httpx2
import pytest
from programs import program

from om_bench.harness.serving import serving
from om_bench.speed.stand import stand


@pytest.fixture(scope="module")
def api():
    with stand(None) as made, serving({"OM_REDIS_URL": made.url, "OM_PREFIX": "om-bench:serving"}) as started:
        yield started


def test_a_viewer_is_answered_and_nobody_else(api):
    viewer = api.viewer()
    assert httpx2.get(f"{api.url}/v1/agents").status_code == 401
    assert httpx2.get(f"{api.url}/v1/agents", headers=viewer.headers).status_code == 200
    assert httpx2.get(f"{api.url}/ui/agents", cookies=viewer.cookies).status_code == 200


def test_a_page_takes_time_and_one_that_is_not_there_is_no_figure(api):
    took = api.load("/ui/agents")
    assert took.seconds > 0
    assert took.own >= 0
    with pytest.raises(httpx2.HTTPStatusError):
        api.load("/ui/agents/nobody")


def test_without_a_browser_no_paint_is_told(api, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert api.first_paint("/ui/agents") is None


def test_a_browser_paints_a_page_that_one_must_sign_in_for(api):
    program("chromium")
    assert api.first_paint("/ui/agents") > 0
