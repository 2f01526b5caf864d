"""Models are listed with what they cost and who uses them, and no secret."""

from configured import Folder

from om_api.ops.model_list import ModelUse, model_list

BASE = """
observational_memory: {observer_model: [deepseek, tiered], reflector_model: gemini-2.5-flash, actor_model: gpt-4.1}
models:
  own: {base_url: 'http://models.example/v1?key=hush', prices: {input: 1, output: 2}}
  tiered: {tiers: [{up_to: 1000, model: own}], provider: scripted}
"""


def found(tmp_path, covers=lambda _: True, **environ):
    folder = Folder(tmp_path)
    folder.base(BASE)
    folder.agent("harold", "observational_memory: {reflector_model: qwen-x, actor_model: null}")
    return {model.name: model for model in model_list(folder.load(**environ), covers)}


def test_who_uses_a_model_is_told_those_who_answer_for_others_included(tmp_path):
    models = found(tmp_path)

    assert set(models["own"].used_by) == {ModelUse(None, "observer"), ModelUse("harold", "observer")}
    assert models["gemini-2.5-flash"].used_by == (ModelUse(None, "reflector"),)
    assert models["qwen-x"].used_by == (ModelUse("harold", "reflector"),)
    assert models["gpt-4.1"].used_by == (ModelUse(None, "actor"),)
    assert models["tiered"].tiers == ("own",)


def test_nothing_is_said_of_agents_that_somebody_may_not_know_of(tmp_path):
    models = found(tmp_path, covers=lambda name: name == "other")

    assert "qwen-x" not in models
    assert {use.agent for model in models.values() for use in model.used_by} == {None}


def test_an_address_is_told_without_what_may_be_secret_and_a_key_by_its_variable(tmp_path):
    models = found(tmp_path, DEEPSEEK_API_KEY="sk-hush")

    assert "hush" not in repr(models)
    assert models["own"].base_url == "http://models.example/v1"
    assert (models["deepseek"].key_variable, models["deepseek"].key_is_missing) == ("DEEPSEEK_API_KEY", False)
    assert models["gemini-2.5-flash"].key_is_missing
