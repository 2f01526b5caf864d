"""What becomes of a raw set's members, by what is known of their ids: pure, for adoption to commit."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from om_api.domain.identity import KnownId, Said, compare, continued, further, record_of
from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.wire import encode_message


class RawMember(NamedTuple):
    """A member that is a message; `at` is the Unix ms it is to be ordered by, `score` what it is ordered by now.

    `becomes` is what is to stand in its place; b"" where it may stay as it is.
    """

    member: bytes
    score: float
    at: float
    message: Message
    becomes: bytes = b""


class Verdict(NamedTuple):
    """`keep` (at `score`, "" leaves it), `turn` into `what`, `drop`, or `reject` with the entry `what`."""

    verb: str
    what: bytes = b""
    score: float | str = ""
    tokens: int = 0


class Judgement:
    """The verdict on each member, and what the records of ids become: of any id one message is kept, the one accepted first.

    `rest` names those of which more came after they were sealed; `go_on` says what becomes of that.
    """

    def __init__(
        self, known: Mapping[str, KnownId], count: Callable[[str], int], entry: Callable[[RawMember], bytes]
    ) -> None:
        self.verdicts: dict[bytes, Verdict] = {}
        self.records: list[tuple[bytes, bytes]] = []
        self.rest: dict[str, tuple[RawMember, KnownId]] = {}
        self._known, self._count, self._entry = known, count, entry
        self._kept: dict[str, RawMember] = {}

    def judge(self, members: Iterable[RawMember]) -> None:
        """Judge all members that are messages, in the order they stand in."""
        by_id = defaultdict[str, list[RawMember]](list)
        for each in members:
            by_id[each.message.id].append(each)
        for name, own in by_id.items():
            known = self._known.get(name)
            if known and known.day:
                self._sealed(name, known, own)
            else:
                self._raw(name, known, own)

    def _raw(self, name: str, known: KnownId | None, own: list[RawMember]) -> None:
        same = (each for each in own if known and compare(known, each.message) is Said.SAME)
        kept = next(same, own[0])
        form = KnownId.of(record_of(kept.message))
        at: float | str = "" if kept.score == kept.at else kept.at
        for each in own:
            said = Said.SAME if each is kept else compare(form, each.message)
            if said is Said.GROWN:
                self.verdicts[kept.member] = Verdict("drop")
                at, kept, form = at or kept.score, each, form.grown(each.message)
            elif each is not kept:
                self._other(each, said, kept.message)
        verb = "turn" if kept.becomes else "keep"
        at = kept.score if kept.becomes and at == "" else at
        self.verdicts[kept.member] = Verdict(verb, kept.becomes, at, count_message(kept.message, self._count))
        self._kept[name] = kept
        if known is None or form.record != known.record:
            self.records.append((known.record if known else b"", form.record))

    def _other(self, each: RawMember, said: Said, kept: Message) -> None:
        begins = compare(KnownId.of(record_of(each.message)), kept) is Said.GROWN
        dropped = said is Said.SAME or begins
        self.verdicts[each.member] = Verdict("drop") if dropped else Verdict("reject", self._entry(each))

    def _sealed(self, name: str, known: KnownId, own: list[RawMember]) -> None:
        form, whole = known, None
        for each in own:
            said = compare(form, each.message)
            if said is Said.GROWN:
                if whole:
                    self.verdicts[whole.member] = Verdict("drop")
                form, whole = form.grown(each.message), each
            else:
                self._other(each, said, whole.message if whole else each.message)
        if whole:
            self.rest[name] = whole, known

    def go_on(self, name: str, n: int, last: KnownId | None, last_id: str) -> None:
        """Keep what came of a sealed message beyond what was sealed: with the rest that is raw, or as the next rest of it."""
        whole, known = self.rest[name]
        old = self._kept.get(last_id) if last and not last.day else None
        after = continued(old.message, name) if old else None
        was, score = b"", whole.at
        if old and last and after is not None:
            self.verdicts[old.member], was, score = Verdict("drop"), last.record, old.at
        else:
            n, after = n + 1, known.length
        new = further(whole.message, n, after)
        new.tokens = count_message(new, self._count)
        self.verdicts[whole.member] = Verdict("turn", encode_message(new), score, new.tokens)
        self.records += [(known.record, known.gone_on(whole.message).record), (was, record_of(new))]
