"""What `om bench speed` measures of ticks, activations and workers is what happens in production."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from world import contents

from om_api.settings.models import ModelSettings
from om_workers.bench.speed import activating, idling
from om_workers.bench.speed.agents import town
from om_workers.bench.speed.stand import stand
from om_workers.bench.speed.thinking import NOTES, Thinking
from om_workers.llm.base import Request
from om_workers.llm.openai_compatible import OpenAICompatible
from om_workers.prompts.parse import parse_observer


def _left_by(some, name):
    """Every key of an agent with what it holds, and its scores in the indexes."""
    base = some.keys.of(name).base
    own = {key.decode().replace(name, "*"): held for key, held in contents(some.bare, f"{base}:*").items()}
    return own, [some.bare.zscore(index, name) for index in (some.keys.resources, some.keys.due_observe)]


def test_a_copied_agent_left_what_a_real_one_left_by_a_push_and_a_look():
    with town(3) as some:
        real, copied = (_left_by(some, name) for name in (some.names[0], some.names[2]))

        lasting = {key: held for key, held in real[0].items() if ":seen:" not in key}
        assert copied == (lasting, real[1])
        assert {key.rpartition("}:")[2].partition(":")[0] for key in real[0]} == {
            *("messages", "record", "seen", "threads", "tokens"),
        }
        assert None not in copied[1]


def test_the_ticks_that_are_measured_claim_what_is_due_and_nothing_else():
    with town(4) as some:
        before = some.bare.zscore(some.keys.due_observe, some.names[1])
        assert idling._observe(2)(some) > 0

        scores = [some.bare.zscore(some.keys.due_observe, name) for name in some.names]
        assert 0 < scores[0] < before
        assert scores[1] == before


def test_one_call_activates_the_messages_that_are_said_to_be(monkeypatch):
    monkeypatch.setattr(activating, "_TIMES", 1)
    monkeypatch.setattr(activating, "_MANY", 600)
    with stand(None) as made:
        beyond, beside = activating.activation(made)

    assert beyond.value > 0
    assert beside.work == "server's time to activate 600 messages, beside 300"


def test_a_provider_that_thinks_counts_who_waits_at_once():
    with Thinking(0.2) as model, ThreadPoolExecutor(3) as pool:
        asked = OpenAICompatible("thinking", ModelSettings(provider="openai", base_url=model.url))
        replies = list(pool.map(asked.complete, [Request(purpose="observe", system="", prompt="")] * 3))
        asked.close()

    assert [reply.text for reply in replies] == [NOTES] * 3
    assert (model.most, model.answered) == (3, 3)
    assert len(parse_observer(NOTES).text.splitlines()) == 25
