"""A tool-using agent of our own making: the same conversation every time, in the sizes that are asked for."""

import random
from collections.abc import Callable, Iterator

from om_api.domain.messages import Message
from om_bench.harness.talks import turn

CALLS = 300
_SEED = 6
_TASK = 10  # calls for one request of the user: words, nine results of tools
_RESULT = (200, 4_100, 1_000)  # tokens of a result: least, most, most often; with the user's words 1,600 a call
_WISH = 180
_THOUGHT = (72, 114)  # tokens of words before a call of a tool, whose arguments take about forty
_ANSWER = 150
_PAUSES_S = ((8, 40), (45, 200))  # between a result and its call, and before the user speaks again
_ANSWERED_S = 5
_START_MS = 1_788_253_200_000

_PLACES = ("billing", "dispatch", "stations", "payouts", "rides", "fleet", "tariffs", "support", "identity", "reports")
_THINGS = ("invoice", "refund", "dock", "rider", "voucher", "bike", "route", "deposit", "ticket", "lease", "quota")
_DEEDS = ("charge", "release", "merge", "archive", "reserve", "expire", "rename", "replace", "store", "close", "move")
_PEOPLE = ("Marek", "Ilse", "Noor", "Tomas", "Wanjiru", "Lea", "Dmitri", "Saoirse")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def conversation(calls: int, count: Callable[[str], int]) -> Iterator[Message]:
    """The messages of so many calls, the last one answered."""
    agent, at = _Author(count), _START_MS
    for n in range(calls):
        opens, closes = n % _TASK == 0, n % _TASK == _TASK - 1
        at += 1000 * agent.pause(opens=opens)
        yield turn(f"i-{n}", "user" if opens else "tool", agent.wish() if opens else agent.result(n), at, "work")
        at += 1000 * _ANSWERED_S
        yield turn(f"o-{n}", "assistant", agent.answer() if closes else agent.step(n + 1), at, "work")


class _Author:
    """What is said; sizes and pauses are drawn apart from words, so that other words have the same sizes."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._words, self._sizes, self._count = random.Random(_SEED), random.Random(_SEED), count

    def pause(self, *, opens: bool) -> int:
        return self._sizes.randint(*_PAUSES_S[opens])

    def wish(self) -> str:
        return self._filled(_wanted, _WISH, " ")

    def answer(self) -> str:
        return self._filled(_found, _ANSWER, " ")

    def step(self, n: int) -> list[dict[str, object]]:
        """Words, and a call of the tool whose result comes next."""
        path = f"src/{self._words.choice(_PLACES)}/{self._words.choice(_THINGS)}.py"
        args = {"path": path, "why": _found(self._words)}
        call: dict[str, object] = {"type": "tool-call", "tool_call_id": f"call-{n}", "name": _tool(n), "args": args}
        return [{"type": "text", "text": self._filled(_found, self._sizes.randint(*_THOUGHT), " ")}, call]

    def result(self, n: int) -> list[dict[str, object]]:
        name = _tool(n)
        text = self._filled(_LINES[name], int(self._sizes.triangular(*_RESULT)), "\n")
        return [{"type": "tool-result", "tool_call_id": f"call-{n}", "name": name, "result": text}]

    def _filled(self, line: Callable[[random.Random], str], tokens: int, between: str) -> str:
        """Lines until there are so many tokens."""
        lines: list[str] = []
        while tokens > 0:
            lines.append(line(self._words))
            tokens -= self._count(lines[-1] + between)
        return between.join(lines)


def _tool(n: int) -> str:
    return tuple(_LINES)[n % len(_LINES)]


def _wanted(rng: random.Random) -> str:
    place, thing, deed, who = rng.choice(_PLACES), rng.choice(_THINGS), rng.choice(_DEEDS), rng.choice(_PEOPLE)
    return rng.choice((
        f"{who} says that {place} lost {rng.randint(2, 90)} {thing}s on {rng.choice(_DAYS)}, please find out why.",
        f"Keep the way we {deed} a {thing} in {place}: customers rely on it.",
        f"I want at most {rng.randint(2, 30)} seconds for one {thing}, and never two of them at once.",
        f"We decided that {place} goes live on {rng.choice(_DAYS)}, so {deed} comes first.",
        f"Don't touch {place}/{thing}.py, {who} is working on it.",
    ))  # fmt: skip


def _found(rng: random.Random) -> str:
    place, thing, deed = rng.choice(_PLACES), rng.choice(_THINGS), rng.choice(_DEEDS)
    return rng.choice((
        f"{place} would {deed} the same {thing} twice when two workers come within {rng.randint(2, 900)} ms.",
        f"I'll look at how {place} would {deed} a {thing} before I change anything.",
        f"The limit of {rng.randint(10, 5000)} in {place} explains the {thing}s that are missing.",
        f"Fixed: {place} now takes the lock before it would {deed} a {thing}.",
        f"{rng.randint(2, 60)} tests of {place} pass; one fails because a {thing} is None.",
    ))  # fmt: skip


def _code(rng: random.Random) -> str:
    thing, deed = rng.choice(_THINGS), rng.choice(_DEEDS)
    return rng.choice((
        f"def {deed}_{thing}({thing}_id: int, *, at: datetime, force: bool = False) -> {thing.title()} | None:",
        f"    {thing} = session.get({thing.title()}, {thing}_id)",
        f"    if {thing}.{deed}d_at is not None and not force:",
        f"        raise {deed.title()}Error('{thing} was {deed}d before', {thing}_id, force)",
        f"    return {deed}_{rng.choice(_THINGS)}({thing}.owner_id, amount={rng.randint(1, 9999)})",
    ))  # fmt: skip


def _match(rng: random.Random) -> str:
    return f"src/{rng.choice(_PLACES)}/{rng.choice(_THINGS)}.py:{rng.randint(1, 900)}: {_code(rng).strip()}"


def _test(rng: random.Random) -> str:
    thing, deed, did = rng.choice(_THINGS), rng.choice(_DEEDS), "FAILED" if rng.random() < 0.02 else "PASSED"  # noqa: PLR2004  a share
    return (
        f"tests/{rng.choice(_PLACES)}/test_{thing}.py::test_{deed}_{rng.choice(_THINGS)} {did} [{rng.randint(1, 99)}%]"
    )


def _row(rng: random.Random) -> str:
    return (
        f'{{"id": {rng.randint(10**5, 10**6)}, "{rng.choice(_THINGS)}": "{rng.choice(_PEOPLE)}", "amount": '
        f'{rng.randint(100, 99999) / 100}, "state": "{rng.choice(_DEEDS)}d", "city": "{rng.choice(_PLACES)}"}}'
    )


def _log(rng: random.Random) -> str:
    level = rng.choice(("DEBUG", "INFO", "INFO", "INFO", "WARNING", "ERROR"))
    clock = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}.{rng.randint(0, 999):03}"
    return f"{clock} {level} {rng.choice(_PLACES)}.{rng.choice(_DEEDS)} {rng.choice(_THINGS)}={rng.randint(1, 99999)}"


_LINES: dict[str, Callable[[random.Random], str]] = {
    "read_file": _code, "search": _match, "run_tests": _test, "query_db": _row, "read_log": _log,
}  # fmt: skip
