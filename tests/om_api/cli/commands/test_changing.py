"""Commands that put something in, take it away, or have workers do it."""

import gzip
import json
import re

import pytest

from om_api.domain.errors import ModelError


def test_a_memory_is_cleared_after_a_yes_alone(om, observed):
    before = observed.covering()
    for answer in ("n\n", "\n", ""):
        for words in ("clear harold", "clear harold t-1", "forget harold o-1"):
            result = om(*words.split(), stdin=answer)
            assert (result.exit_code, result.stdout) == (2, ""), (words, answer)
            assert "nothing was removed" in result.stderr, (words, answer)
            assert observed.covering() == before, (words, answer)
    result = om("clear", "harold", stdin="y\n")
    assert (result.exit_code, result.stdout.startswith("cleared: ")) == (0, True)
    assert "Remove the whole memory of harold? This cannot be undone." in result.stderr
    assert observed.covering() == []


def test_in_thread_scope_a_thread_must_be_named(om, reflected):
    om("migrate-scope", "harold", "--to", "thread")
    assert "name a thread_id" in om("restore", "harold", "0").stderr
    assert "moved to another scope" in om("restore", "harold", "0", "t-1").stderr


def test_a_memory_comes_back_from_a_file_as_it_was(om, reflected):
    before = reflected.context().text
    file = om("export", "harold").stdout_bytes
    om("clear", "harold", "--yes")
    done = om("import", stdin=file)
    assert done.exit_code == 0
    assert done.stdout.startswith("harold: 1 threads, ")
    assert reflected.context().text == before


@pytest.fixture
def told(world):
    world.say("the door code is 4711", id="m-1")
    world.say("it rains", id="m-2")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.say("again: 4711", id="m-3")
    world.say("bye", id="m-4")
    return world


def test_it_lists_asks_and_removes(om, told):
    result = om("erase", "harold", "--matching", "4711", stdin="y\n")
    assert result.exit_code == 0
    assert {"2 messages:", "  t-1 m-1", "  t-1 m-3", "1 observed again without it:"} <= {*result.stdout.splitlines()}
    assert "Remove this from the memory of harold? This cannot be undone." in result.stderr
    assert "backups and exported files are not reached" in result.stderr
    assert told.covering() == ["m-2", "m-4"]


def test_without_a_yes_nothing_changes_and_what_cannot_be_erased_is_said_in_a_line(om, told):
    for options, stdin, exit_code, says in [(("--dry-run",), None, 0, "nothing was changed"),
                                            ((), "n\n", 2, "nothing was removed"),
                                            ((), "", 2, "nothing was removed")]:  # fmt: skip
        result = om("erase", "harold", "--matching", "4711", *options, stdin=stdin)
        assert (result.exit_code, says in result.stderr) == (exit_code, True), (options, stdin)
        assert "m-1" in result.stdout, (options, stdin)
        assert told.covering() == ["m-1", "m-2", "m-3", "m-4"], (options, stdin)
    for asked, exit_code, says in [(("harold",), 2, "name what is to be erased"),
                                   (("harold", "--matching", " "), 2, "there is no text to look for"),
                                   (("harold", "--message", "m-9"), 1, "harold keeps no message m-9"),
                                   (("harld", "--matching", "x"), 1, "harld is not known here")]:  # fmt: skip
        result = om("erase", *asked, "--yes")
        assert (result.exit_code, says in result.stderr, result.stdout) == (exit_code, True, ""), (asked, exit_code)


def test_a_pushed_message_is_read_in_the_context(om):
    pushed = om("push", "harold", "t-1", "My flight is on Friday.", "--id", "m-1")
    assert (pushed.exit_code, pushed.stdout) == (0, "m-1 added\n")
    assert "user: My flight is on Friday." in om("context", "harold", "t-1").stdout


def test_another_message_under_a_known_id_is_not_kept_and_what_to_do_is_said(om, world):
    om("push", "harold", "t-1", "first", "--id", "m-1")
    changed, told = (om("push", "harold", "t-1", "second", "--id", "m-1", *form) for form in ([], ["--json"]))
    assert changed.exit_code == told.exit_code == 1
    assert changed.stdout.startswith("m-1 changed: message m-1 was kept and says something else: it is still raw")
    advice = changed.stdout.removeprefix("m-1 changed: ").strip()
    assert json.loads(told.stdout) == {"id": "m-1", "outcome": "changed", "advice": advice}
    assert [message.content for message in world.context().messages] == ["first"]


def test_text_is_read_from_stdin_and_none_pushes_nothing(om):
    for stdin in ("", "\n", b"\xff\xfe"):
        result = om("push", "harold", "t-1", stdin=stdin)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1), stdin
    assert om("threads", "harold").exit_code == 1  # nobody knows harold
    for text in ([], ["-"]):
        om("push", "harold", "t-1", *text, stdin="grüße\nzwei\n")
    assert om("context", "harold", "t-1").stdout.count("user: grüße\n\tzwei\n") == 2


def test_a_message_as_a_vendor_writes_it_is_pushed_as_it_is_and_what_is_none_is_not(om, world):
    call = {"id": "fc-1", "type": "function_call", "call_id": "c-1", "name": "look", "arguments": "{}"}
    pushed = om("push", "harold", "t-1", "--message", json.dumps(call))
    om("push", "harold", "t-1", "--message", stdin='{"type": "function_call_output", "call_id": "c-1", "output": "4"}')
    assert pushed.stdout == "fc-1 added\n"
    assert [message.role for message in world.context().messages] == ["assistant", "tool"]
    assert world.context().as_openai_responses()[1]["output"] == "4"
    for given in ["hello", "[]", '{"role": "robot", "content": "x"}', "[" * 5000]:
        result = om("push", "harold", "t-1", "--message", given)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1), given


def test_a_name_that_nobody_knows_is_no_success(om, world):
    """Catches a typing error that looks like work done, and leaves a key behind."""
    world.say("hello")
    world.settle()
    for words in (
        *("observe {}", "reflect {}", "clear {} --yes", "migrate-scope {} --to thread", "pause {}", "resume {}"),
        *("forget {} o-1 --yes", "restore {} 1", "sources {} o-1 --json", "rejected list {}"),
        *("rejected show {} 3f1c20a9be77", "rejected retry {} --all", "rejected drop {} --all --yes"),
        *("stats {}", "threads {}", "observations {}", "history {}", "context {} t-1", "export {}"),
    ):
        result = om(*words.format("harodl").split())
        assert (result.exit_code, result.stdout in {"", "[]\n"}) == (1, True), words
        assert "harodl is not known here" in result.stderr, words
        assert "did you mean harold?" in result.stderr, words
        assert not list(world.client.scan_iter(f"{world.prefix}:{{harodl}}*")), words


def test_a_request_that_a_budget_holds_says_so_and_until_when(om, world, monkeypatch):
    monkeypatch.setenv("OM_BUDGET__CALLS_PER_DAY", "0")
    monkeypatch.setenv("OM_OBSERVER_MODEL", "scripted")
    world.say("hello")
    result = om("observe", "harold", "--wait", "0")
    assert (result.exit_code, result.stdout) == (0, "busy\n")
    assert re.search(
        r"held: the budget of harold is used up \(budget.calls_per_day\)\s+until 20\d\d-\d\d-\d\dT00:00:00Z",
        result.stderr,
    )


CHAT = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"turn {n}"} for n in range(5)]
NAMES = ("--resource", "harold", "--thread", "t-1")
TURNS = [f"turn {n}" for n in range(5)]


@pytest.fixture
def recording(here):
    file = here / "chat.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in CHAT))
    return file


def test_a_recording_is_added_once_however_often_it_is_replayed(om, om_json, world, recording):
    first = om("replay", str(recording), *NAMES, "--batch", "2")
    assert first.stdout.startswith("added: 5, known: 0, grown: 0, changed: 0, threads: 1 of harold, seconds: ")
    assert "5 messages" in first.stderr
    om("observe", "harold", "--wait", "0")
    world.settle()
    again = om_json("replay", str(recording), *NAMES, "--batch", "3")
    (history,) = again.pop("histories")
    assert (history["thread"], len(history["ids"]), history["diverged_at"]) == ("t-1", 5, None)
    assert again | {"seconds": 0} == {"messages": 5, "known": 5, "added": 0, "grown": 0, "changed": 0,
                                      "instructions": 0, "skipped": 0, "resources": ["harold"], "threads": 1, "advice": [],
                                      "seconds": 0}  # fmt: skip
    assert len(world.covering()) == 5


def test_what_grew_is_replaced_and_what_was_edited_is_told_with_what_to_do(om, om_json, world):
    om_json("replay", "-", *NAMES, stdin=json.dumps([*CHAT[:2], {"role": "user", "content": "turn"}]))
    grown = om_json("replay", "-", *NAMES, "--batch", "2", stdin=json.dumps(CHAT))
    assert (grown["added"], grown["known"], grown["grown"]) == (2, 2, 1)
    edited = [CHAT[0], CHAT[1] | {"content": "something else"}, *CHAT[2:], {"role": "user", "content": "more"}]
    replayed = om("replay", "-", *NAMES, "--batch", "3", stdin=json.dumps(edited))
    assert replayed.exit_code == 1
    assert replayed.stdout.startswith("added: 1, known: 4, grown: 0, changed: 1, ")
    assert "harold's thread t-1: from its message 2 on the recording is not what is kept" in replayed.stderr
    assert "om push --id ID --replace" in replayed.stderr
    assert [message.content for message in world.context().messages] == [*TURNS, "more"]
    found = json.loads(om("replay", "-", *NAMES, "--json", stdin=json.dumps(edited)).stdout)
    (history,) = found["histories"]
    assert (history["diverged_at"], len(history["ids"]), len(found["advice"]), found["changed"]) == (1, 6, 1, 1)


def test_a_bad_line_is_named_and_what_stood_before_it_stays(om, om_json, recording):
    whole = recording.read_bytes()
    for bad in (b'{"role": "user"}', b"{oops}", b'{"role": "user", "content": "\xff"}', b"7"):
        recording.write_bytes(whole + bad + b"\n" + json.dumps(CHAT[0]).encode())
        result = om("replay", str(recording), *NAMES)
        assert (result.exit_code, "line 6" in result.stderr) == (2, True), bad
        assert "The 5 messages before it were sent and stay" in result.stderr, bad
    assert om_json("threads", "harold")[0]["messages"] == 5
    nobody = om("replay", str(recording), "--thread", "t-1")
    assert nobody.exit_code == 2
    assert "line 1: resource_id is missing: write it in the message, or say --resource" in nobody.stderr


def test_a_recording_that_gzip_packed_is_read_and_one_that_was_cut_off_said_to_be(om, om_json, recording):
    packed = gzip.compress(recording.read_bytes())
    recording.with_name("chat.jsonl.gz").write_bytes(packed)
    assert om_json("replay", str(recording.with_name("chat.jsonl.gz")), *NAMES)["added"] == 5
    for keep in (20, 60):
        recording.write_bytes(packed[:keep])
        cut = om("replay", str(recording), *NAMES)
        assert (cut.exit_code, "was cut off, or is no whole gzip file" in cut.stderr) == (2, True), keep
    stdin = om("replay", "-", *NAMES, stdin=packed)
    assert (stdin.exit_code, "unpack it first (gunzip -c FILE | om replay -)" in stdin.stderr) == (2, True)
    assert om_json("replay", "-", stdin="")["messages"] == 0


BROKEN = '{"role":"robot","content":"beep \x1b[2J"}'


@pytest.fixture
def poisoned(world):
    """Harold's memory with a malformed member and an unobservable message in its quarantine."""
    echo = world.model.complete

    def complete(request):
        if any(message.id == "bad" for message in request.messages):
            raise ModelError("blocked by the provider", retryable=False)
        return echo(request)

    world.model.complete = complete
    world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {BROKEN: 1_763_600_000_000})
    world.sweep()
    world.say("fine")
    world.say("bad", id="bad")
    for _ in range(10):
        world.om.force_observe("t-1", "harold")
        world.sweep()
        world.tick_forgiving()
    return world


def entry(world, kind):
    return next(each.id for each in world.om.rejected("harold") if each.kind == kind)


def test_entries_are_listed_and_shown_whole_and_others_said_to_be_gone(om, om_json, poisoned):
    """Catches a writer whose key of another type ended `om rejected list` for everybody."""
    bad, broken = entry(poisoned, "unobservable"), entry(poisoned, "malformed")
    shown = om("rejected", "show", "harold", bad).stdout
    assert json.loads(shown.splitlines()[-1])["content"] == "bad"
    assert "blocked by the provider" in shown
    assert om_json("rejected", "show", "harold", broken)["member"] == BROKEN
    assert [each["id"] for each in om_json("rejected", "list", "harold")] == [broken, bad]
    assert "beep" not in om("rejected", "list", "harold").stdout
    poisoned.client.zadd(poisoned.services.keys.resources, {"ada": 1})
    poisoned.client.set(f"{poisoned.prefix}:{{ada}}:rejected", "oops", ex=60)
    assert "broken: ada" in om("rejected", "list").stderr
    assert om_json("rejected", "list") == {"harold": 2}
    for words, code, says in (("show harold 0123456789ab", 1, "om rejected list harold names them"),
                              ("retry harold 0123456789ab", 0, "om rejected list harold names them"),
                              ("drop harold 0123456789ab", 0, "om rejected list harold names them"),
                              ("retry harold", 2, "name an entry, or say --all"),
                              ("drop harold 0123456789ab --all", 2, "name an entry, or say --all")):  # fmt: skip
        result = om("rejected", *words.split())
        assert (result.exit_code, says in result.stderr) == (code, True), words


def test_what_cannot_be_retried_is_exit_code_2_and_all_are_dropped_after_one_yes(om, om_json, poisoned):
    poisoned.client.rpush(f"{poisoned.prefix}:{{harold}}:rejected", "not an entry")
    odd = poisoned.om.rejected("harold")[-1].id
    alone = om("rejected", "retry", "harold", odd)
    result = om("rejected", "retry", "harold", "--all")
    assert (alone.exit_code, alone.stderr.count("\n")) == (2, 1)
    assert (result.exit_code, len(result.stdout.splitlines())) == (2, 2)
    assert f"{odd} cannot be retried" in result.stderr
    assert result.stderr.endswith("1 of 3 entries of harold cannot be retried, and stay\n")
    result = om("rejected", "drop", "harold", "--all", stdin="y\n")
    assert "Remove 1 rejected entry of harold" in result.stderr
    assert len(result.stdout.splitlines()) == 1
    assert om_json("rejected", "list") == {}
    assert om("rejected", "drop", "harold", "--all").stderr == "nothing of harold was rejected\n"


def test_a_move_that_waits_for_a_worker_in_vain_says_that_nothing_changed(om, world):
    world.say(*[f"message {n}" for n in range(12)])
    world.claim()
    world.perform(*world.next_task())
    result = om("migrate-scope", "harold", "--to", "thread", "--wait", "0.1")
    assert (result.exit_code, result.stdout, "nothing has changed" in result.stderr) == (0, "busy\n", True)
