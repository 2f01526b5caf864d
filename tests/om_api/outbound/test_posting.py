"""What an answer's body comes to; where a post may go is tested with the webhooks, in tests/om_workers/work."""

import asyncio

import httpx2
import pytest

from om_api.outbound import posting
from om_api.outbound.posting import NotPostedError, Posted, post


@pytest.fixture
def answered(monkeypatch):
    """Posts, and what an answer of 300 bytes comes to."""
    answer = httpx2.MockTransport(lambda _: httpx2.Response(202, content=b"x" * 300))
    monkeypatch.setattr(posting, "_client", lambda: httpx2.AsyncClient(transport=answer))

    def ask(**options):
        return asyncio.run(post("http://127.0.0.1:9/k", {}, b"{}", allow_private=True, patience=5.0, **options))

    return ask


def test_nothing_of_a_body_is_read_unless_somebody_wants_it(answered):
    assert answered() == Posted(202)
    assert answered(most=300) == Posted(202, b"x" * 300)


def test_more_than_is_wanted_is_nothing_at_all(answered):
    with pytest.raises(NotPostedError, match="more than 299 bytes"):
        answered(most=299)
