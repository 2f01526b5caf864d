"""A backlog: agents that came due while nobody worked, how a fleet works it off, and how long its queue is meanwhile."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import msgspec
import redis

from om_api import Message, ObservationalMemory, load_settings
from om_api.cli.children import BEAT, WORKER
from om_api.cli.embedded import Embedded
from om_api.store.fleet.health import QUEUES
from om_api.store.memory.keys import Keys
from om_bench.harness.page import table
from om_bench.speed.thinking import Thinking
from om_bench.speed.working import PREFIX, configured, start

_TOKENS = 6_000  # a chunk, as its sender counted them
_AT_ONCE = 500
_POLL_S = 0.5
_SETTLING_S = 60.0  # until processes have started, and ticks have come round
_SLOW = 5  # times as long as the model's time alone wants: then a backlog is given up
_ROWS = 20


class BacklogPlan(msgspec.Struct, frozen=True, kw_only=True):
    """So many agents due at once, and names marked due that nobody wrote under; the fleet, and the seconds of a model's call."""

    agents: int
    workers: int
    concurrency: int
    seconds: float
    junk: int


class BacklogSample(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen `at` seconds after the fleet began: observations made, scopes due, tasks waiting, calls of the model."""

    at: float
    observed: int
    due: int
    queue: int
    calls: int


class Backlog(msgspec.Struct, frozen=True, kw_only=True):
    """How a backlog was worked off; `observed_at` and `drained_at` in seconds, None if it was not within the time given."""

    plan: BacklogPlan
    curve: list[BacklogSample]

    @property
    def most(self) -> int:
        """The longest queue of all."""
        return max(moment.queue for moment in self.curve)

    @property
    def bound(self) -> int:
        """What no queue may exceed: twice what the fleet runs at a time."""
        return 2 * self.plan.workers * self.plan.concurrency

    @property
    def observed_at(self) -> float | None:
        """When the last agent was observed."""
        return next((moment.at for moment in self.curve if moment.observed >= self.plan.agents), None)

    @property
    def drained_at(self) -> float | None:
        """When nothing was due and nothing waited any more."""
        return next((moment.at for moment in self.curve if _is_drained(moment, self.plan)), None)


def measure(plan: BacklogPlan) -> Backlog:
    """Let agents come due while nobody works, start the fleet, and look twice a second until nothing is left."""
    with ExitStack() as held:
        model = held.enter_context(Thinking(plan.seconds))
        store = held.enter_context(Embedded())
        ours = configured(held, {"provider": "openai", "base_url": model.url}, store)
        bare = held.enter_context(redis.Redis.from_url(store.url, decode_responses=True))
        come_due(held.enter_context(ObservationalMemory(load_settings(environ=ours))), plan.agents)
        _flood(bare, plan.junk)
        for _ in range(plan.workers):
            start(held, [*WORKER, "-c", str(plan.concurrency)], ours)
        start(held, BEAT, ours)
        return Backlog(plan=plan, curve=list(_watched(bare, model, plan)))


def come_due(om: ObservationalMemory, agents: int) -> None:
    """Have so many agents say a chunk each."""
    for number in range(agents):
        said = f"Invoice {number} of the harbour is due on Friday."
        om.add_message(
            Message(role="user", content=said, tokens=_TOKENS, thread_id="t-1", resource_id=f"agent-{number}")
        )


def _flood(bare: redis.Redis, junk: int) -> None:
    names = [f"junk-{number}" for number in range(junk)]
    for first in range(0, junk, _AT_ONCE):
        bare.zadd(Keys(PREFIX).due_observe, dict.fromkeys(names[first : first + _AT_ONCE], 0))


def _watched(bare: redis.Redis, model: Thinking, plan: BacklogPlan) -> Iterator[BacklogSample]:
    began = time.monotonic()
    patience = _SETTLING_S + _SLOW * plan.agents * max(plan.seconds, 1 / 30) / (plan.workers * plan.concurrency)
    while (at := time.monotonic() - began) < max(patience, plan.agents / 10):
        moment = _seen(bare, model, at)
        yield moment
        if _is_drained(moment, plan):
            return
        time.sleep(_POLL_S)


def waiting(broker: redis.Redis) -> int:
    """How many tasks wait in all queues."""
    pipe = broker.pipeline(transaction=False)
    for queue in QUEUES:
        pipe.llen(queue)
    return sum(pipe.execute())


def _seen(bare: redis.Redis, model: Thinking, at: float) -> BacklogSample:
    keys, seconds, queue = Keys(PREFIX), bare.time()[0], waiting(bare)
    pipe = bare.pipeline(transaction=False)
    pipe.zcount(keys.due_observe, "-inf", seconds * 1_000)
    pipe.hget(keys.counted, "observations")
    due, observed = pipe.execute()
    return BacklogSample(at=round(at, 1), observed=int(observed or 0), due=due, queue=queue, calls=model.answered)


def _is_drained(moment: BacklogSample, plan: BacklogPlan) -> bool:
    return moment.observed >= plan.agents and not moment.due and not moment.queue


def as_lines(found: Backlog) -> Iterator[str]:
    """What was found, as Markdown."""
    plan = found.plan
    yield (
        f"{plan.agents:,} agents came due, and {plan.junk:,} names that nobody wrote under, while nobody worked; then"
        f" {plan.workers} worker(s) of {plan.concurrency} threads began, with a model that takes {plan.seconds} s."
    )
    yield from table(["what", "seen"], [
        ("calls of the model", f"{found.curve[-1].calls:,}"),
        ("longest queue (bound)", f"{found.most:,} ({found.bound:,})"),
        ("all observed after", _time(found.observed_at)),
        ("nothing due, nothing queued after", _time(found.drained_at)),
        ("the model's time alone", _time(plan.agents * plan.seconds / (plan.workers * plan.concurrency))),
    ])  # fmt: skip
    step = max(1, -(-len(found.curve) // _ROWS))
    rows = [*found.curve[:-1:step], found.curve[-1]]
    yield from table(
        ["s", "observed", "due", "queue", "calls"],
        [(each.at, f"{each.observed:,}", f"{each.due:,}", each.queue, f"{each.calls:,}") for each in rows],
    )
    yield ""


def _time(seconds: float | None) -> str:
    return "not in the time given" if seconds is None else f"{seconds:,.1f} s"
