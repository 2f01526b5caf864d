"""Asking a Redis Cluster: each slot's commands at the node that serves it, and again where the slot has gone meanwhile.

redis-py's own client of a cluster tries again by itself whatever happened, so that nobody knows whether a write was done
twice. Here a command goes out again when a node said that it did nothing of it, and when it may be done twice.
"""

from collections.abc import Callable, Sequence
from time import monotonic
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from redis.exceptions import AskError, ClusterDownError, MovedError, RedisError, ResponseError, TryAgainError

from om_api.domain.timing.chance import chance
from om_api.store.driver.slot_parts import SlotPart, in_order, parted
from om_api.store.driver.slots import SlotMap, address, addresses_of
from om_api.store.driver.steps import Batch, Calls, Node, pack

_PAUSE_S = 0.02
_AT_ONCE = 3  # redirections; then there are pauses between them
_SLOTS = pack([("CLUSTER", "SLOTS")], atomic=False)
_SHARDS = pack([("CLUSTER", "SHARDS")], atomic=False)


class NodeRequest(NamedTuple):
    """Bytes for one node, and how many replies it will give to them."""

    client: Any
    sent: bytes
    expected: int


Answer: TypeAlias = list[Any] | RedisError  # of a node: its replies, refusals among them, or why there are none


class PartlyKeptError(RedisError):
    """Some slots have taken what they were to write, another one has refused."""

    def __init__(self, refusal: ResponseError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class ClusterClient:
    """The nodes of a cluster, a client for each, and who serves what; connects at first use.

    `make` opens a client for an address; `patience` (s) is how long slots that are on their way are waited for.
    """

    def __init__(self, seeds: Sequence[str], make: Callable[[str], Any], patience: float) -> None:
        self.patience = patience
        self.slots = SlotMap()
        self.stale = True
        self.seeds, self._make = seeds, make
        self._clients: dict[str, Any] = {}
        self._failed = ""

    def node(self, at: str) -> Any:
        """The client of a node."""
        found = self._clients.get(at)
        return found if found is not None else self._clients.setdefault(at, self._make(at))

    @property
    def clients(self) -> tuple[Any, ...]:
        """A client for every node that was asked so far."""
        return tuple(self._clients.values())

    def owner(self, part: SlotPart) -> str:
        """The node to ask for a part; raises RedisError where nobody serves its slot."""
        if part.slot is not None:
            if found := self.slots.owner(part.slot):
                return found
            self.stale = True
            raise ClusterDownError(f"CLUSTERDOWN no node serves slot {part.slot}")
        primaries = [node.address for node in self.slots.nodes if node.primary]
        return next((each for each in primaries if each != self._failed), self._failed)

    def failed(self, at: str) -> None:
        """Note that a node did not answer, or is out of the cluster: others are asked first who serves what."""
        self._failed, self.stale = at, True

    def moved(self, slot: int, at: str) -> None:
        """Note who serves a slot now; of the others somebody is asked."""
        self.slots.moved(slot, at)
        self.stale = True

    def known(self) -> list[str]:
        """Whom to ask who serves what: everybody in any order, whoever failed last."""
        nodes = [node.address for node in self.slots.nodes]
        chance.shuffle(nodes)
        return sorted(dict.fromkeys([*nodes, *self.seeds]), key=lambda each: each == self._failed)


class Line(NamedTuple):
    """How a cluster is talked to: `exchange` asks several nodes at once, `time` is the module whose `sleep` fits."""

    cluster: ClusterClient
    exchange: Callable[[Sequence[NodeRequest]], Any]
    time: ModuleType

    def ask(self, batch: Batch[Any]) -> Calls[list[Any]]:
        """The replies to a batch, once to each of its commands; raises RedisError."""
        parts = parted(batch)
        try:
            yield from self._until_answered(parts)
        except ResponseError as error:
            if batch.writes and any(part.replies is not None for part in parts):
                raise PartlyKeptError(error) from error
            raise
        return in_order(batch, parts, self.cluster.clients[0].response_callbacks)

    def nodes(self) -> Calls[tuple[Node, ...]]:
        """Every node, as one of them tells it now, those too that are down; raises RedisError."""
        yield from self._learn()
        at, said = yield from self._told(_SHARDS)
        secure = "SSL" in self.cluster.node(at).connection_pool.connection_class.__name__
        found = {node.address: node for node in self.cluster.slots.nodes}
        if not found:
            raise ClusterDownError("CLUSTERDOWN no node serves any slot")
        others = addresses_of(said, at, secure=secure)
        return tuple(({other: Node(other, primary=False) for other in others} | found).values())

    def _until_answered(self, parts: list[SlotPart]) -> Calls[None]:
        """Ask until every part has its replies; raises the first refusal that is no redirection.

        A slot that moves refuses commands with several keys (TRYAGAIN) until it has arrived, which takes milliseconds.
        """
        if self.cluster.stale or not self.cluster.slots.nodes:
            yield from self._learn()
        end, rounds = monotonic() + self.cluster.patience, 0
        while waiting := [part for part in parts if part.replies is None]:
            yield from self._round(waiting)
            refused = [part.error for part in waiting if part.error and not self._sent_on(part)]
            if refused:
                raise refused[0]
            rounds += 1
            if monotonic() > end and (left := [part.error for part in waiting if part.error]):
                raise TryAgainError(f"TRYAGAIN the slot is on its way for longer than the call has time: {left[0]}")
            if rounds > _AT_ONCE or any(isinstance(part.error, TryAgainError) for part in waiting):
                yield self.time.sleep, (_PAUSE_S * (0.5 + chance.random()),)

    def _round(self, parts: list[SlotPart]) -> Calls[None]:
        """Ask every node for its parts; raises the error of one that did not answer, once the others did."""
        where: dict[str, list[SlotPart]] = {}
        for part in parts:
            where.setdefault(part.at or self.cluster.owner(part), []).append(part)
        answers = yield self.exchange, ([_request(self.cluster.node(at), some) for at, some in where.items()],)
        failures: list[RedisError] = []
        for (at, some), answer in zip(where.items(), answers, strict=True):
            if isinstance(answer, RedisError):
                self.cluster.failed(at)
                failures.append(answer)
            else:
                _deal(some, answer)
        if failures:
            raise failures[0]

    def _sent_on(self, part: SlotPart) -> bool:
        """Whether a refusal only says to ask elsewhere, or later; the part knows where."""
        error, part.at, part.asking = part.error, "", False
        if isinstance(error, MovedError):
            self.cluster.moved(error.slot_id, address(error.host, error.port))
        elif isinstance(error, AskError):
            part.at, part.asking = address(error.host, error.port), True
        elif isinstance(error, ClusterDownError):
            self.cluster.failed(self.cluster.owner(part))
        return isinstance(error, AskError | TryAgainError)

    def _learn(self) -> Calls[None]:
        """Learn who serves what; raises RedisError."""
        self.cluster.stale = False  # whoever comes meanwhile goes by what was known
        try:
            at, said = yield from self._told(_SLOTS)
        except RedisError:
            self.cluster.stale = True
            raise
        self.cluster.slots = SlotMap(said, at)

    def _told(self, words: bytes) -> Calls[tuple[str, Any]]:
        """What a node tells of the cluster, and which; they are asked one after the other until one answers."""
        error: RedisError | None = None
        for at in self.cluster.known():
            (answer,) = yield self.exchange, ([NodeRequest(self.cluster.node(at), words, 1)],)
            said = answer if isinstance(answer, RedisError) else answer[0]
            if not isinstance(said, RedisError):
                return at, said
            error = said
        raise error or ClusterDownError("CLUSTERDOWN no node is known")


def _request(client: Any, parts: list[SlotPart]) -> NodeRequest:
    return NodeRequest(client, b"".join(part.wire() for part in parts), sum(part.expected for part in parts))


def _deal(parts: list[SlotPart], replies: list[Any]) -> None:
    first = 0
    for part in parts:
        last = first + part.expected
        part.take(replies[first:last])
        first = last
