"""OpenAI's protocol through the real SDK, against a server of our own that misbehaves as it is told."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest
from model_requests import KEY, SECRET, failing, observe, reflect, refused
from model_server import Behaviour, Canned, ModelServer, answer_to, completion, marks, seeded_plan
from openai import NotFoundError
from provider_models import close, closing, opened
from structlog.testing import capture_logs
from world import World, wait_until

from om_api import load_settings
from om_api.domain.errors import ModelError, SettingsError
from om_api.domain.values import Outcome
from om_api.settings import ModelSettings
from om_workers.calls.registry import Registry, key_of
from om_workers.llm.base import Usage
from om_workers.llm.extractive import Extractive
from om_workers.llm.openai_compatible import OpenAICompatible
from om_workers.prompts.parse import parse_observer, parse_reflector


@pytest.fixture
def provider():
    return "openai"


# -- what is asked, and what comes back


def test_an_answer_comes_back_with_its_usage_under_the_name_of_the_configuration(server, model):
    reply = model.complete(observe())

    asked = server.last
    whole = completion(asked, answer_to(asked))["usage"]
    assert reply.text == f"<observations>\nDate: Dec 4, 2025\n* 🟡 [[w1-1]] hello, {SECRET}\n</observations>"
    assert reply.model == "fake"
    assert reply.usage == Usage(
        input=whole["prompt_tokens"], cached=whole["prompt_tokens"] // 4, output=whole["completion_tokens"]
    )


def test_what_is_sent_is_the_model_the_prompts_as_they_are_the_temperature_and_the_options(server):
    request = observe()
    with opened(
        "openai", server.root, model="deepseek-chat", options={"max_tokens": 900, "day": date(2025, 12, 4)}
    ) as model:
        model.complete(request)

    assert server.last == {
        "model": "deepseek-chat",
        "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.prompt}],
        "temperature": 0.3,
        "max_tokens": 900,
        "day": "2025-12-04",
    }
    assert server.last_headers["authorization"] == f"Bearer {KEY}"


def test_openai_itself_knows_the_size_of_an_answer_by_another_name():
    with closing(OpenAICompatible("gpt-x", ModelSettings(max_output_tokens=900), KEY)) as model:
        assert model._limits(observe()) == {"temperature": 0.3, "max_completion_tokens": 900}


def test_the_name_of_the_configuration_is_asked_for_if_there_is_no_other(server, model):
    model.complete(observe())

    assert server.last["model"] == "fake"


def test_openais_own_organization_and_address_are_shown_to_no_other_server(server, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-ours")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with opened("openai", server.root) as model:
        model.complete(observe())

    assert "org-ours" not in str(server.last_headers)
    assert "proj-ours" not in str(server.last_headers)


# -- what goes wrong, and whose fault it is


@pytest.mark.parametrize(
    ("gets", "retryable", "says"),
    [
        (refused(400, "Content Exists Risk"), False, "Content Exists Risk"),
        (refused(400, "Model Not Exist"), True, "correct its model, key or options"),
        (refused(400, "'temperature' 0.3", code="unsupported_value"), True, "correct its model, key or options"),
        (Canned(200, {"choices": []}), True, "without choices"),
        (Canned(200, {"choices": [{"message": {"content": None, "refusal": "no"}}]}), False, "refused to answer"),
        (Canned(200, {"choices": "none"}), True, "cannot be read"),
    ],
)
def test_a_failure_of_this_protocol_says_whose_fault_it_is(server, model, gets, retryable, says):
    error = failing(server, model, gets)

    assert says in str(error)
    assert error.retryable is retryable


def test_what_the_sdk_raised_is_kept_for_who_looks_closer(server, model):
    assert isinstance(failing(server, model, refused(404)).__cause__, NotFoundError)


def test_an_answer_cut_short_is_used_if_its_notes_are_complete(server, model):
    whole = {"message": {"content": "<observations>\n* one\n</observations>\n<current-ta"}, "finish_reason": "length"}
    server.plan = lambda n, purpose: Canned(200, {"choices": [whole]})

    assert parse_observer(model.complete(observe()).text).text == "* one"


# -- keys, and what was said


def test_a_word_like_our_own_is_no_message(server, model):
    error = failing(server, model, refused(400, "reduce the length of the messages or completion"))

    assert "reduce the length of the messages or completion" in str(error)


@pytest.mark.parametrize(
    ("settings", "environ", "key"),
    [
        ({}, {"OPENAI_API_KEY": "sk-1"}, "sk-1"),
        ({"api_key_env": "MINE"}, {"MINE": " sk-2\n", "OPENAI_API_KEY": "sk-1"}, "sk-2"),
        ({"base_url": "http://localhost:11434/v1"}, {}, ""),
        ({"base_url": "http://localhost:11434/v1"}, {"OPENAI_API_KEY": "sk-1"}, ""),
    ],
)
def test_a_key_is_read_from_the_variable_it_stands_in_and_no_other(settings, environ, key):
    assert key_of("gpt-x", ModelSettings(**settings), environ.get) == key


@pytest.mark.parametrize(
    ("settings", "environ", "variable"),
    [
        ({}, {}, "OPENAI_API_KEY"),
        ({"api_key_env": "MINE"}, {"OPENAI_API_KEY": "sk-1"}, "MINE"),
        ({"api_key_env": "MINE", "base_url": "https://api.example.org"}, {"MINE": ""}, "MINE"),
        ({"api_key_env": "MINE"}, {"MINE": "sk-“quoted”"}, "MINE"),
    ],
)
def test_a_key_that_is_asked_for_and_missing_is_named(settings, environ, variable):
    with pytest.raises(SettingsError, match=f"{variable} holds no key; set it"):
        key_of("gpt-x", ModelSettings(**settings), environ.get)


# -- the registry


def registry(**environ):
    return Registry(load_settings(environ=environ))


def test_a_model_with_an_address_needs_no_key(server):
    made = registry(OM_MODELS__MINE__BASE_URL=server.url).model(["mine"])

    assert "[[w1-1]]" in made.complete(observe()).text
    assert isinstance(made, OpenAICompatible)
    close(made)


def test_a_model_without_its_key_is_passed_over_and_said_to_be_once():
    models = registry()
    with capture_logs() as logs:
        first, second = models.model(["gpt-x"]), models.model(["gpt-x"])

    assert isinstance(first, Extractive)
    assert first is second
    ((said),) = logs
    assert (said["event"], said["model"]) == ("model_not_available", "gpt-x")
    assert said["reason"] == "OPENAI_API_KEY holds no key; set it to the provider's key and restart the workers"


def test_the_built_in_deepseek_without_its_key_leaves_the_work_to_the_next(server):
    made = registry(OM_MODELS__MINE__BASE_URL=server.url).model(["deepseek", "mine"])

    assert made.name == "mine"
    close(made)


def test_threads_that_ask_for_a_model_at_once_get_the_same_one(server, monkeypatch):
    # without the registry's lock each thread makes a client of its own, and all but one are never closed
    monkeypatch.setattr("om_workers.llm.openai_compatible.OpenAICompatible", _slow_to_make)
    models, at_once = registry(OM_MODELS__MINE__BASE_URL=server.url), threading.Barrier(8)

    def ask(_):
        at_once.wait(30)
        return models.model(["mine"])

    with ThreadPoolExecutor(8) as pool:
        made = set(map(id, pool.map(ask, range(8))))

    assert len(made) == 1
    close(models.model(["mine"]))


def _slow_to_make(*arguments):
    time.sleep(0.05)
    return OpenAICompatible(*arguments)


# -- the whole house, talking to the server


@pytest.fixture
def world(client, prefix, model):
    return World(client, prefix, model)


def _sealed(world):
    """Say enough for a chunk, have it sealed, and return its id."""
    world.say("[[w1-1]] one", "[[w1-2]] two")
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    ((_, (_, chunk)),) = world.dispatch.queue
    return chunk


def test_a_429_burns_no_attempt_and_postpones_the_scope(world, server):
    server.plan = lambda n, purpose: refused(429, "slow down", {"Retry-After": "60"})
    chunk = _sealed(world)
    now = world.client.time()[0] * 1000

    with pytest.raises(ModelError, match="slow down"):
        world.perform("observe_chunk", "harold", chunk)

    assert world.client.hget(f"{world.prefix}:{{harold}}:chunk:{chunk}", "attempts") == b"0"
    assert world.client.zscore(f"{world.prefix}:due:observe", "harold") >= now + 55_000
    assert len(server.calls) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_name_turns_no_message_into_a_placeholder_however_often_it_is_tried(world, server, status):
    # were these the message's fault, a typing error in a file would quarantine every message that comes
    server.plan = lambda n, purpose: refused(status, "no")
    chunk = _sealed(world)
    for _ in range(world.settings.memory.observer.max_attempts + 2):
        with pytest.raises(ModelError):
            world.perform("observe_chunk", "harold", chunk)
    server.plan = lambda n, purpose: Behaviour.answer

    assert world.perform("observe_chunk", "harold", chunk) is Outcome.BUFFERED
    assert world.client.llen(f"{world.prefix}:{{harold}}:rejected") == 0


def test_every_mark_that_was_said_can_be_found_in_what_the_actor_reads(world, server):
    said = [
        f"[[w1-{n}]] I said this as the {n}th thing, at some length, so that notes of it take room" for n in range(60)
    ]
    world.say(*said)
    world.settle()
    world.om.force_reflect(resource_id="harold")
    world.settle()

    assert {call.purpose for call in server.calls} == {"observe", "reflect"}
    assert set(marks(world.context().text)) == {f"[[w1-{n}]]" for n in range(60)}


# -- the server itself


def test_an_observation_has_the_marks_of_the_messages_and_not_those_of_earlier_notes(server, model):
    earlier = ("Date: Dec 3, 2025\n* 🟡 (09:15) [[w0-9]] before",)
    observed = parse_observer(model.complete(observe("[[w1-1]] a", "no mark", "[[w1-2]] b", previous=earlier)).text)

    assert observed.text == "Date: Dec 4, 2025\n* 🟡 [[w1-1]] a\n* 🟡 [[w1-2]] b"
    assert [(call.n, call.purpose, call.marks) for call in server.calls] == [(1, "observe", ("[[w1-1]]", "[[w1-2]]"))]


def test_many_messages_that_are_alike_are_no_loop(model):
    texts = [f"[[w1-{n}]] the same words again and again, said at length by everybody" for n in range(400)]
    observed = parse_observer(model.complete(observe(*texts)).text)

    assert not observed.degenerate
    assert len(marks(observed.text)) == 400


def test_a_reflection_is_shorter_and_has_every_mark(model):
    notes = "\n".join(f"* 🟡 [[w1-{n}]] some words that are left out later" for n in range(120))
    reflected = parse_reflector(model.complete(reflect(f'<thread id="t-1">\n{notes}\n</thread>')).text)

    assert marks(reflected.text) == marks(notes)
    assert len(reflected.text) < len(notes) / 2
    assert reflected.text.count("\n") == 2


def test_a_plan_gives_the_same_call_the_same_whoever_makes_it():
    plan = seeded_plan(7, {Behaviour.stall: 0.2, Behaviour.error_500: 0.3})
    first = [plan(n, "observe") for n in range(1, 400)]

    assert first == [
        seeded_plan(7, {Behaviour.stall: 0.2, Behaviour.error_500: 0.3})(n, "reflect") for n in range(1, 400)
    ]
    assert set(first) == {Behaviour.stall, Behaviour.error_500, Behaviour.answer}
    assert 40 < first.count(Behaviour.stall) < 120


def test_a_call_that_hangs_has_no_end_until_the_server_ends_and_lets_go_of_it():
    held = ModelServer(lambda n, purpose: Behaviour.stall, stall_s=600)
    with ThreadPoolExecutor(1) as pool, opened("openai", held.root) as model:
        with held:
            asked = pool.submit(model.complete, observe(timeout=100.0))
            wait_until(lambda: held.calls, "the call")
            hanging = held.calls[0]

        with pytest.raises(ModelError, match="hung up"):
            asked.result(20)
        wait_until(lambda: held.calls[0].ended, "the end of the call")
    assert (hanging.behaviour, hanging.ended) == (Behaviour.stall, None)


# -- what of a chat completion can be used


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": None, "completion_tokens": 3}, Usage(output=3)),
        (
            {"prompt_tokens": 9, "completion_tokens": 3, "prompt_cache_hit_tokens": 4},
            Usage(input=9, cached=4, output=3),
        ),
    ],
)
def test_no_call_fails_for_its_usage(server, model, usage, expected):
    body = {"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}], "usage": usage}
    server.plan = lambda n, purpose: Canned(200, body)

    assert model.complete(observe()).usage == expected


def test_an_answer_in_parts_is_one_text(server, model):
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "* on"}, {"type": "text", "text": "e"}]
    server.plan = lambda n, purpose: Canned(200, {"choices": [{"message": {"content": parts}}]})

    assert model.complete(observe()).text == "* one"
