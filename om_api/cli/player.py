"""Sending a recording: each thread's messages as the history they are, in batches, counting what became of them."""

import time
from collections.abc import Callable, Iterable, Iterator

from msgspec import structs

from om_api.client.memory import ObservationalMemory
from om_api.client.receipts import Changed
from om_api.client.syncing import Synced
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.messages import Message

_TAIL = 10  # messages that are sent again with those that follow them in their thread


class _Thread:
    """A thread's last messages that are kept, with their ids; the ids of all it has had, and from which on it is another one."""

    def __init__(self) -> None:
        self.tail: list[Message] = []
        self.messages = 0
        self.diverged_at: int | None = None
        self.ids: list[str] = []

    def take(self, messages: list[Message], synced: Synced) -> None:
        """Note what became of messages that followed the tail."""
        sent, said = len(self.tail), {each.id for each in synced.changed}
        if self.diverged_at is None and synced.diverged_at is not None:
            self.diverged_at = self.messages + max(0, synced.diverged_at - sent)
        ids = zip(synced.ids[sent:], messages, strict=True)
        self.tail += [structs.replace(message, id=name) for name, message in ids if name and name not in said]
        self.tail = self.tail[_start(self.tail) :]
        self.messages += len(messages)
        self.ids += synced.ids[sent:]


def _start(tail: list[Message]) -> int:
    """Where the end of a tail begins; never with a message of the role system, which would pass for instructions."""
    return next((n for n in range(max(0, len(tail) - _TAIL), 0, -1) if tail[n].role != "system"), 0)


class Player:
    """Sends messages in batches, no faster than `rate` a second.

    It counts what became of them: `added`, `known` as they are, `grown`; `changed` are those that were not kept, because the
    one of their id says something else, and `instructions` those before a conversation.
    """

    def __init__(self, om: ObservationalMemory, batch: int, rate: float | None) -> None:
        self.om = om
        self.size = batch if rate is None else max(1, min(batch, int(rate)))
        self.rate = rate
        self.messages = self.added = self.known = self.grown = self.instructions = 0
        self.changed: list[Changed] = []
        self.threads: dict[tuple[str, str], _Thread] = {}

    def play(self, messages: Iterable[Message], progress: Callable[[int], None]) -> None:
        """Send everything; raises InvalidInputError or StoreError that says what was sent before, and stays."""
        began = time.monotonic()
        try:
            for batch in batched(messages, self.size):
                for place, own in by_thread(batch).items():
                    self._send(place, own)
                progress(self.messages)
                if self.rate is not None:
                    time.sleep(max(0.0, began + self.messages / self.rate - time.monotonic()))
        except InvalidInputError as error:
            raise InvalidInputError(f"{error}. {self._kept()}") from None
        except StoreError as error:
            raise StoreError(f"{error} {self._kept()}", stored=error.stored) from None

    def _send(self, place: tuple[str, str], messages: list[Message]) -> None:
        thread = self.threads.setdefault(place, _Thread())
        synced = self.om.sync([*thread.tail, *messages], *place, diverged="keep")
        ids = synced.ids[len(thread.tail) :]
        thread.take(messages, synced)
        self._count(ids, synced)

    def _count(self, ids: tuple[str, ...], synced: Synced) -> None:
        own = set(ids)
        grown, changed = own & set(synced.grown), [each for each in synced.changed if each.id in own]
        self.messages += len(ids)
        self.added += synced.added
        self.grown += len(grown)
        self.changed += changed
        self.instructions += ids.count("")
        self.known += len(ids) - ids.count("") - synced.added - len(grown) - len(changed)

    def _kept(self) -> str:
        return (
            f"The {self.messages:,} messages before it were sent and stay; "
            "replay it again when that is mended: they are known by then, and change nothing."
        )


def by_thread(messages: Iterable[Message]) -> dict[tuple[str, str], list[Message]]:
    """Messages by resource and thread, in their order."""
    found: dict[tuple[str, str], list[Message]] = {}
    for message in messages:
        found.setdefault((message.resource_id, message.thread_id), []).append(message)
    return found


def batched(messages: Iterable[Message], size: int) -> Iterator[list[Message]]:
    """Give messages in lists of `size`; those that stand before a bad line come before its InvalidInputError."""
    batch: list[Message] = []
    problem: InvalidInputError | None = None
    try:
        for message in messages:
            batch.append(message)
            if len(batch) == size:
                yield batch
                batch = []
    except InvalidInputError as error:
        problem = error
    if batch:
        yield batch
    if problem:
        raise problem
