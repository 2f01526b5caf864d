"""What is assumed of agents, of machines and of providers, where nobody measured it; every one of these can be said otherwise."""

import msgspec


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What agents do: the share that says something on a day, and what these say; `peak` is the busiest hour over the average."""

    active: float = 0.1
    messages: float = 200
    tokens: float = 75
    peak: float = 3
    days: float = 90
    threshold: float = 30_000
    notes: float = 40_000


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Models, machines and their prices. Dollars are of a month: of a GiB of memory, of a core, of a GB of the archive.

    `calls_a_minute` and `tokens_a_minute` are what one provider permits of one model.
    """

    observer: str = "gemini-2.5-flash-lite"
    model_s: float = 6
    spread: float = 0.5
    threads: int = 64
    calls_a_minute: float = 10_000
    tokens_a_minute: float = 10_000_000
    server_gib: float = 64
    gib_dollars: float = 4.6
    core_dollars: float = 25
    archive_dollars: float = 0.12
    connections: float = 10_000


ASSUMED = {
    "active": ("share of the agents that say something on a day", "--active"),
    "messages": ("messages of such an agent on that day, those of its user and its tools included", "--messages"),
    "tokens": ("tokens of a message; 4 characters each", "--tokens"),
    "peak": ("busiest hour, over the average", "--peak"),
    "days": ("days that sources are kept: `ttl_days`", "the default"),
    "threshold": ("tokens raw at most: `message_threshold`", "the default"),
    "notes": ("tokens of notes at most: `observation_threshold`", "the default"),
    "observer": ("model of observer and reflector", "--observer"),
    "model_s": ("seconds of a call of a model; log-normal", "--model-seconds"),
    "spread": ("standard deviation of that, over its mean", "fixed"),
    "threads": ("threads of a worker process", "--threads"),
    "calls_a_minute": ("calls a minute that a provider permits of one model", "--calls-a-minute"),
    "tokens_a_minute": ("tokens a minute, likewise", "--tokens-a-minute"),
    "server_gib": ("GiB of memory of a server, half of which is used", "fixed"),
    "gib_dollars": ("dollars a month for a GiB of memory, its share of a core included", "--gib"),
    "core_dollars": ("dollars a month for a core of a worker machine", "--core"),
    "archive_dollars": ("dollars a month for a GB of the archive", "--archive"),
    "connections": ("connections that a server takes: `maxclients`, as servers have it by default", "fixed"),
}
