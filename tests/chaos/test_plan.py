"""The plan and the tools of a run, each for itself."""

import signal
import time
from collections import Counter
from itertools import pairwise

import pytest

from chaos import clock, plan
from chaos.plan import Run
from chaos.server import AofServer

_ENDS = {"kill server": "start server", "term server": "start server", "pause server": "resume server"}


@pytest.mark.parametrize("seed", range(20))
def test_a_full_plan_holds_what_a_run_must_see(seed):
    happens = Counter(fault.what for fault in plan.faults(Run(seed=seed)))

    assert happens["kill worker"] >= 50
    assert happens["start server"] == happens["kill server"] + happens["term server"] >= 3
    assert min(happens[what] for what in ("kill beat", "pause server", "drop connections", "lose broker")) >= 1


@pytest.mark.parametrize("seed", range(20))
def test_while_the_server_is_away_nobody_asks_anything_of_it(seed):
    """Catches a fault that would wait for a server which only the next fault brings back."""
    steps = [fault.what for fault in plan.faults(Run(seed=seed)) if fault.what not in {"kill worker", "kill beat"}]

    assert all(following == _ENDS[what] for what, following in pairwise(steps) if what in _ENDS)


def test_the_same_seed_plans_the_same():
    assert plan.faults(Run(seed=7)) == plan.faults(Run(seed=7)) != plan.faults(Run(seed=8))


def test_the_cast_has_more_than_twenty_scopes_without_those_that_are_cleared():
    members = [member for member in plan.cast() if member.fate != "clear"]
    solos = [member for member in members if member.name.startswith("solo-")]

    assert len(members) - len(solos) + sum(len(member.threads) for member in solos) >= 20


def test_a_cut_tail_takes_what_came_last_and_the_rest_is_there_again(tmp_path):
    with AofServer(tmp_path, "always") as server, server.client() as client:
        for n in range(100):
            client.set(f"key-{n}", "x" * 100)
        server.stop(signal.SIGKILL)
        took = server.cut_tail(5_000)
        server.start()
        left = sorted(int(key.decode().removeprefix("key-")) for key in client.scan_iter("*", 1000))

    assert took == 5_000
    assert 20 < len(left) < 80
    assert left == list(range(len(left)))


def test_a_server_runs_unless_it_is_paused_or_killed_and_again_once_it_was_started(tmp_path):
    with AofServer(tmp_path, "always") as server:
        seen = [server.runs]
        for act in (server.pause, server.go_on, server.pause, server.kill, server.start):
            act()
            seen.append(server.runs)
        answers = server.answers()

    assert seen == [True, False, True, False, False, True]
    assert (answers, server.runs) == (True, False)


def test_a_server_that_ends_as_it_starts_is_told_at_once_with_its_log(tmp_path):
    with pytest.raises(RuntimeError, match=r"did not start; its log: .*server\.log"), AofServer(tmp_path, "sometimes"):
        pytest.fail("it started")

    assert "sometimes" in (tmp_path / "server.log").read_text()


@pytest.mark.skipif(not clock.library(), reason="libfaketime is not installed")
def test_a_server_that_is_started_again_is_further_ahead_and_has_what_it_had(tmp_path):
    with AofServer(tmp_path, "always", leap_s=3_600) as server, server.client() as client:
        seen = []
        for _ in range(3):
            seen.append(client.time()[0] - time.time())
            client.incr("starts")
            client.expire("starts", 5_000)
            server.stop(signal.SIGKILL)
            server.start()
        left = client.exists("starts")

    assert seen == [pytest.approx(n * 3_600, abs=5) for n in range(3)]
    assert (server.ahead_s, left) == (3 * 3_600, 1)


def test_a_missing_library_is_told_with_where_to_get_it(monkeypatch):
    monkeypatch.setattr(clock, "library", lambda: "")

    with pytest.raises(RuntimeError, match="apt-get install libfaketime"):
        clock.ahead(3_600)


@pytest.mark.parametrize("seed", range(5))
def test_what_befalls_an_archive_comes_one_after_the_other_and_ends(seed):
    ends = {"pause archive": "resume archive", "kill archive": "start archive", "copy archive": "restore archive"}
    ends["restore archive"] = "return archive"
    planned = plan.faults(Run(seconds=60, seed=seed, archive="sqlite"))
    steps = [fault.what for fault in planned if "archive" in fault.what]

    assert {*ends, *ends.values(), "kill archivers"} == {*steps}
    assert all(following == ends[what] for what, following in pairwise(steps) if what in ends)
    assert planned[-1].at <= 60
    assert [fault for fault in planned if fault.what not in steps] == plan.faults(Run(seconds=60, seed=seed))
