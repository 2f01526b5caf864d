"""Hooks are asked in their order, each with what the one before it left; what fails is told, and changes nothing."""

import pytest
from hook_house import hooks_installed

from om_api.domain.errors import HookError
from om_api.domain.webhooks.hook import Hook
from om_api.hooks import asking
from om_api.hooks.asking import ask_all

GIVEN = {"resource": "harold", "thread": None, "texts": ["one", "two"]}


@pytest.fixture
def house(monkeypatch):
    with hooks_installed(monkeypatch) as one:
        one.install_bad()
        yield one


def asked(*names, on_failure="skip"):
    hooks = [Hook(entry_point=name, timeout=0.2 if name == "hangs" else 10, on_failure=on_failure) for name in names]
    return ask_all("before_reflect", hooks, GIVEN, allow_private=False)


def add(word):
    return lambda given: {"texts": [f"{text} {word}" for text in given["texts"]]}


def test_each_is_given_what_the_one_before_it_left(house):
    house.install(a=add("a"), b=add("b"))

    found = asked("a", "b")
    assert (found.given["texts"], found.failures) == (["one a b", "two a b"], ())


def test_nothing_of_a_hook_that_fails_counts_and_the_others_are_asked(house):
    house.install(a=add("a"), b=add("b"))

    found = asked("a", "raises", "hangs", "nonsense", "missing", "b")
    assert found.given["texts"] == ["one a b", "two a b"]
    assert [(each.hook.name, each.why) for each in found.failures] == [
        ("raises", "error"), ("hangs", "timeout"), ("nonsense", "answer"), ("missing", "missing"),
    ]  # fmt: skip
    assert found.go_on("harold", "nothing was kept") is found.given


def test_after_one_that_says_stop_nobody_is_asked(house):
    came = []
    house.install(late=came.append)

    found = asked("raises", "late", on_failure="stop")
    assert len(found.failures) == 1
    with pytest.raises(
        HookError,
        match=r"hook raises of .* failed \(error\), and says stop: nothing was kept\. .* om hooks list harold",
    ):
        found.go_on("harold", "nothing was kept")
    assert came == []


def test_what_a_hook_does_to_what_it_is_given_is_its_own(house):
    def spoil(given):
        given["texts"].append("more")

    house.install(spoil=spoil)

    assert asked("spoil").given["texts"] == ["one", "two"]


@pytest.mark.parametrize("answer", [object(), {"texts": {1, 2, object()}}])
def test_what_is_no_json_is_an_answer_that_cannot_be_used(house, answer):
    house.install(odd=lambda _: answer)

    (failure,) = asked("odd").failures
    assert failure.why == "answer"


def test_an_answer_that_is_too_large_is_not_read(house, monkeypatch):
    monkeypatch.setattr(asking, "LONGEST", 30)
    house.install(small=lambda _: {"texts": ["a", "b"]}, large=lambda _: {"texts": ["a" * 30, "b"]})

    assert asked("small").failures == ()
    (failure,) = asked("large").failures
    assert failure.why == "answer"
    assert "permitted: 30" in failure.detail


def test_without_httpx2_a_url_is_missing_and_says_what_brings_it(monkeypatch):
    def lacking(_):
        raise ModuleNotFoundError(name="httpx2")

    monkeypatch.setattr(asking, "import_module", lacking)
    hook = Hook(url="https://hooks.example.org/", secret_env="HOOK_SECRET")

    (failure,) = ask_all("before_reflect", [hook], GIVEN, allow_private=False).failures
    assert failure.why == "missing"
    assert "cortex-om[workers]" in failure.detail
