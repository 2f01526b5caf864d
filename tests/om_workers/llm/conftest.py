import pytest
from model_server import ModelServer
from provider_models import opened


@pytest.fixture(params=["openai", "gemini"])
def provider(request):
    """Whose SDK is asked: both, one after the other, unless a file of tests names its own."""
    return request.param


@pytest.fixture
def server():
    with ModelServer() as server:
        yield server


@pytest.fixture
def model(provider, server):
    with opened(provider, server.root) as model:
        yield model
