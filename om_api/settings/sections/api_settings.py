"""How much the HTTP API takes from whom: the settings of each process that serves it."""

from om_api.settings.sections.fields import Group, Origins, Seconds, duration, limit, number, setting

_MOST = 1_000_000


class ApiSettings(Group):
    """What one process of `om api` accepts, from strangers and from each key."""

    connections: int = number(800, "connections open at a time", 1, _MOST, "connections")
    connections_per_address: int | None = limit(
        200,
        "of them from one address, an IPv6 /64 being one; null behind a reverse proxy, which counts for itself",
        1,
        _MOST,
        "connections",
    )
    header_bytes: int = number(16_384, "longest head of a request: its line and its headers", 1_024, 2**20, "bytes")
    headers: int = number(100, "headers of a request", 8, 10_000, "headers")
    header_timeout: Seconds = duration(10, "longest time that a head takes to arrive")
    least_rate: int = number(
        1_000,
        "slowest that a body may arrive and an answer be taken, over each header_timeout",
        1,
        1_000_000_000,
        "bytes a second",
    )
    requests_per_key: int = number(128, "requests of one key in flight", 1, _MOST, "requests")
    turns_per_key: int = number(8, "of them worked on at a time; the others wait for their turn", 1, _MOST, "requests")
    bytes_per_key: int = number(
        2**26, "bodies and answers of one key in memory; a further request is refused then", 2**20, 2**40, "bytes"
    )
    streams: int = number(100, "streams of events open at a time", 1, 100_000, "streams")
    streams_per_key: int = number(20, "of them with one key", 1, 100_000, "streams")
    cors_origins: Origins = setting(
        (),
        "origins whose pages in a browser may read answers (CORS)",
        'a list of origins as browsers write them, such as ["https://app.example.org", "http://localhost:3000"]: scheme and host '
        'in small letters, a port unless it is the usual one, no path and no slash at the end; or "*" for every one',
    )
