"""`om rejected`: what is in quarantine can be seen, tried again and dropped, and nothing goes without a yes."""

import json

import pytest

from om_api.domain.errors import ModelError

BROKEN = '{"role":"robot","content":"beep \x1b[2J"}'


@pytest.fixture
def poisoned(world):
    """Harold's memory with a malformed member and an unobservable message in its quarantine; `allow()` mends the model."""
    blocked, echo = [True], world.model.complete

    def complete(request):
        if blocked and any(message.id == "bad" for message in request.messages):
            raise ModelError("blocked by the provider", retryable=False)
        return echo(request)

    world.model.complete, world.allow = complete, blocked.clear
    world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {BROKEN: 1_763_600_000_000})
    world.sweep()
    world.say("fine")
    world.say("bad", id="bad")
    work(world)
    return world


def work(world):
    for _ in range(10):
        world.om.force_observe("t-1", "harold")
        world.sweep()
        world.tick_forgiving()


def entry(world, kind):
    return next(each.id for each in world.om.rejected("harold") if each.kind == kind)


def test_without_a_resource_the_list_says_who_has_entries(om, om_json, poisoned):
    poisoned.client.rpush(f"{poisoned.prefix}:{{unknown}}:rejected", "{}")

    assert om_json("rejected", "list") == {"harold": 2, "unknown": 1}
    rows = [line.split() for line in om("rejected", "list").stdout.splitlines()]
    assert (["harold", "2"] in rows, ["unknown", "1"] in rows) == (True, True)


def test_of_a_message_whose_id_says_something_else_the_list_says_what_to_do(om_json, world):
    world.say("first", id="m-1")
    key = f"{world.prefix}:{{harold}}:messages:t-1"
    world.client.zadd(key, {'{"id":"m-1","role":"user","content":"second"}': 1_763_600_000_000})
    world.sweep()
    (found,) = om_json("rejected", "list", "harold")

    assert (found["kind"], found["thread_id"]) == ("changed", "t-1")
    assert found["reason"].startswith("another message with the id m-1 was accepted first and says something else: ")
    assert "write it under an id of its own" in found["reason"]


def test_where_nothing_was_rejected_the_list_says_so(om, om_json, world):
    assert om("rejected", "list").stderr == "nothing was rejected\n"
    assert om_json("rejected", "list") == {}
    world.say("hello")
    assert om_json("rejected", "list", "harold") == []


def test_the_list_of_a_resource_names_id_time_thread_kind_and_reason(om, om_json, poisoned):
    first, second = om_json("rejected", "list", "harold")
    rows = om("rejected", "list", "harold").stdout

    assert (first["kind"], second["kind"], second["thread_id"]) == ("malformed", "unobservable", "t-1")
    assert all(word in rows for word in (first["id"], second["id"], "t-1", "malformed", "blocked by the provider"))
    assert "beep" not in rows


def test_only_the_newest_are_listed_and_that_is_said(om, poisoned):
    result = om("rejected", "list", "harold", "--newest", "1")

    assert "malformed" not in result.stdout
    assert result.stderr == "only the newest 1 are listed: --newest lists more\n"


def test_an_entry_is_shown_whole_with_the_message_as_it_was_written(om, om_json, poisoned):
    bad, broken = entry(poisoned, "unobservable"), entry(poisoned, "malformed")
    shown = om("rejected", "show", "harold", bad).stdout

    assert json.loads(shown.splitlines()[-1])["content"] == "bad"
    assert "blocked by the provider" in shown
    assert om_json("rejected", "show", "harold", bad)["observation"] in shown
    assert om_json("rejected", "show", "harold", broken)["member"] == BROKEN


@pytest.mark.parametrize("command", ["show", "retry", "drop"])
def test_an_entry_that_is_not_there_is_said_to_be_gone(om, poisoned, command):
    result = om("rejected", command, "harold", "0123456789ab", *(["--yes"] if command == "drop" else []))

    assert "om rejected list harold names them" in result.stderr
    assert (result.exit_code, result.stdout) == ((1, "") if command == "show" else (0, "0123456789ab superseded\n"))


def test_a_retried_message_is_observed_and_leaves_the_quarantine(om, poisoned):
    name, before = entry(poisoned, "unobservable"), poisoned.covering()
    poisoned.allow()

    assert om("rejected", "retry", "harold", name).stdout == f"{name} sealed\n"
    work(poisoned)
    assert poisoned.covering() == before
    assert "could not be observed" not in poisoned.context().text
    assert om("rejected", "retry", "harold", name).stdout == f"{name} superseded\n"


def test_all_are_retried_once_though_one_comes_back(om, poisoned):
    names = [each.id for each in poisoned.om.rejected("harold")]
    poisoned.allow()

    assert om("rejected", "retry", "harold", "--all").stdout == f"{names[0]} busy\n{names[1]} sealed\n"
    work(poisoned)
    assert [each.kind for each in poisoned.om.rejected("harold")] == ["malformed"]


def test_what_cannot_be_retried_is_exit_code_2_and_the_others_are(om, poisoned):
    poisoned.client.rpush(f"{poisoned.prefix}:{{harold}}:rejected", "not an entry")
    odd = poisoned.om.rejected("harold")[-1].id
    alone = om("rejected", "retry", "harold", odd)
    result = om("rejected", "retry", "harold", "--all")

    assert (alone.exit_code, alone.stderr.count("\n")) == (2, 1)
    assert (result.exit_code, len(result.stdout.splitlines())) == (2, 2)
    assert f"{odd} cannot be retried" in result.stderr
    assert result.stderr.endswith("1 of 3 entries of harold cannot be retried, and stay\n")


def test_a_dropped_entry_is_gone_and_its_placeholder_stays(om, poisoned):
    name, before = entry(poisoned, "unobservable"), poisoned.covering()
    result = om("rejected", "drop", "harold", name, stdin="y\n")

    assert result.stdout == f"{name} cleared\n"
    assert f"Remove rejected entry {name} of harold, with the message in it? This cannot be undone." in result.stderr
    assert poisoned.covering() == before
    assert "could not be observed" in poisoned.context().text


def test_all_are_dropped_after_one_yes(om, om_json, poisoned):
    result = om("rejected", "drop", "harold", "--all", stdin="y\n")

    assert "Remove 2 rejected entries of harold" in result.stderr
    assert len(result.stdout.splitlines()) == 2
    assert om_json("rejected", "list") == {}
    assert om("rejected", "drop", "harold", "--all").stderr == "nothing of harold was rejected\n"


def test_nobody_is_asked_about_an_entry_that_is_not_there(om, poisoned):
    result = om("rejected", "drop", "harold", "0123456789ab", stdin="")

    assert (result.exit_code, result.stdout) == (0, "0123456789ab superseded\n")
    assert result.stderr == "harold has no such entry (any more): om rejected list harold names them\n"


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_nothing_is_dropped_without_a_yes(om, poisoned, answer):
    result = om("rejected", "drop", "harold", "--all", stdin=answer)

    assert (result.exit_code, result.stdout, len(poisoned.om.rejected("harold"))) == (2, "", 2)


@pytest.mark.parametrize("command", ["retry", "drop"])
@pytest.mark.parametrize("args", [(), ("0123456789ab", "--all")])
def test_either_an_entry_is_named_or_all_are_meant(om, poisoned, command, args):
    result = om("rejected", command, "harold", *args)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "name an entry, or say --all" in result.stderr


def test_the_list_of_all_names_a_broken_quarantine_and_counts_every_other(om, om_json, poisoned):
    """Catches a writer whose key of another type ended `om rejected list` for everybody."""
    poisoned.client.zadd(poisoned.services.keys.resources, {"ada": 1})
    poisoned.client.set(f"{poisoned.prefix}:{{ada}}:rejected", "oops", ex=60)
    result = om("rejected", "list")

    assert result.exit_code == 0
    assert "harold" in result.stdout
    assert "broken: ada" in result.stderr
    assert om_json("rejected", "list") == {"harold": 2}
