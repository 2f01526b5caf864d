import pytest
import redis
from model_server import Canned
from reading_model import ReadingModel, configured, grounded

from om_api import load_settings
from om_api.domain.errors import ModelError
from om_bench.harness.loading import load
from om_bench.judged.commands import SAMPLES
from om_bench.judged.journal import Answered, RunPlan, journal
from om_bench.judged.protocols import PROTOCOLS
from om_bench.judged.running import RunManner, chosen, left, run

LOCOMO = PROTOCOLS["locomo"]
PLAN = RunPlan("locomo", (), "fake", "fake", "extractive", {}, (), 2, "")
KEY_REFUSED = Canned(401, {"error": {"message": "bad key"}})


@pytest.fixture
def talks():
    return load(SAMPLES / "locomo.json")


def done(folder, server, server_url, asked, jobs=2, provider="openai"):
    address = {"openai": server.url, "gemini": server.root}[provider]
    settings = load_settings(configured(folder / "config", address, provider=provider), {})
    with journal(folder / "run", PLAN) as kept:
        try:
            run(asked, kept, grounded(server_url, settings), RunManner(LOCOMO, "fake", "fake", 2, jobs))
        except ModelError as error:
            return kept, error
        return kept, None


def test_questions_are_chosen_by_kind_and_spread_over_all(talks):
    every = chosen(talks, (), None, LOCOMO)

    assert len(every) == 11
    assert [each.question.kind for each in chosen(talks, ("adversarial",), None, LOCOMO)] == ["category 5"] * 2
    assert chosen(talks, ("category 2",), None, LOCOMO) == chosen(talks, ("temporal",), None, LOCOMO)
    assert [each.number for each in chosen(talks, (), 3, LOCOMO)] == [0, 3, 7]
    assert len({each.key for each in chosen([*talks, *talks], (), None, LOCOMO)}) == 22


def test_each_question_is_read_and_judged_once(tmp_path, server_url, talks):
    asked = chosen(talks, (), 4, LOCOMO)
    with ReadingModel() as server:
        kept, _ = done(tmp_path, server, server_url, asked)

    assert left(asked, kept) == []
    assert {answered.text for answered in kept.answers.values()} == {"It was Ghent."}
    assert set(server.asked("judge").values()) == set(server.asked("read").values()) == {1}
    assert sum(server.asked("read").values()) == 4


@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_recall_finds_what_was_said_in_the_talk_whoever_serves_the_model(tmp_path, server_url, talks, provider):
    def read(_system, prompt):
        return (
            "eleven years"
            if "Eleven years of blood samples" in prompt.partition("RECALL:")[2]
            else "RECALL: blood samples"
        )

    with ReadingModel(read) as server:
        kept, _ = done(tmp_path, server, server_url, chosen(talks, (), 1, LOCOMO), provider=provider)

    (answered,) = kept.answers.values()
    assert (answered.text, answered.recalls) == ("eleven years", ("blood samples",))
    assert "`recall`" in server.prompts[0][1]


def test_a_run_that_a_model_ended_keeps_what_was_answered_and_goes_on(tmp_path, server_url, talks):
    asked = chosen(talks, (), None, LOCOMO)
    with ReadingModel(gets=lambda _role, n: KEY_REFUSED if n > 8 else None) as server:
        kept, error = done(tmp_path, server, server_url, asked, jobs=1)
        before = dict(kept.answers)
    redis.Redis.from_url(server_url).flushall()  # the breaker that these refusals opened waits half a minute
    with ReadingModel() as again:
        kept, none = done(tmp_path, again, server_url, asked, jobs=1)

    assert "refused (401)" in str(error)
    assert len(before) == 4
    assert none is None
    assert left(asked, kept) == []
    assert before.items() <= kept.answers.items()
    assert sum(again.asked("read").values()) == 11 - 4


def test_a_key_that_is_refused_is_not_waited_for(tmp_path, server_url, talks, monkeypatch):
    monkeypatch.setattr("om_bench.judged.patience.time.sleep", lambda _s: pytest.fail("waited"))
    with ReadingModel(gets=lambda _role, _n: KEY_REFUSED) as server:
        _, error = done(tmp_path, server, server_url, chosen(talks, (), 1, LOCOMO))

    assert "refused (401)" in str(error)


def test_answers_that_stand_are_judged_without_a_memory(tmp_path, server_url, talks, monkeypatch):
    monkeypatch.setattr("om_bench.judged.running.fill", lambda *_: pytest.fail("made a memory"))
    asked = chosen(talks, (), 2, LOCOMO)
    with journal(tmp_path / "run", PLAN) as before:
        for each in asked:
            before.add(Answered(each.key, "It was Ghent.", 1))
    with ReadingModel() as server:
        kept, _ = done(tmp_path, server, server_url, asked)

    assert left(asked, kept) == []
    assert [role for role, *_ in server.prompts] == ["judge"] * 2
