"""What a run is to do and must have seen: its length, its rate and its cast."""

from typing import NamedTuple

from chaos.plan import Member

SERVER, API = "server", "api"
QUICK_S, SLOW_S = 0.5, 3.0  # what a call takes of the models of waiting.py


class Least(NamedTuple):
    """What a run must have seen, or it fails by itself: answers a second while the API was up, restarts of each process.

    `beside`: answers to others while the hostile tenant was here; `hostile`: to each thing that he does. `waits` of small
    agents, each beside so many scopes that are `due`: more than there are threads.
    """

    rate: float = 50
    resources: int = 50
    restarts: int = 3
    beside: int = 1_000
    hostile: int = 1
    waits: int = 20
    due: int = 50


class Run(NamedTuple):
    """How long (s) it lasts, by which seed, and how many requests are asked for in a second."""

    seconds: float = 600
    seed: int = 1
    rate: float = 240
    agents: int = 48
    restarts: int = 4
    least: Least = Least()
    fsync: str = "always"
    message_threshold: int = 6_000
    observation_threshold: int = 3_000
    quiet_limit: float = 60
    wait_replicas: int = 0  # one server has none
    archive: str = ""  # nothing is old enough
    leap_s: float = 0  # the server's clock goes on as it does
    hostile_turn: float = 15  # s that the hostile tenant is away, and then here
    hostile_limit: float = 3  # times the others' calm p99, at most, beside him
    tick: float = 2  # s between two looks for what is due
    noise: float = 60  # s behind all that, in which noisy agents have more to do than the workers can
    wait_limit: float = 3  # ticks that 19 of 20 small agents wait, at most, beside what their model takes


def cast() -> list[Member]:
    """Sixty resources with three threads each: ten of them are cleared now and then, six whole and four by a thread."""
    pools = [Member(f"pool-{n}", ("t-1", "t-2", "t-3")) for n in range(36)]
    solos = [Member(f"solo-{n}", ("s-1", "s-2", "s-3")) for n in range(14)]
    ended = [Member(f"{kind}-ended-{n}", ("t-1", "t-2"), 1, "clear") for kind in ("pool", "solo") for n in range(3)]
    cut = [Member(f"{kind}-cut-{n}", ("t-1", "t-2"), 1, "clear thread") for kind in ("pool", "solo") for n in range(2)]
    return [*pools, *solos, *ended, *cut]
