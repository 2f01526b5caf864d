"""What om doctor checks of hooks and models."""

import pytest
from configured import Folder
from hook_house import hooked, hooks_installed
from world import World

from om_api.domain.webhooks.hook import Hook, HookFailure
from om_api.ops import diagnosis, hook_faults
from om_api.ops.hook_faults import HookFault
from om_api.ops.model_list import ModelUse, model_list


@pytest.fixture
def house(monkeypatch):
    with hooks_installed(monkeypatch) as one:
        one.install(calm=lambda _: None)
        yield one


def test_hooks_that_are_not_here_are_named_and_those_that_are_not(client, prefix, house):
    world = World(client, prefix, **hooked("before_observe", "calm", "gone"))

    assert hook_faults.missing(world.settings) == [HookFault(("",), "before_observe", "gone")]
    (finding,) = diagnosis.of_hooks(hook_faults.missing(world.settings))
    assert (finding.level, finding.about) == ("note", "hooks")
    assert "gone (before_observe of all agents) cannot be asked from here" in finding.says


def test_hooks_that_failed_of_late_are_told_by_their_point_with_the_newest_reason(client, prefix, monkeypatch):
    world = World(client, prefix)
    for resource, why in (("harold", "error"), ("lotte", "timeout")):
        world.services.events.hook_failed(resource, HookFailure("after_observe", Hook("calm"), why))

    assert world.services.run(hook_faults.failed(world.services.keys)) == [
        HookFault(("harold", "lotte"), "after_observe", "calm", "timeout")
    ]
    (finding,) = diagnosis.of_hooks(world.services.run(hook_faults.failed(world.services.keys)))
    assert (finding.level, finding.trouble) == ("warning", True)
    assert "calm (after_observe of harold, lotte) failed: timeout" in finding.says
    monkeypatch.setattr(hook_faults, "_LATE_MS", -60_000)
    assert world.services.run(hook_faults.failed(world.services.keys)) == []


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
