"""The provider that thinks for a given time, as a worker's client meets it."""

from concurrent.futures import ThreadPoolExecutor

from provider_models import close

from om_api.settings.model_settings import ModelSettings
from om_bench.speed.thinking import NOTES, Thinking
from om_workers.llm.base import Request
from om_workers.llm.openai_compatible import OpenAICompatible
from om_workers.prompts.parse import parse_observer


def test_a_provider_that_thinks_counts_who_waits_at_once():
    with Thinking(0.2) as model, ThreadPoolExecutor(3) as pool:
        asked = OpenAICompatible("thinking", ModelSettings(provider="openai", base_url=model.url))
        replies = list(pool.map(asked.complete, [Request(purpose="observe", system="", prompt="")] * 3))
        close(asked)

    assert [reply.text for reply in replies] == [NOTES] * 3
    assert (model.most, model.answered) == (3, 3)
    assert len(parse_observer(NOTES).text.splitlines()) == 25
