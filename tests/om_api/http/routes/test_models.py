"""Models and prompts over HTTP, as far as a key may know of who uses them; and whether a model answers."""

from trial_worker import READY, answering

from om_api.domain.errors import ModelError

TRY = "/v1/models/try?model=gemini-2.5-flash"


def test_models_come_with_prices_and_without_agents_of_others(using):
    found = using("operator", "harold")("GET", "/v1/models").json()["items"]
    models = {each["name"]: each for each in found}

    assert {"extractive", "deepseek", "gemini-2.5-flash"} <= models.keys()
    assert models["gemini-2.5-flash"]["prices"]["input"] > 0
    assert models["gemini-2.5-flash"]["context_window"] > 0


def test_prompts_come_in_pages(using):
    ask = using("operator", "*")
    first = ask("GET", "/v1/prompts?limit=3").json()
    second = ask("GET", f"/v1/prompts?limit=500&cursor={first['next']}").json()
    names = [(each["variant"], each["name"]) for each in (*first["items"], *second["items"])]

    assert len(first["items"]) == 3
    assert len(names) == len(set(names))
    assert {("default", "observer"), ("condensed", "reflector"), ("legacy", "level_1")} <= set(names)


def test_readers_and_writers_are_told_of_neither(using):
    replies = [using(role, "*")("GET", path) for role in ("reader", "writer") for path in ("/v1/models", "/v1/prompts")]

    assert [reply.status_code for reply in replies] == [403] * 4


def test_a_model_that_is_tried_says_whether_it_answers(using, world):
    ask = using("operator", "*")
    with answering(world, READY, ModelError("gemini-2.5-flash refused (401): check GEMINI_API_KEY")):
        found = [ask("POST", f"{TRY}&wait=30").json() for _ in range(2)]

    assert [each["outcome"] for each in found] == ["answered", "failed"]
    assert (found[0]["text"], found[0]["input"], found[0]["output"]) == ("ready", 48, 2)
    assert "check GEMINI_API_KEY" in found[1]["error"]


def test_while_no_worker_comes_it_is_busy_and_whoever_asks_again_waits_for_the_same_one(using):
    ask = using("operator", "*")
    first, second = (ask("POST", TRY).json() for _ in range(2))

    assert first["outcome"] == "busy"
    assert first == second


def test_only_an_operator_of_all_has_models_tried_since_all_pay_for_it(using):
    replies = [using(*key)("POST", TRY) for key in (("writer", "*"), ("operator", "harold"), ("operator", "*"))]

    assert [reply.status_code for reply in replies] == [403, 403, 200]


def test_who_had_which_model_tried_is_in_the_audit_trail(using, world):
    using("operator", "*")("POST", TRY)
    using("operator", "*")("POST", TRY.replace("gemini-2.5-flash", "gpt-mystery"))
    known, unknown = reversed(world.om.audit().entries)

    assert (known.did, known.of, known.status) == ("model_tried", "gemini-2.5-flash", 200)
    assert (unknown.of, unknown.status) == ("gpt-mystery", 404)
