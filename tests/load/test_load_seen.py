"""The clients of a run must be able to say no: what should not have been answered is a fault, unless a restart excuses it."""

import asyncio
from collections import Counter
from types import SimpleNamespace

import httpx2
import pytest

from load import report
from load.asking import Asker
from load.hostile import DOES
from load.plan import Run
from load.seen import Away, Tally, Waits, percentile

PROBLEM = {"content-type": "application/problem+json", "retry-after": "1"}
NOT_STORED = {"headers": PROBLEM, "json": {"stored": False}}


@pytest.fixture
def tally():
    return Tally()


@pytest.fixture
def waits():
    return Waits()


@pytest.fixture
def ask(tally):
    """Ask for something that is answered so, while nobody is away but those named."""

    def asked(answer, *away, want=200):
        def give(request):
            if isinstance(answer, Exception):
                raise answer
            return answer

        store, api = Away(), Away()
        for who in away:
            {"store": store, "api": api}[who].begins()

        async def once():
            async with httpx2.AsyncClient(transport=httpx2.MockTransport(give), base_url="http://api") as http:
                return await Asker(http, tally, store, api).ask("stats", "/stats", None, want=want)

        return asyncio.run(once())

    return asked


def test_an_answer_that_is_wanted_is_timed(ask, tally):
    assert ask(httpx2.Response(200, content=b"{}")).body == b"{}"
    assert ask(httpx2.Response(403), want=403).good

    assert (tally.answered, len(tally.took["stats"]), tally.wrong) == (2, 2, 0)


def test_a_503_is_excused_while_the_store_is_away_and_says_what_became_of_the_write(ask, tally):
    answer = ask(httpx2.Response(503, **NOT_STORED), "store")

    assert (answer.good, answer.stored, tally.away.total(), tally.wrong) == (False, False, 1, 0)


@pytest.mark.parametrize(
    ("answer", "away"),
    [
        (httpx2.Response(503, **NOT_STORED), []),
        (httpx2.Response(503, **NOT_STORED), ["api"]),
        (httpx2.Response(503, headers=PROBLEM, json={}), ["store"]),
        (httpx2.Response(503, headers={"content-type": PROBLEM["content-type"]}, json={"stored": None}), ["store"]),
        (httpx2.Response(500), ["store", "api"]),
        (httpx2.Response(422), ["store"]),
        (httpx2.Response(403), []),
        (httpx2.ReadError("cut"), ["store"]),
        (httpx2.ReadTimeout("late"), []),
    ],
)
def test_what_nothing_excuses_is_a_fault(ask, tally, answer, away):
    assert not ask(answer, *away).good

    assert (tally.wrong, tally.answered, tally.away.total(), tally.cut.total()) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("error", "stored"), [(httpx2.ConnectError("refused"), False), (httpx2.ReadError("cut"), None)]
)
def test_of_what_a_restarting_api_did_not_answer_only_a_refusal_is_surely_not_stored(ask, tally, error, stored):
    assert ask(error, "api").stored is stored

    assert (tally.cut.total(), tally.wrong) == (1, 0)


def test_who_came_back_is_away_no_more():
    away = Away()
    away.begins()
    away.ends()
    ((gone, back),) = away._times

    assert away.during(gone - 2, gone + 1e-9)
    assert not away.during(back + 1, back + 2)
    assert not away.during(gone - 2, gone - 1)
    assert away.seconds() == back - gone


@pytest.mark.parametrize(("share", "expected"), [(0.5, 51), (0.95, 96), (0.99, 100)])
def test_percentiles_are_values_that_were_seen(share, expected):
    assert percentile(list(range(1, 101)), share) == expected
    assert percentile([], share) == 0


def test_a_run_that_saw_too_little_fails_by_itself(tally):
    tally.took["push"] = [0.1] * 1_000
    restarts = Counter({("api", "SIGTERM"): 2, ("api", "SIGKILL"): 1, ("server", "SIGKILL"): 2})
    nothing = dict.fromkeys(report.Seen._fields)
    held = type("Held", (), {"scopes": {"resource": [f"pool-{n}|" for n in range(49)], "thread": []}})
    rest = type("Rest", (), {"held": held})
    tally.calm, tally.beside = [0.1] * 900, [0.1] * 100
    hostile = Counter(dict.fromkeys(DOES[1:], 1))
    waits = Waits()
    waits.took, waits.due = [0.1] * 19, [200] * 18 + [49]
    known = {
        "hostile": hostile,
        "waits": waits,
        "run": Run(),
        "tally": tally,
        "up_s": 10.0,
        "restarts": restarts,
        "names": ["server", "api"],
        "rest": rest,
    }

    assert report.missed(report.Seen(**{**nothing, **known})) == [
        "saw 100.0 answers a second, not the 200 it takes",
        "saw 49 resources, not the 50 it takes",
        "saw 100 answers beside the hostile tenant, not the 1000 it takes",
        "saw 0 answers to his header flood, not the 1 it takes",
        "saw 19 waits of small agents, not the 20 it takes",
        "saw 49 scopes due beside a small agent, not the 50 it takes",
        "saw 2 restarts of server, not the 3 it takes",
    ]


@pytest.fixture
def broken(tally, waits):
    """What is broken of a run that is fine but for what a test does to it."""

    def found():
        rest = SimpleNamespace(breaches=[], quiet_s=1, unfinished="", held=None)
        known = {"run": Run(), "tally": tally, "waits": waits, "rest": rest, "verdict": SimpleNamespace(wrong=[])}
        return report.broken(report.Seen(**{**dict.fromkeys(report.Seen._fields), **known}))

    return found


@pytest.mark.parametrize(("beside", "failures"), [(0.29, 0), (0.31, 1)])
def test_others_must_be_answered_beside_a_hostile_tenant_nearly_as_they_are_without_him(
    tally, broken, beside, failures
):
    tally.calm, tally.beside = [0.1] * 1_000, [beside] * 1_000

    assert len(broken()) == failures


@pytest.mark.parametrize(
    ("longest", "found"),
    [
        (6.4, []),
        (6.6, ["1 chunks of small agents were observed after more than 6.5 s: 3: 0.50 / 3.30"]),
    ],
)
def test_a_small_agent_beside_noisy_ones_waits_three_ticks_and_a_call_at_most(waits, broken, longest, found):
    for took in (longest, 0.5, 1.0):
        waits.note(took, 200)

    assert broken() == found


def test_answers_are_told_apart_by_whether_the_hostile_tenant_was_here(ask, tally):
    ask(httpx2.Response(200))
    tally.hostile.begins()
    ask(httpx2.Response(200))
    ask(httpx2.Response(200))
    tally.hostile.ends()
    ask(httpx2.Response(200))
    tally.good("observe, waiting", 0, 60)

    assert (len(tally.calm), len(tally.beside), tally.answered) == (2, 2, 5)
