"""One server, or a Cluster of three on this machine, for as long as something is measured on it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import redis
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from om_api.cli.embedded import HOST, Embedded, free_port
from om_bench.harness.processes import wait

_PATIENCE_S = 60.0  # a store of millions of keys may stand still for seconds while it grows its tables


class ServersWork(NamedTuple):
    """Seconds of servers' processor time, and the requests that they read: a batch is one, of 16 kB at most."""

    cpu: float
    requests: int


class StandServers(NamedTuple):
    """Where memories and tasks are kept, and a bare redis-py client of each of the servers that keep memories."""

    url: str
    broker: str
    nodes: Sequence[Any]

    def node_of(self, key: str) -> Any:
        """The client of the server that has a key."""
        return self.nodes[key_slot(key.encode()) * len(self.nodes) // REDIS_CLUSTER_HASH_SLOTS]

    @property
    def used(self) -> int:
        """Bytes that all that is kept takes."""
        return sum(int(node.info("memory")["used_memory"]) for node in self.nodes)

    def spent(self) -> ServersWork:
        """What the servers took so far, all of them together. To ask is a request to each."""
        told = [node.info("cpu", "stats") for node in self.nodes]
        cpu = sum(each["used_cpu_user"] + each["used_cpu_sys"] for each in told)
        return ServersWork(float(cpu), sum(int(each["total_reads_processed"]) for each in told))


@contextmanager
def servers(count: int) -> Iterator[StandServers]:
    """So many servers, of memories nobody else uses; several are a Cluster, and one more has the tasks."""
    with ExitStack() as held:
        buses = [free_port() for _ in range(count)]
        nodes = [held.enter_context(Embedded(options=_options(bus) if count > 1 else ())) for bus in buses]
        clients = [held.enter_context(redis.Redis(HOST, node.port, socket_timeout=_PATIENCE_S)) for node in nodes]
        if count == 1:
            yield StandServers(nodes[0].url, nodes[0].url, clients)
            return
        _introduce(clients, [(node.port, bus) for node, bus in zip(nodes, buses, strict=True)])
        url = f"redis+cluster://{','.join(f'{HOST}:{node.port}' for node in nodes)}"
        yield StandServers(url, held.enter_context(Embedded()).url, clients)


def _options(bus: int) -> Sequence[str]:
    return ("--cluster-enabled", "yes", "--cluster-port", str(bus))


def _introduce(clients: Sequence[Any], ports: Sequence[tuple[int, int]]) -> None:
    """Share the slots out evenly, in order, and wait until every server knows who has which."""
    bounds = [-(-n * REDIS_CLUSTER_HASH_SLOTS // len(clients)) for n in range(len(clients) + 1)]
    for client, first, end in zip(clients, bounds, bounds[1:], strict=False):
        client.execute_command("CLUSTER ADDSLOTSRANGE", first, end - 1)
    for port, bus in ports[1:]:
        clients[0].execute_command("CLUSTER MEET", HOST, port, bus)
    wait(
        lambda: all(_is_whole(client, len(clients)) for client in clients),
        f"a cluster of {len(clients)} servers",
        patience_s=_PATIENCE_S,
    )


def _is_whole(client: Any, count: int) -> bool:
    told = client.execute_command("CLUSTER INFO")
    return bool(told["cluster_state"] == "ok" and told["cluster_known_nodes"] == told["cluster_size"] == str(count))
