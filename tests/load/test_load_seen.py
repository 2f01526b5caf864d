"""The clients of a run must be able to say no: what should not have been answered is a fault, unless a restart excuses it."""

import asyncio
from collections import Counter
from dataclasses import fields
from types import SimpleNamespace

import httpx2
import pytest

from load import report
from load.agent import Asker
from load.hostile import DOES
from load.plan import Run
from load.seen import Away, Tally

PROBLEM = {"content-type": "application/problem+json", "retry-after": "1"}
NOT_STORED = {"headers": PROBLEM, "json": {"stored": False}}


@pytest.fixture
def tally():
    return Tally()


@pytest.fixture
def ask(tally):
    """Ask for something that is answered so, while nobody is away but those named."""

    def asked(answer, *away):
        def give(request):
            if isinstance(answer, Exception):
                raise answer
            return answer

        tally.store, tally.api = Away(), Away()
        for who in away:
            getattr(tally, who).begins()

        async def once():
            async with httpx2.AsyncClient(transport=httpx2.MockTransport(give), base_url="http://api") as http:
                return await Asker(http, tally).ask("stats", "/stats", None)

        return asyncio.run(once())

    return asked


def test_asker_counts_good_answers_and_excuses_only_what_a_restart_explains(ask, tally):
    assert ask(httpx2.Response(200, content=b"{}")).body == b"{}"
    assert ask(httpx2.Response(503, **NOT_STORED), "store").stored is False
    assert ask(httpx2.Response(503, **NOT_STORED), "api").stored is False
    assert ask(httpx2.ConnectError("refused"), "api").stored is False
    assert ask(httpx2.ReadError("cut"), "api").stored is None
    assert (tally.answered, tally.away.total(), tally.cut.total(), tally.wrong) == (1, 1, 3, 0)


def test_asker_reports_what_nothing_excuses_as_a_fault(ask, tally):
    untold = {"headers": {"content-type": PROBLEM["content-type"]}, "json": {"stored": None}}
    for n, (answer, away) in enumerate(
        (
            (httpx2.Response(503, **NOT_STORED), []),
            (httpx2.Response(503, headers=PROBLEM, json={}), ["store"]),
            (httpx2.Response(503, **untold), ["store"]),
            (httpx2.Response(500), ["store", "api"]),
            (httpx2.Response(422), ["store"]),
            (httpx2.Response(403), []),
            (httpx2.ReadError("cut"), ["store"]),
            (httpx2.ReadTimeout("late"), []),
        ),
        1,
    ):
        assert not ask(answer, *away).good
        counts = (tally.wrong, tally.answered, tally.away.total(), tally.cut.total())
        assert counts == (n, 0, 0, 0), (answer, away)


def test_away_excuses_only_what_overlaps_it():
    away = Away()
    away.begins()
    away.ends()
    ((gone, back),) = away._times

    assert away.during(gone - 2, gone + 1e-9)
    assert not away.during(back + 1, back + 2)
    assert not away.during(gone - 2, gone - 1)


def _seen(tally, **known):
    nothing = dict.fromkeys(field.name for field in fields(report.Seen))
    return report.Seen(**nothing | {"run": Run(), "tally": tally} | known)


def test_run_that_saw_too_little_fails(tally):
    tally.took["push"] = [0.1] * 1_000
    tally.calm, tally.beside = [0.1] * 900, [0.1] * 100
    tally.waited, tally.due = [0.1] * 19, [200] * 18 + [49]
    held = SimpleNamespace(scopes={"resource": [f"pool-{n}|" for n in range(49)], "thread": []})
    seen = _seen(
        tally,
        hostile=Counter(dict.fromkeys(DOES[1:], 1)),
        lasted_s=25.0,
        restarts=Counter({("api", "SIGTERM"): 2, ("api", "SIGKILL"): 1, ("server", "SIGKILL"): 2}),
        names=["server", "api"],
        rest=SimpleNamespace(held=held),
    )

    assert report.missed(seen) == [
        "saw 40.0 answers a second, not the 50 it takes",
        "saw 49 resources, not the 50 it takes",
        "saw 100 answers beside the hostile tenant, not the 1000 it takes",
        "saw 0 answers to his header flood, not the 1 it takes",
        "saw 19 waits of small agents, not the 20 it takes",
        "saw 49 scopes due beside a small agent, not the 50 it takes",
        "saw 2 restarts of server, not the 3 it takes",
    ]


def test_run_fails_when_others_are_slow_beside_a_hostile_tenant_or_small_agents_wait(tally):
    rest = SimpleNamespace(breaches=[], quiet_s=1, unfinished="", held=None)
    seen = _seen(tally, rest=rest, verdict=SimpleNamespace(wrong=[]))
    tally.calm = [0.1] * 1_000
    for beside, took, failures in (
        (0.29, 6.4, []),
        (0.31, 6.4, ["the others' p99 was 310 ms"]),
        (0.29, 6.6, []),
        (0.29, 13.1, ["1 chunks of small agents were observed after more than 6.5 s"]),
        (0.29, [6.6] * 2, ["2 chunks of small agents were observed after more than 6.5 s"]),
    ):
        tally.beside, tally.waited = [beside] * 1_000, [0.5] * 20 + (took if isinstance(took, list) else [took])
        found = report.broken(seen)
        assert len(found) == len(failures), (beside, took)
        assert all(why.startswith(start) for why, start in zip(found, failures, strict=True)), found
