"""How much the HTTP API takes from whom: the settings of each process that serves it."""

from __future__ import annotations

from om_api.settings.fields import Group, Seconds, count, duration, setting

_BYTES = 2**40


class ApiSettings(Group):
    """What one process of `om api` accepts, from strangers and from each key."""

    connections: int = count(800, "connections open at a time", 1, 1_000_000, "connections")
    connections_per_address: int | None = setting(
        200,
        "of them from one address, an IPv6 /64 being one; null behind a reverse proxy, which counts for itself",
        "1 to 1,000,000, or null",
        "connections",
        ge=1,
        le=1_000_000,
    )
    header_bytes: int = count(16_384, "longest head of a request: its line and its headers", 1_024, 1_048_576, "bytes")
    headers: int = count(100, "headers of a request", 8, 10_000, "headers")
    header_timeout: Seconds = duration(10, "longest time that a head takes to arrive", "1s to 1h", least=1, most=3_600)
    least_rate: int = count(
        1_000,
        "slowest that a body may arrive and an answer be taken, over each header_timeout",
        1,
        1_000_000_000,
        "bytes a second",
    )
    requests_per_key: int = count(128, "requests of one key in flight", 1, 1_000_000, "requests")
    turns_per_key: int = count(
        8, "of them worked on at a time; the others wait for their turn", 1, 1_000_000, "requests"
    )
    bytes_per_key: int = count(
        67_108_864,
        "bodies and answers of one key in memory; a further request is refused then",
        1_048_576,
        _BYTES,
        "bytes",
    )
    streams: int = count(100, "streams of events open at a time", 1, 100_000, "streams")
    streams_per_key: int = count(20, "of them with one key", 1, 100_000, "streams")
