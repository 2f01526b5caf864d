import pytest
from reading_model import ReadingModel, configured, grounded

from om_api import load_settings
from om_bench.harness.loading import load
from om_bench.judged.commands import SAMPLES
from om_bench.judged.estimate import CostSpan, ModelWork, as_lines, estimate, shown, total
from om_bench.judged.journal import RunPlan, SpentTokens, journal
from om_bench.judged.protocols import PROTOCOLS
from om_bench.judged.running import RunManner, chosen, run

LOCOMO = PROTOCOLS["locomo"]


@pytest.fixture
def asked():
    return chosen(load(SAMPLES / "locomo.json"), (), None, LOCOMO)


def told(server_url, asked, *, made=(), model="fake", settings=None, as_if=()):
    ground = grounded(server_url, settings or load_settings(environ={}), "fake")
    return estimate(asked, set(made), ground, RunManner(LOCOMO, model, "scripted", 1, 2), "fake", as_if)


def test_a_run_costs_what_was_told_before(tmp_path, server_url, asked):
    """A model that counts tokens as we do, and looks up once, is within the bounds; so is what its notes take."""

    def read(_system, prompt):
        return "It was at Southmead." if "RECALL:" in prompt else "RECALL: hospital operation"

    with ReadingModel(read) as server:
        settings = load_settings(configured(tmp_path / "config", server.url), {})
        found = told(server_url, asked, settings=settings)
        ground = grounded(server_url, settings, "fake")
        with journal(tmp_path / "run", RunPlan("", (), "", "", "", {}, (), 1, "")) as kept:
            run(asked, kept, ground, RunManner(LOCOMO, "fake", "fake", 1, 2))
            notes = sum((made.spent for made in kept.memories.values()), SpentTokens())
            answers = sum((answer.spent for answer in kept.answers.values()), SpentTokens())

    work = found.work["notes"]
    assert work.calls.low <= notes.calls <= work.calls.high
    assert 0.7 * work.input.low <= notes.input <= 1.3 * work.input.high  # a token is four characters there
    assert found.work["answers"].calls == CostSpan(11, 22)
    assert 0.7 * found.work["answers"].input.low <= answers.input <= 1.3 * found.work["answers"].input.high


def test_notes_that_are_taken_already_cost_nothing(server_url, asked):
    found = told(server_url, asked, made={0})

    assert found.work["notes"].calls == CostSpan(0, 0)
    assert found.dollars["notes"] == CostSpan(0, 0)


def test_an_unknown_price_is_said_and_whoever_was_not_named_is_priced_too(server_url, asked):
    found = told(server_url, asked, model="nobody-knows-1", as_if=("gemini-2.5-flash",))
    text = "\n".join(as_lines(found))

    assert found.dollars["answers"] is None
    assert found.may_cost
    assert "| nobody-knows-1 |" in text
    assert "price unknown: state `prices` of the model" in text
    assert found.as_if["gemini-2.5-flash"]["answers"].high > found.as_if["gemini-2.5-flash"]["answers"].low > 0
    assert "| gemini-2.5-flash | $" in text


def test_a_recall_more_costs_more(server_url, asked):
    ground = grounded(server_url, load_settings(environ={}))
    most = [
        estimate(asked, {0}, ground, RunManner(LOCOMO, "scripted", "scripted", n, 1), "extractive", ())
        .work["answers"]
        .input
        for n in (0, 3)
    ]

    assert most[0].low < most[1].low * 1.2
    assert most[1].high > 4 * most[0].high


def test_rules_cost_nothing(server_url, asked):
    ground = grounded(server_url, load_settings(environ={}))
    found = estimate(asked, set(), ground, RunManner(LOCOMO, "scripted", "scripted", 3, 1), "extractive", ())

    assert not found.may_cost
    assert "Altogether: nothing." in "\n".join(as_lines(found))


def test_dollars_are_shown_as_people_read_them():
    assert shown(CostSpan(0.0123, 12.5)) == "$0.012 – $12.50"
    assert shown(None).startswith("price unknown")
    assert total({"a": CostSpan(1, 2), "b": None}) is None
    assert total({"a": CostSpan(1, 2), "b": CostSpan(3, 4)}) == CostSpan(4, 6)
    assert ModelWork().dollars("gemini-2.5-flash", {}) == CostSpan(0, 0)
