"""What became of messages that were given: which were new, which were kept before, and what they say otherwise."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from om_api.domain.identity import Said
from om_api.store.memory.push import Pushed

_RAW = (
    "it is still raw: add this one by itself, under its id and with `replace` (om push --id ID --replace), to have it replaced, "
    "or give it an id of its own"
)
_OBSERVED = "it is observed already and stays as it is: give this one an id of its own"


class Changed(NamedTuple):
    """A message that was not kept, because the one of its id says something else; `advice` says what to do."""

    id: str
    advice: str


class Receipt(NamedTuple):
    """What became of messages: the ids they are kept under, and how many were new; the others were kept before.

    Of these `duplicates` say nothing new; `grown` say more, which is kept now; `changed` say something else, and nothing
    was changed; `replaced` took the place of what was raw, as was asked for. `ahead` were dated ahead of the server's clock,
    by `ahead_ms` at most, and are ordered by their arrival instead. With `fail_open`, while the store is unreachable: `held`
    wait in this process (or its spool) and are sent later; `dropped` are lost for lack of room, also messages of earlier calls.
    """

    ids: tuple[str, ...]
    added: int
    duplicates: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()
    replaced: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    ahead_ms: int = 0
    held: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


class ReceiptTally:
    """Counts what becomes of messages, one push after the other."""

    def __init__(self) -> None:
        self._added = 0
        self._ids: defaultdict[Said, list[str]] = defaultdict(list)
        self._changed: list[Changed] = []
        self._ahead, self._ahead_ms = list[str](), 0

    def take(self, pushed: Pushed) -> None:
        """Count a push, but for the messages that say otherwise."""
        self._added += pushed.added
        self._ids[Said.SAME] += pushed.duplicates
        self._ahead += pushed.ahead
        self._ahead_ms = max(self._ahead_ms, pushed.ahead_ms)

    def said(self, name: str, said: Said, *, sealed: bool) -> None:
        """Count a message that was kept before."""
        if said is Said.CHANGED:
            advice = _OBSERVED if sealed else _RAW
            self._changed.append(Changed(name, f"message {name} was kept and says something else: {advice}"))
        else:
            self._ids[said].append(name)

    def receipt(self, ids: Iterable[str]) -> Receipt:
        """The receipt for messages with these ids."""
        said = self._ids
        return Receipt(
            tuple(ids),
            self._added,
            duplicates=tuple(said[Said.SAME]),
            grown=tuple(said[Said.GROWN]),
            changed=tuple(self._changed),
            replaced=tuple(said[Said.REPLACED]),
            ahead=tuple(self._ahead),
            ahead_ms=self._ahead_ms,
        )
