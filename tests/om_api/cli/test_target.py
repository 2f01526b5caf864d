"""Which store a command is about: what is typed stands above the environment, no password is shown, and help has examples."""

import json

import pytest

from om_api.cli.group import PLACES

NOWHERE = "redis://:s3cret@127.0.0.1:1/0"


@pytest.mark.parametrize(
    "args",
    [
        ("stats", "ha{rold"),
        ("push", "harold", "thread 1", "hi"),
        ("push", "harold", "", "hi"),
        ("push", "harold", "t-1", "hi", "--id", "a b"),
        ("push", "harold", "t-1", ""),
        ("push", "harold", "t-1", " \n"),
        ("clear", "harold", "", "--yes"),
        ("threads", ".."),
        ("push", "harold", "t-1", "hi", "--timestamp", "soon"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2_before_the_store_is_asked(bare, args):
    result = bare("--url", NOWHERE, *args)

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://user:s3cret@example.org",
        "redis://user:s3cret@example.org:port/0",
        "redis://:s3/cret#s3cret@example.org",
        "rediss+sentinel://:s3cret@127.0.0.1:1/0",
        NOWHERE,
    ],
)
@pytest.mark.parametrize("command", ["stats", "config", "verify"])
def test_no_password_of_an_address_is_ever_printed(bare, url, command):
    output = bare("--url", url, command).output
    assert "cret" not in output.replace('"secret"', "")  # a kind of what is redacted


def test_settings_that_cannot_be_in_force_are_exit_code_2(bare, monkeypatch):
    monkeypatch.setenv("OM_MESSAGE_THRESHOLD", "many")
    result = bare("stats")

    assert result.exit_code == 2
    assert "environment OM_MESSAGE_THRESHOLD: message_threshold" in result.stderr


def test_a_url_stands_above_every_server_the_environment_names(om, monkeypatch):
    monkeypatch.setenv("OM_REDIS_URL", NOWHERE)
    monkeypatch.setenv("OM_STORAGE__REDIS__URL", NOWHERE)
    monkeypatch.setenv("OM_STORAGE__REDIS__PASSWORD_ENV", "NOT_SET")

    assert om("stats").exit_code == 0


def test_the_environment_names_the_store_where_no_url_does(bare, om, server_url, monkeypatch):
    om("push", "harold", "t-1", "hello", "--id", "m-1")
    monkeypatch.setenv("OM_REDIS_URL", server_url)

    assert bare("push", "harold", "t-1", "hello", "--id", "m-1").stdout == "m-1 duplicate\n"


def test_a_wrong_url_is_said_to_come_from_where_it_was_typed(bare):
    result = bare("--url", "nowhere", "stats")

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: --url: storage.redis.url: it has no scheme: write it as redis://nowhere")


GROUPS = {"config": ("show", "check"), "rejected": ("list", "show", "retry", "drop")}
GROUPS["keys"] = ("create", "list", "revoke", "rotate")
COMMANDS = [(name,) for name in PLACES if name not in {"up", "demo", "bench"}]
COMMANDS += [(group, name) for group, names in GROUPS.items() for name in names]


@pytest.mark.parametrize("command", [(), *COMMANDS], ids=" ".join)
def test_every_help_text_has_examples_to_copy(bare, command):
    result = bare(*command, "--help")

    assert result.exit_code == 0
    assert "\n  Examples:\n    om " in result.stdout
    assert f"    om {' '.join(command)}" in result.stdout


def test_the_help_of_om_lists_every_command_and_every_exit_code(bare):
    text = bare("--help").stdout

    assert [name for (name, *_) in COMMANDS if f"  {name} " not in text] == []
    assert all(f"\n    {code} " in text for code in (0, 1, 2, 3, 130))


@pytest.fixture
def broken(here):
    """A configuration of which one value cannot be."""
    (here / "config").mkdir()
    (here / "config" / "observational-memory.yaml").write_text(
        "observational_memory:\n  ttl_days: never\n  min_recent_messages: 3\n"
    )
    return here


@pytest.mark.parametrize(
    "command", [("stats",), ("doctor",), ("push", "harold", "t-1", "hello"), ("threads", "harold")]
)
def test_a_broken_base_file_is_said_once_and_stops_nobody_who_looks_or_pushes(om, world, broken, command):
    """Catches an operator who can look at nothing, and an agent's hook that keeps nothing, for a typing error."""
    world.say("hello")
    result = om(*command)
    said = [line for line in result.stderr.splitlines() if "observational-memory.yaml" in line]

    assert result.exit_code == (1 if command == ("doctor",) else 0)
    assert len(said) == 1
    assert said[0].startswith("config/observational-memory.yaml: line 2: ttl_days is")
    assert "going on with what of it can be used" in said[0]


def test_doctor_names_the_broken_base_file_and_the_remedy(om, world, broken):
    found = json.loads(om("doctor", "--json").stdout)

    (problem,) = [each for each in found if each["about"] == "settings" and "yaml" in each["says"]]
    assert (problem["level"], "om config check" in problem["do"]) == ("warning", True)


@pytest.mark.parametrize("command", [("clear", "harold", "--yes"), ("up",), ("observe", "harold"), ("keys", "list")])
def test_who_changes_more_or_serves_wants_settings_that_are_whole(bare, broken, command):
    result = bare(*command)

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: config/observational-memory.yaml, line 2: ttl_days is")
