"""Finds in one memory what is to be erased, tier by tier, and plans what becomes of each place where it stands."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from om_api.domain import pieces
from om_api.domain.histories.retraction import QUOTED, quotes_of
from om_api.domain.identity import mark
from om_api.domain.kept.extractors import Extracted, extracted_without, without_told
from om_api.domain.note_lines import Stripped, without
from om_api.domain.notes.activations import tokens_of_text
from om_api.domain.notes.catalogue import group_named, says_nothing
from om_api.domain.notes.groups import headed_again
from om_api.domain.notes.marks import marked_lines
from om_api.domain.notes.pins import Notes, written
from om_api.domain.values import Correction, Generation, Observation, Stored, TextPiece, new_id
from om_api.store.erasing.erasable import Erasable, said_in
from om_api.store.erasing.plan import Cut, Plan, Rewritten
from om_api.store.erasing.whole_memory import Kept, WholeMemory
from om_api.store.memory.decoding import as_generation, as_observation

_NOTED = ("current_task", "suggested_response", "title")  # of a thread, each with …_at and …_from


class _Groups(NamedTuple):
    touched: set[str]
    left: dict[str, list[Observation]]


class Planner:
    """Finds in one memory what a target names."""

    def __init__(self, held: WholeMemory, target: Erasable, count: Callable[[str], int]) -> None:
        self._held, self._target, self._count = held, target, count
        self._gone_whole = {
            each.observation.id
            for each in (*held.content.observations, *held.content.history)
            if self._is_meant(each) or ((source := held.sources[each.observation.id]) and not self._parted(source)[1])
        }

    def plan(self) -> Plan:
        """The whole plan; one without anything that goes changes nothing."""
        again = list(self._dissolved())
        found = Plan(
            held=self._held,
            raw={name: self._parted(thread.raw)[0] for name, thread in self._held.threads.items()},
            fields=self._fields([stored.observation for stored, _ in again]),
            cut=list(self._touched()),
            again=again,
            sources=self._thinned(),
            observations=list(
                self._rewritten(self._held.content.observations, {each.observation.id for each, _ in again})
            ),
            histories={n: list(self._rewritten(some, ())) for n, some in self._held.content.histories.items()},
            generations=list(self._generations()),
        )
        found = found._replace(pins=self._pins(found), drafted=self._drafted())
        return found._replace(cut=found.cut + list(self._overtaken())) if found else found

    def _is_meant(self, stored: Stored) -> bool:
        return stored.observation.id == self._target.observation

    def _parted(self, kept: Iterable[Kept]) -> tuple[list[Kept], list[Kept]]:
        gone, left = list[Kept](), list[Kept]()
        for each in kept:
            (gone if self._target.is_message(*each) else left).append(each)
        return gone, left

    def _tells(self, observation: Observation) -> bool:
        said = [*observation.text.split("\n"), observation.task_state, observation.suggested_response, observation.by]
        said += [text for each in observation.corrections for text in _told(each)]
        return self._target.everywhere and (
            bool(self._target.lines(said))
            or any(map(self._names, observation.message_ids))
            or extracted_without(observation.extracted, self._tells_in) != observation.extracted
        )

    def _tells_in(self, said: str) -> bool:
        return bool(self._target.lines([said]))

    # -- chunks and observations in force --------------------------------------------------------------------------

    def _touched(self) -> Iterator[Cut]:
        """Chunks of which a message goes, and ready ones that tell what is to be erased."""
        for chunk in self._held.content.chunks:
            gone, left = self._parted(self._held.sealed[chunk.id])
            ready = self._held.ready.get(chunk.id)
            if gone or (ready and self._tells(as_observation(ready))):
                yield Cut(chunk.id, chunk.thread, new_id(), gone, left)

    def _overtaken(self) -> Iterator[Cut]:
        """Chunks that may be before a model just now, which was shown notes that tell it."""
        for chunk in self._held.content.chunks:
            kept = self._held.sealed[chunk.id]
            if chunk.id not in self._held.ready and kept and not self._parted(kept)[0]:
                yield Cut(chunk.id, chunk.thread, new_id(), [], kept)

    def _dissolved(self) -> Iterator[tuple[Stored, Cut]]:
        """Observations whose messages are kept, of which one goes, or of which no line would be left."""
        waiting = [
            (chunk.seq, chunk.thread, _first(self._held.sealed[chunk.id])) for chunk in self._held.content.chunks
        ]
        fresh = float(self._held.content.seq)
        for stored in self._held.content.observations:
            own, source = stored.observation, self._held.sources[stored.observation.id]
            gone, left = self._parted(source)
            if gone or (source and self._tells(own) and not self._left(own.text).lines):
                later = [seq for seq, thread, first in waiting if thread == own.thread_id and first > _first(source)]
                before = max((seq for seq, *_ in waiting if later and seq < min(later)), default=0.0)
                fresh += 1
                at = (before + min(later)) / 2 if later else fresh
                waiting.append((at, own.thread_id, _first(source)))
                yield stored, Cut(own.id, own.thread_id, new_id(), gone, left, at)

    def _thinned(self) -> dict[str, list[Kept]]:
        """Messages that go behind observations which a generation replaced."""
        history = {stored.observation.id for stored in self._held.content.history}
        found = {name: self._parted(self._held.sources[name])[0] for name in sorted(history)}
        return {name: gone for name, gone in found.items() if gone}

    # -- lines ------------------------------------------------------------------------------------------------------

    def _left(self, text: str) -> Stripped:
        lines = text.split("\n")
        return without(lines, self._target.lines(lines))

    def _kept_lines(self, texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if not self._target.lines([text]))

    def _rewritten(self, stored: Iterable[Stored], dissolved: Collection[str]) -> Iterator[Rewritten]:
        for each in stored:
            own = each.observation
            if own.id in dissolved:
                continue
            gone = {kept.message.id for kept in self._parted(self._held.sources[own.id])[0]}
            if gone or self._tells(own) or self._is_meant(each):
                yield self._without_lines(each, gone)

    def _without_lines(self, stored: Stored, gone: Collection[str]) -> Rewritten:
        own, found = stored.observation, self._left(stored.observation.text)
        expired = not self._held.sources[own.id] and not found.lines
        if own.id in self._gone_whole or expired:
            return Rewritten(stored.seq, stored.member, b"", -own.tokens, own.id, tuple(own.text.split("\n")))
        task, suggestion = self._kept_lines([own.task_state]), self._kept_lines([own.suggested_response])
        said: dict[str, Any] = {
            "text": found.text,
            **tokens_of_text(own, found.text, self._count),
            "marked": marked_lines(found.text),
            "task_state": "".join(task),
            "suggested_response": "".join(suggestion),
            "message_ids": [name for name in own.message_ids if name not in gone and not self._names(name)],
            "by": "".join(self._kept_lines([own.by])),
            "extracted": {} if gone else extracted_without(own.extracted, self._tells_in),
            "corrections": [] if gone else [each for each in own.corrections if not self._target.lines(_told(each))],
            "source_range": self._range(own) if gone else [name for name in own.source_range if not self._names(name)],
        }
        member = msgspec.json.encode({**msgspec.json.decode(stored.member), **said})
        return Rewritten(stored.seq, stored.member, member, said["tokens"] - own.tokens, own.id, found.gone)

    def _drafted(self) -> tuple[str, ...]:
        """The lines of a draft, and of what was said to it, that tell what is to be erased."""
        if not self._target.everywhere:
            return ()
        said = said_in(self._held.draft).split("\n")
        return tuple(said[at] for at in sorted(self._target.lines(said)))

    def _names(self, name: str) -> bool:
        return self._target.everywhere and bool(self._target.lines([name]))

    def _range(self, own: Observation) -> list[str]:
        """The first and the last message behind an observation, of those that are left."""
        left = sorted((kept.message.at, kept.message.id) for kept in self._parted(self._held.sources[own.id])[1])
        return [left[0][1], left[-1][1]]

    def _generations(self) -> Iterator[Rewritten]:
        history = {each.observation.id for each in self._held.content.history}
        removed = self._gone_whole & history
        told = self._target.everywhere or bool(self._thinned() or self._groups.touched or removed)
        for n, member in self._held.content.generations:
            was = as_generation(member)
            text, made_of, gone = (
                self._text(was.text, pieces.cut(was, pooled=self._pooled)) if told else (was.text, (), ())
            )
            dropped = [name for name in was.observation_ids if name in removed]
            by = "" if self._names(was.by) else was.by
            extracted = self._extracted(was) if told else was.extracted
            if not gone and not dropped and by == was.by and extracted == was.extracted:
                continue
            tokens = self._count(text) if gone else was.tokens
            said: dict[str, Any] = {
                "observation_ids": [name for name in was.observation_ids if name not in removed],
                "dropped_ids": list(dict.fromkeys([*was.dropped_ids, *dropped])),
                "by": by,
                "extracted": extracted,
            }
            if gone:
                readings = {"patterns": self._kept_lines(was.patterns), "insights": self._kept_lines(was.insights)}
                said |= {"text": text, "tokens": tokens, "pieces": made_of, **readings}
            becomes = msgspec.json.encode({**msgspec.json.decode(member), **said})
            yield Rewritten(n, member, becomes, tokens, str(n), gone)

    def _extracted(self, was: Generation) -> Extracted:
        """What extractors found that a generation stands for, without what tells it."""
        left = {
            thread: {
                slug: replace(each, value=value)
                for slug, each in values.items()
                if (value := without_told(each.value, self._tells_in)) is not None
            }
            for thread, values in was.extracted.items()
        }
        return {thread: values for thread, values in left.items() if values}

    def _pins(self, plan: Plan) -> bytes:
        """The pins of lines that still stand somewhere."""
        becomes = {each.place: each.becomes for each in plan.observations}
        again = {stored.observation.id for stored, _ in plan.again}
        kept = [stored for stored in self._held.content.observations if stored.observation.id not in again]
        members = [becomes.get(stored.seq, stored.member) for stored in kept]
        texts = {each.place: each.becomes for each in plan.generations}
        in_force = [as_generation(texts.get(n, member)) for n, member in self._held.content.generations[-1:]]
        left = Notes.of(in_force, [as_observation(member) for member in members if member], self._held.content.scope)
        return written(
            replace(pin, by="" if self._names(pin.by) else pin.by) for pin in self._held.content.pins if left.hold(pin)
        )

    def _text(self, text: str, slices: Sequence[pieces.Slice]) -> tuple[str, tuple[TextPiece, ...], tuple[str, ...]]:
        """A generation's text, what it is made of, and the lines that go."""
        if not slices:
            found = self._left_told(text.split("\n"))
            return found.text, (), found.gone
        kept, gone = list[pieces.Slice](), list[str]()
        for piece, lines in slices:
            part = self._left_told(lines)
            gone += part.gone
            if part.lines:
                kept.append(pieces.Slice(replace(piece, lines=len(part.lines)), part.lines))
        return pieces.text_of(kept, pooled=self._pooled), tuple(each.piece for each in kept), tuple(gone)

    def _left_told(self, lines: Sequence[str]) -> Stripped:
        """What is left of lines of a generation; a heading of a group of which anything goes is made anew, of what is left."""
        matched, goes, made, was = self._target.lines(lines), set[int](), list[str](), list[str]()
        for at, line in enumerate(lines):
            name, becomes = group_named(line), line
            if name and (at in matched or name in self._groups.touched):
                becomes = headed_again(line, self._groups.left.get(name, ()))
                was += [line] if becomes not in {"", line} else []
            elif at in matched and not says_nothing(line):
                becomes = self._target.instead(line)
                becomes = "" if becomes in lines else becomes
                was += [line] if becomes else []
            if line and not becomes:
                goes.add(at)
            made.append(becomes or line)
        found = without(made, goes)
        return Stripped(found.lines, (*found.gone, *was))

    @cached_property
    def _groups(self) -> "_Groups":
        """The groups of which anything goes, and what is left of each."""
        content, touched, left = self._held.content, set[str](), dict[str, list[Observation]]()
        named = [stored for stored in (*content.observations, *content.history) if stored.observation.group]
        again = {stored.observation.id for stored, _ in self._dissolved()} if named else ()
        for stored in named:
            name, becomes = stored.observation.group, stored.member
            for rewritten in self._rewritten([stored], again):
                touched.add(name)
                becomes = rewritten.becomes
            if stored.observation.id in again:
                touched.add(name)
            elif becomes:
                left.setdefault(name, []).append(as_observation(becomes))
        return _Groups(touched, left)

    @property
    def _pooled(self) -> bool:
        return self._held.content.scope.thread is None

    def _fields(self, dissolved: Sequence[Observation]) -> dict[str, list[str]]:
        """Fields of threads that tell it, or that an Observer noted from what goes."""
        named = {name for own in dissolved for name in own.message_ids}
        named |= {kept.message.id for kept in self._parted(self._held.everything())[0]}
        found = dict[str, list[str]]()
        for name, thread in self._held.threads.items():
            tell = {
                field for field, text in thread.fields.items() if self._target.everywhere and self._target.lines([text])
            }
            tell |= {field for field in _NOTED if thread.fields.get(f"{field}_from") in named}
            tell |= {field for field in QUOTED if self._quotes(quotes_of(thread.fields.get(field)), named)}
            own = [f"{field}{end}" for field in _NOTED if field in tell for end in ("_at", "_from", "_by")]
            found[name] = sorted({*tell, *own})
        return found

    def _quotes(self, quotes: Mapping[str, str], named: Iterable[str]) -> bool:
        """Whether one of them is of a message that goes, or tells it."""
        told = self._target.everywhere and self._target.lines([*quotes.values()])
        return bool(told) or not quotes.keys().isdisjoint(mark(name).hex() for name in named)


def _told(correction: Correction) -> list[str]:
    """All that is kept of a correction, by lines."""
    return [*correction.text.split("\n"), correction.was, correction.now, correction.by]


def _first(kept: Iterable[Kept]) -> int:
    return min((each.message.at for each in kept), default=0)
