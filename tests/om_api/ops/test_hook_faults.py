"""What doctor tells of hooks: which are not here, and which failed of late."""

import pytest
from hook_house import hooked, hooks_installed
from world import World

from om_api.domain.webhooks.hook import Hook, HookFailure
from om_api.ops import diagnosis, hook_faults
from om_api.ops.hook_faults import HookFault


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
