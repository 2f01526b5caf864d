"""Each failure of a hook is counted; one an hour is told, for each agent and hook."""

from om_api.domain.webhooks.hook import Hook, HookFailure
from om_api.store.fleet import event_stream, hook_failures

CALM = Hook(entry_point="calm", on_failure="stop")


def failed(store, point="before_observe", hook=CALM, resource="harold"):
    return store.run(hook_failures.note(store.keys, resource, HookFailure(point, hook, "timeout", "a secret")))


def test_each_is_counted_and_the_first_of_an_hour_told(store, monkeypatch):
    monkeypatch.setattr("om_api.store.fleet.hook_failures.time.time", lambda: 36_000.0)
    first, again, other, elsewhere = (
        failed(store),
        failed(store),
        failed(store, "after_observe"),
        failed(store, resource="bo"),
    )
    monkeypatch.setattr("om_api.store.fleet.hook_failures.time.time", lambda: 39_600.0)
    later = failed(store)

    assert [bool(each) for each in (first, again, other, elsewhere, later)] == [True, False, True, True, True]
    assert (first.kind, first.resource, first.setting) == ("hook_failed", "harold", "hooks.before_observe")
    assert (first.hook, first.why, first.then) == ("calm", "timeout", "stop")
    assert "secret" not in repr(first)
    harold, every = store.run(event_stream.counted(store.keys, ["harold", None]))
    assert hook_failures.failures(harold) == {("before_observe", "calm"): 3, ("after_observe", "calm"): 1}
    assert hook_failures.failures(every)["before_observe", "calm"] == 4


def test_of_a_url_its_host_alone_is_told(store):
    event = failed(store, hook=Hook(url="https://hooks.example.org/secret-path?k=secret", secret_env="HOOK_S"))

    assert event.hook == "hooks.example.org"
    assert hook_failures.failures({"observations": 7, "hook|x": 1, "webhook|failed": 2}) == {}
