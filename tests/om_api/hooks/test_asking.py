"""Hooks are found by their names, asked in their order and within their time; what fails is told, and changes nothing."""

import asyncio
import re
import threading
from importlib.metadata import EntryPoint

import pytest

from om_api.domain.errors import HookError
from om_api.domain.webhooks.hook import Hook
from om_api.hooks import asking, entry_points, time_limit
from om_api.hooks.asking import ask_all
from om_api.hooks.entry_points import GROUP, function_of
from om_api.hooks.faults import MissingHookError
from om_api.hooks.time_limit import Places, within

GIVEN = {"resource": "harold", "thread": None, "texts": ["one", "two"]}


def asked(*names, on_failure="skip"):
    hooks = [Hook(entry_point=name, timeout=0.2 if name == "hangs" else 10, on_failure=on_failure) for name in names]
    return ask_all("before_reflect", hooks, GIVEN, allow_private=False)


def add(word):
    return lambda given: {"texts": [f"{text} {word}" for text in given["texts"]]}


def test_each_is_given_what_the_one_before_it_left(hook_house):
    def spoil(given):
        given["texts"].append("more")  # what a hook does to what it is given is its own

    hook_house.install(a=add("a"), b=add("b"), spoil=spoil)

    found = asked("a", "spoil", "b")
    assert (found.given["texts"], found.failures) == (["one a b", "two a b"], ())


def test_nothing_of_a_hook_that_fails_counts_and_the_others_are_asked(hook_house):
    hook_house.install(a=add("a"), b=add("b"))

    found = asked("a", "raises", "hangs", "nonsense", "missing", "b")
    assert found.given["texts"] == ["one a b", "two a b"]
    assert [(each.hook.name, each.why) for each in found.failures] == [
        ("raises", "error"), ("hangs", "timeout"), ("nonsense", "answer"), ("missing", "missing"),
    ]  # fmt: skip
    assert found.go_on("harold", "nothing was kept") is found.given


def test_after_one_that_says_stop_nobody_is_asked(hook_house):
    came = []
    hook_house.install(late=came.append)

    found = asked("raises", "late", on_failure="stop")
    assert len(found.failures) == 1
    with pytest.raises(
        HookError,
        match=r"hook raises of .* failed \(error\), and says stop: nothing was kept\. .* om hooks list harold",
    ):
        found.go_on("harold", "nothing was kept")
    assert came == []


def test_an_answer_that_is_no_json_or_too_large_cannot_be_used(hook_house, monkeypatch):
    monkeypatch.setattr(asking, "LONGEST", 30)
    texts = {"small": ["a", "b"], "large": ["a" * 30, "b"], "odd": {1, 2, object()}}
    hook_house.install(
        **{name: lambda _, said=said: {"texts": said} for name, said in texts.items()}, none=lambda _: object()
    )

    assert asked("small").failures == ()
    failures = [asked(name).failures[0] for name in ("large", "odd", "none")]
    assert [failure.why for failure in failures] == ["answer"] * 3
    assert "permitted: 30" in failures[0].detail


def test_what_a_call_returns_or_raises_is_the_callers():
    async def later():
        await asyncio.sleep(0)
        return 7

    def leave():  # which would end the process
        raise SystemExit(3)

    assert within(30, lambda: 6) == 6
    assert within(5, later) == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0)
    with pytest.raises(RuntimeError, match="SystemExit"):
        within(5, leave)


def test_a_call_that_hangs_is_left_alone_and_takes_a_place_until_it_ends(monkeypatch):
    monkeypatch.setattr(time_limit, "_places", Places(2, 1))
    over = threading.Event()

    with pytest.raises(TimeoutError):
        within(0.05, lambda: over.wait(30))
    with pytest.raises(TimeoutError):  # no place of this agent
        within(0.05, lambda: 6)
    assert within(30, lambda: 6, "another") == 6
    with pytest.raises(TimeoutError):
        within(0.05, lambda: over.wait(30), "another")
    with pytest.raises(TimeoutError):  # no place at all
        within(0.05, lambda: 6, "a third")
    over.set()
    assert within(30, lambda: 6) == 6


def test_a_coroutine_is_cancelled(monkeypatch):
    monkeypatch.setattr(time_limit, "_places", Places(2, 1))
    ended = threading.Event()

    async def hang():
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        within(0.05, hang)
    assert ended.wait(30)
    assert within(30, lambda: 6) == 6


@pytest.fixture
def installed(monkeypatch):
    values = {"dumps": "json:dumps", "gone": "no_such_module:f", "lacks": "json:no_such_function"}
    found = {name: EntryPoint(name, value, GROUP) for name, value in values.items()}
    monkeypatch.setattr(entry_points, "installed", lambda: found)


def test_a_name_leads_to_what_was_installed_under_it_and_any_other_nowhere(installed):
    assert function_of("dumps")([1]) == "[1]"
    for name in ("other", "json:dumps", "json.dumps", "gone", "lacks"):
        with pytest.raises(MissingHookError, match=re.escape(name)):
            function_of(name)
