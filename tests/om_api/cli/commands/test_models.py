"""`om models`: what is in use is listed, and a model that is tried says by an exit code whether it answers."""

from trial_worker import READY, answering

from om_api.domain.errors import ModelError


def test_models_are_listed_with_their_prices_and_who_uses_them(om, om_json):
    found = {each["name"]: each for each in om_json("models", "list")}

    assert found["gemini-2.5-flash"]["prices"]["input"] > 0
    assert {use["role"] for use in found["gemini-2.5-flash"]["used_by"]} == {"observer", "reflector"}
    assert "everybody else as observer" in " ".join(om("models", "list").stdout.split())


def test_one_that_answers_says_so_with_its_time_its_tokens_and_its_dollars(om, om_json, world):
    with answering(world, READY, READY):
        found = om_json("models", "try", "gemini-2.5-flash")
        shown = om("models", "try", "gemini-2.5-flash")

    assert (found["outcome"], found["input"], found["output"], found["text"]) == ("answered", 48, 2, "ready")
    assert found["cost"] > 0
    assert (shown.exit_code, "answered" in shown.stdout, "0.0000" in shown.stdout) == (0, True, True)


def test_one_that_does_not_says_why(om, world):
    with answering(world, ModelError("gemini-2.5-flash refused (401): check GEMINI_API_KEY")):
        result = om("models", "try", "gemini-2.5-flash")

    assert (result.exit_code, "failed" in result.stdout) == (1, True)
    assert "check GEMINI_API_KEY" in result.stderr


def test_without_a_worker_it_says_so(om, world):
    result = om("models", "try", "gemini-2.5-flash", "--wait", "0")

    assert (result.exit_code, "busy" in result.stdout, "om doctor" in result.stderr) == (0, True, True)


def test_one_that_nobody_uses_is_not_there_and_no_try_was_made(om, world):
    result = om("models", "try", "gpt-mystery")

    assert (result.exit_code, "name one of" in result.stderr) == (1, True)
    assert [each.did for each in world.om.audit().entries] in ([], ["model_tried"])


def test_whoever_has_one_tried_is_told_of(om, world):
    om("models", "try", "gemini-2.5-flash", "--wait", "0")
    (entry,) = world.om.audit().entries

    assert (entry.did, entry.of, entry.via) == ("model_tried", "gemini-2.5-flash", "cli")
