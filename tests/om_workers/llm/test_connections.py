"""No server is trusted: not with where to go next, nor with how much to read."""

import gzip
import tracemalloc

import pytest
from model_requests import failing
from model_server import Canned, ModelServer
from provider_models import opened

from om_api.domain.errors import SettingsError


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_neither_the_key_nor_what_was_said_follows_a_redirect(provider, server, status):
    """Breaks when redirects are followed: 307 takes the conversation along, and whatever answers a 302 is believed."""
    with ModelServer() as other, opened(provider, server.root) as model:
        path = {"openai": "/v1/chat/completions", "gemini": "/v1beta/models/fake:generateContent"}[provider]
        gone = Canned(status, b"", {"Location": f"{other.root.replace('127.0.0.1', 'localhost')}{path}"})
        error = failing(server, model, gone)

        assert other.calls == []
    assert f"refused ({status})" in str(error)
    assert "correct its base_url" in str(error)


BOMB = gzip.compress(b" " * 200_000_000)


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(
    ("body", "headers"), [(BOMB, {"Content-Encoding": "gzip"}), (b" " * 17_000_000, {})], ids=["packed", "plain"]
)
def test_an_answer_without_end_is_left_before_it_fills_the_worker(server, model, status, body, headers):
    """Breaks when a body is read to its end: 200 kB of gzip are 200 MB, and 20 of those end the worker."""
    tracemalloc.start()
    error = failing(server, model, Canned(status, body, headers))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert "answered more than 16 MB" in str(error)
    assert error.retryable
    assert peak < 100_000_000


@pytest.mark.parametrize("root", ["http://[::1", "https://host:port"])
def test_an_address_that_is_none_is_found_before_anything_is_asked(provider, root):
    with pytest.raises(SettingsError, match="base_url is no address"), opened(provider, root):
        pass
