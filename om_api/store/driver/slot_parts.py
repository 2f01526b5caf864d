"""A batch parted by slots: what each of them is asked for, and the replies put in order again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from redis.exceptions import ResponseError

from om_api.store.driver.slots import slot_of
from om_api.store.driver.steps import Batch, Words, pack

_ASKING = pack([("ASKING",)], atomic=False)


@dataclass(slots=True)
class SlotPart:
    """The commands of one slot (None: of any node), which stand in a batch at `places`; within MULTI all are done or none.

    `at` is the node to ask, "" the one that serves the slot; `asking`: it does not serve the slot yet, and is told that we know.
    """

    slot: int | None
    atomic: bool
    packed: bytes = b""
    commands: list[Words] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    at: str = ""
    asking: bool = False
    replies: Sequence[Any] | None = None
    error: ResponseError | None = None

    @property
    def multi(self) -> bool:
        """Whether it goes within MULTI: ASKING holds for one command, or for one MULTI."""
        return bool(self.packed) or ((self.atomic or self.asking) and len(self.commands) > 1)

    @property
    def expected(self) -> int:
        """How many replies there will be."""
        return len(self.commands) + 2 * self.multi + self.asking

    def wire(self) -> bytes:
        """Its bytes."""
        words = self.packed or pack(list(map(_split, self.commands)), atomic=self.multi)
        return _ASKING + words if self.asking else words

    def take(self, replies: Sequence[Any]) -> None:
        """Take the replies to it, or the first refusal among them."""
        self.error = _first_error(replies)
        given = replies[-1] if self.multi else replies[self.asking :]
        if self.error is None and isinstance(given, list):
            self.error = _first_error(given)
        if self.error is None and (not isinstance(given, list) or len(given) != len(self.commands)):
            self.error = ResponseError("the server gave another number of replies than it was asked for")
        self.replies = given if self.error is None else None


def parted(batch: Batch[Any]) -> list[SlotPart]:
    """A batch by slots; what has no slot goes with the first that has, so that its clock is that of the scripts there.

    Writes of one slot go within MULTI: a slot that is on its way to another node refuses all of them or none, so that no
    EXPIRE goes where its key is not yet.
    """
    if batch.at:
        return [_whole(batch)]
    slots = [slot_of(command) for command in batch.commands]
    home = next((slot for slot in slots if slot is not None), None)
    found: dict[int | None, SlotPart] = {}
    for place, (slot, command) in enumerate(zip(slots, batch.commands, strict=True)):
        mine = home if slot is None else slot
        part = found.setdefault(mine, SlotPart(mine, batch.atomic or batch.writes))
        part.commands.append(command)
        part.places.append(place)
    if len(found) == 1 and home is not None:
        found[home].packed = batch.packed
    return list(found.values())


def _whole(batch: Batch[Any]) -> SlotPart:
    return SlotPart(
        None, batch.atomic, commands=list(batch.commands), places=[*range(len(batch.commands))], at=batch.at
    )


def in_order(batch: Batch[Any], parts: Iterable[SlotPart], callbacks: Mapping[str, Any]) -> list[Any]:
    """The replies in the batch's order, in redis-py's own types unless it was packed beforehand."""
    found: list[Any] = [None] * len(batch.commands)
    for part in parts:
        for place, command, reply in zip(part.places, part.commands, part.replies or (), strict=True):
            own = None if batch.packed else callbacks.get(command[0])
            found[place] = own(reply) if own else reply
    return found


def _split(command: Words) -> Words:
    """A command whose name is of two words, as the server wants them."""
    return (*str(command[0]).split(), *command[1:]) if " " in str(command[0]) else command


def _first_error(replies: Iterable[Any]) -> ResponseError | None:
    return next((reply for reply in replies if isinstance(reply, ResponseError)), None)
