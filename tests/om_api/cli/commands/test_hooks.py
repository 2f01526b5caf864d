"""`om hooks`: an agent's hooks are listed, and tried with what is nobody's."""

import msgspec
import pytest
from hook_house import hooks_installed


@pytest.fixture
def house(monkeypatch, om):
    listed = {
        "HOOKS__BEFORE_OBSERVE": [
            {"entry_point": "calm"},
            {"entry_point": "gone", "on_failure": "stop", "timeout": 90 / 60},
        ],
        "HOOKS__AFTER_REFLECT": [{"url": "https://hooks.example.org/secret-path", "secret_env": "HOOK_SECRET"}],
    }
    for name, value in listed.items():
        monkeypatch.setenv(f"OM_{name}", msgspec.json.encode(value).decode())
    with hooks_installed(monkeypatch) as one:
        one.install(calm=lambda given: {"messages": [{**each, "content": "calm"} for each in given["messages"]]})
        yield one


def test_hooks_are_listed_with_where_they_run_and_whether_they_are_here(om, om_json, house):
    rows = om_json("hooks", "list", "harold")

    assert [(each["point"], each["name"], each["ready"], each["failures"]) for each in rows] == [
        ("before_observe", "calm", True, 0),
        ("before_observe", "gone", False, 0),
        ("after_reflect", "hooks.example.org", False, 0),
    ]
    told = om("hooks", "list", "harold").stdout
    assert "1.5s" in told
    assert ("ready" in told, "here" in told) == (True, False)
    assert "secret-path" not in told


def test_an_agent_without_hooks_is_told_where_they_are_named(om, client, prefix):
    client.set(f"{prefix}:{{harold}}:scope", "resource", ex=60)

    told = om("hooks", "list", "harold")
    assert (told.exit_code, told.stdout) == (0, "") or "docs/hooks.md" in told.stderr


def test_trying_shows_what_each_changes_and_fails_where_one_does(om, om_json, house):
    tried = om("hooks", "try", "harold", "before_observe")
    assert tried.exit_code == 1
    assert "calm" in tried.stdout
    assert "missing" in tried.stdout
    assert "Error" not in tried.stdout
    house.install(gone=lambda _: None)

    calm, gone = om_json("hooks", "try", "harold", "before_observe")
    assert [each["content"] for each in calm["changes"]["messages"]] == ["calm"]
    assert (gone["hook"], gone["changes"], gone["failed"]) == ("gone", {}, "")


def test_a_point_without_hooks_and_one_that_there_is_not_are_refused(om, house):
    none, unknown = om("hooks", "try", "harold", "before_context"), om("hooks", "try", "harold", "before_lunch")

    assert (none.exit_code, unknown.exit_code) == (2, 2)
    assert "om hooks list harold" in none.stderr
    assert "after_reflect" in unknown.stderr
