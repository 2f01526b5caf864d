"""Providers hang up with the test that had them made: a run's connections end with its process."""

import pytest
from provider_models import close

from om_workers.llm.provider import Provider


@pytest.fixture(autouse=True)
def hang_up(monkeypatch):
    made, make = [], Provider.__init__

    def kept(self, *given, **options):
        make(self, *given, **options)
        made.append(self)

    monkeypatch.setattr(Provider, "__init__", kept)
    yield
    for provider in made:
        close(provider)
