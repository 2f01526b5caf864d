import datetime as dt
from contextlib import contextmanager
from itertools import pairwise

import pytest
from model_server import Behaviour
from reading_model import ReadingModel, configured, grounded

from om_api import load_settings
from om_api.domain.errors import ModelError
from om_bench.harness.loading import load
from om_bench.harness.talks import RESOURCE, Talk, TalkQuestion, turn
from om_bench.judged.commands import SAMPLES
from om_bench.judged.memories import AskedContexts, asked_at, fill, sittings, standing

HOUR = 3_600_000
START = 1_710_000_000_000


def said(number, at, thread="talk"):
    return turn(f"m{number}", "user", f"Words number {number} about gates.", START + at, thread)


@pytest.fixture
def ground(server_url):
    return grounded(server_url, load_settings(environ={}))


@pytest.fixture
def talk():
    return load(SAMPLES / "locomo.json")[0]


def test_a_sitting_ends_with_an_idle_hour_or_its_thread():
    messages = [said(1, 0), said(2, 1000), said(3, HOUR + 1000), said(4, HOUR + 2000, "other")]

    assert [[m.id for m in sitting] for sitting in sittings(messages)] == [["m1", "m2"], ["m3"], ["m4"]]
    assert list(sittings([])) == []


def test_every_sitting_is_observed_as_it_ends(ground, talk):
    with standing(ground, "all-sittings") as running:
        fill(running, talk)

        assert len(running.om.observations(RESOURCE)) >= len(list(sittings(talk.messages))) == 9
        assert running.om.chunks(RESOURCE) == []


def test_a_context_is_of_the_day_of_its_question_which_nobody_else_sees(ground, talk):
    first, second = (
        TalkQuestion(text, "", ())
        for text in ("How many years of blood samples had Wren in the lab?", "Who is Desmond?")
    )
    at = int(dt.datetime(2025, 5, 4, 12, tzinfo=dt.UTC).timestamp() * 1000)
    with standing(ground, "dated") as running:
        fill(running, talk)
        contexts = AskedContexts(running)
        text, other = contexts.asked(first, at).text, contexts.asked(second, at).text

        assert "Today is Sunday, May 4, 2025" in text
        assert "How many years of blood samples had Wren in the lab?" in text
        assert "Eleven years of blood samples" in text.partition("<recalled>")[2]
        assert "How many years of blood samples had Wren in the lab?" not in other
        assert not running.om.recall("Desmond", RESOURCE, thread_id="asking").hits
        assert "asking" not in [thread.id for thread in running.om.threads(RESOURCE)]


def test_a_question_without_a_day_is_asked_a_day_after_the_last_message():
    talk = Talk("t", (said(1, 0),), ())

    assert asked_at(TalkQuestion("q", "a", ()), talk) == START + 24 * HOUR
    assert asked_at(TalkQuestion("q", "a", (), asked_at=5), talk) == 5


def test_nothing_is_left_of_a_memory_that_stood(ground, talk):
    with standing(ground, "gone") as running:
        fill(running, talk)
    with standing(ground, "gone") as running:
        assert running.om.observations(RESOURCE) == []


def test_what_a_model_noted_is_kept_and_not_asked_for_again(tmp_path, server_url, talk):
    kept = tmp_path / "memories" / "0.jsonl"
    with ReadingModel() as server:
        settings = load_settings(configured(tmp_path / "config", server.url), {})
        ground = grounded(server_url, settings, "fake")
        with standing(ground, "noted") as running:
            spent = fill(running, talk, kept)
            before = [note.text for note in running.om.observations(RESOURCE)]
        with standing(ground, "noted-again") as running:
            again = fill(running, talk, kept)
            after = [note.text for note in running.om.observations(RESOURCE)]

    assert spent.calls == len(server.calls) == 9
    assert spent.dollars == pytest.approx((spent.input + 2 * spent.output) / 1e6, rel=0.01)
    assert again.calls == 0
    assert after == before != []


def test_an_observer_that_answers_nothing_useful_for_a_while_is_asked_again(tmp_path, server_url, monkeypatch):
    monkeypatch.setattr("om_bench.judged.patience.patience_ms", lambda _error: 20)
    monkeypatch.setattr("om_workers.work.observer.patience_ms", lambda _error: 400)
    talk = Talk("t", tuple(said(n, n * 1000) for n in range(4)), ())
    with ReadingModel(gets=lambda _role, n: Behaviour.error_500 if n <= 4 else None) as server:
        settings = load_settings(configured(tmp_path / "config", server.url), {})
        ground = grounded(server_url, settings, "fake")
        with standing(ground, "stubborn") as running:
            fill(running, talk)
            assert len(running.om.observations(RESOURCE)) == 1
    assert len(server.calls) == 5


@pytest.fixture
def noting(tmp_path, server_url, monkeypatch):
    """A memory, and how it is made of four messages whose observer refuses where a test says so; nobody may wait for anything."""
    monkeypatch.setattr("om_bench.judged.patience.time.sleep", lambda _s: pytest.fail("waited"))

    @contextmanager
    def made(refuses):
        def gets(_role, n):
            return Behaviour.refusal if refuses(n, server.prompts[-1][2]) else None

        with ReadingModel(gets=gets) as server:
            settings = load_settings(configured(tmp_path / "config", server.url), {})
            with standing(grounded(server_url, settings, "fake"), "unusable") as running:
                yield running, lambda: fill(running, Talk("t", tuple(said(n, n * 1000) for n in range(4)), ()))

    return made


def test_what_an_observer_says_that_cannot_be_used_is_asked_for_again(noting):
    with noting(lambda n, _prompt: n == 1) as (running, filled):
        assert filled().calls == 2
        assert len(running.om.observations(RESOURCE)) == 1


def test_an_observer_that_can_use_nothing_ends_the_run_after_some_patience_and_says_so(noting, monkeypatch):
    with noting(lambda _n, _prompt: True) as (running, filled):
        monkeypatch.setattr("om_bench.judged.patience.time.sleep", lambda _s: None)
        with pytest.raises(
            ModelError, match="left messages unread, held: fake could observe nothing, not even what is harmless"
        ):
            filled()
        assert running.om.rejected(RESOURCE) == []


def test_a_message_that_no_observer_can_use_is_set_aside_as_a_worker_does_and_the_others_are_noted(noting):
    with noting(lambda _n, prompt: "Words number 2" in prompt) as (running, filled):
        filled()

        assert ["Words number 2" in each.member for each in running.om.rejected(RESOURCE)] == [True]
        assert sum(len(each.message_ids) for each in running.om.observations(RESOURCE)) == 4
        assert len(running.om.observations(RESOURCE)) > 1


def test_sittings_keep_every_message(talk):
    whole = [message for sitting in sittings(talk.messages) for message in sitting]

    assert whole == list(talk.messages)
    assert all(one.at <= two.at for one, two in pairwise(whole))
