"""Models of both providers for tests, asked through their real SDKs and closed when the block ends."""

import contextlib

from model_requests import KEY

from om_api.settings import ModelSettings
from om_workers.llm.deadline import within
from om_workers.llm.gemini import Gemini
from om_workers.llm.openai_compatible import OpenAICompatible


@contextlib.contextmanager
def opened(provider, root, key=KEY, **settings):
    with closing({"openai": _openai, "gemini": _gemini}[provider](root, key, settings)) as made:
        yield made


@contextlib.contextmanager
def closing(model):
    try:
        yield model
    finally:
        close(model)


def close(model):
    """Hang up. A worker need not: its connections end with it."""
    within(5, model._http.aclose)


def _openai(root, key, settings):
    return OpenAICompatible("fake", ModelSettings(base_url=f"{root}/v1", **settings), key)


def _gemini(root, key, settings):
    return Gemini("fake", ModelSettings(provider="gemini", base_url=root, **settings), key)
