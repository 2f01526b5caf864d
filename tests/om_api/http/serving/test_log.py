"""A line of log for each request: who asked for what, and how it ended."""

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from om_api.http.serving.log import Logged


def test_the_log_names_the_key_that_was_refused(app, ring):
    key, token = ring.create(["harold"], "reader")

    with capture_logs() as lines:
        for path in ("/v1/resources/albert/stats", "/v1/rejected"):
            app.get(path, headers={"Authorization": f"Bearer {token}"})

    assert [(line["status"], line["key"]) for line in lines] == [(403, key.id), (403, key.id)]


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [("/healthz", 200, False), ("/healthz", 400, True), ("/readyz", 503, True), ("/v1/resources", 200, True)],
)
def test_whoever_only_looks_whether_it_lives_is_not_logged_unless_that_is_refused(path, status, told):
    with capture_logs() as lines:
        TestClient(Logged(Response(status_code=status))).get(path)

    assert [line["status"] for line in lines if line["log_level"] == "info"] == [status] * told


def test_the_path_with_the_longest_ids_is_logged_whole():
    path = f"/v1/resources/{'r' * 200}/threads/{'t' * 200}/messages"
    with capture_logs() as lines:
        TestClient(Logged(Response())).post(path)

    assert [line["path"] for line in lines] == [path]
