"""One long conversation: what a memory's contexts support of it all the time, beside the tokens that these take."""

from collections.abc import Iterator, Sequence

import msgspec

from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_api.domain.tokens import counter
from om_bench.harness.page import table
from om_bench.harness.pipeline import BY_PRICE, BY_THRESHOLDS, pipeline
from om_bench.harness.talks import Talk
from om_bench.memory.quality import steady
from om_bench.memory.support import Support
from om_bench.memory.tally import Tally

SMALL = ("message_threshold=3000", "observation_threshold=4000")  # a tenth of what is shipped: a talk here is short
_HALF = ("message_threshold=3000", "observation_threshold=2000")
RUNS = (SMALL, (*SMALL, *BY_THRESHOLDS), (*SMALL, *BY_PRICE), _HALF, (*_HALF, *BY_PRICE))
THREAD = "chained"
RECENT = 200  # messages
_EVERY = 20  # messages between two looks
_DAY_MS = 86_400_000


class LongTalk(msgspec.Struct):
    """What came of some settings, over all looks: questions whose evidence has been said, and those of the last 200 messages.

    `last` counts the last look alone; `tokens` are those of a context without its volatile block, on average.
    """

    settings: tuple[str, ...]
    all: Tally
    recent: Tally
    last: Tally
    tokens: int = 0


def chained(talks: Sequence[Talk]) -> Talk:
    """The talks as one of one thread, each ended a day before the next begins; the last one keeps its times."""
    messages: list[Message] = []
    for place, talk in reversed([*enumerate(talks)]):
        by = messages[0].at - _DAY_MS - talk.messages[-1].at if messages else 0
        messages[:0] = [_moved(message, f"{place}-{message.id}", by) for message in talk.messages]
    return Talk(
        name=" + ".join(talk.name for talk in talks),
        messages=tuple(messages),
        questions=tuple(
            msgspec.structs.replace(question, evidence=tuple(f"{place}-{name}" for name in question.evidence))
            for place, talk in enumerate(talks)
            for question in talk.questions
        ),
        people=tuple(sorted({name for talk in talks for name in talk.people})),
    )


def _moved(message: Message, name: str, by: int) -> Message:
    at = message.at + by
    return msgspec.structs.replace(message, id=name, at=at, timestamp=at, thread_id=THREAD)


def measure(talks: Sequence[Talk], runs: Sequence[Sequence[str]], url: str | None = None) -> list[LongTalk]:
    """Push the chained talks message by message, with each settings ("name=value") anew, and look after every twenty.

    Raises SettingsError and StoreError.
    """
    talk, count = chained(talks), counter()
    support = Support(talk)
    return [_kept(talk, support, count, tuple(run), url) for run in runs]


def _kept(talk: Talk, support: Support, count: Count, settings: tuple[str, ...], url: str | None) -> LongTalk:
    found, said, tokens = LongTalk(settings, Tally(), Tally(), Tally()), _said(talk), list[int]()
    resource = talk.messages[0].resource_id
    with pipeline(url, settings) as running:
        for place, message in enumerate(talk.messages, 1):
            running.push(message)
            if place % _EVERY and place < len(talk.messages):
                continue
            text = steady(running.om.get_context(message.thread_id, resource))
            tokens.append(count(text))
            held = support.supported(text)
            found.last = _held(held, said, range(place))
            recent = _held(held, said, range(max(0, place - RECENT), place))
            found.all.add(found.last.did, found.last.of)
            found.recent.add(recent.did, recent.of)
        running.om.clear(resource)
    found.tokens = round(sum(tokens) / len(tokens))
    return found


def _said(talk: Talk) -> list[int]:
    """The place of each question's last evidence."""
    places = {message.id: place for place, message in enumerate(talk.messages)}
    return [max(places[name] for name in question.evidence) for question in talk.questions]


def _held(held: frozenset[int], said: Sequence[int], within: range) -> Tally:
    wanted = {question for question, at in enumerate(said) if at in within}
    return Tally(of=len(wanted), did=len(wanted & held))


def as_lines(found: Sequence[LongTalk]) -> Iterator[str]:
    """The figures as a table."""
    head = ["settings", "tokens", "S of all that was said", f"S of the last {RECENT} messages", "S at the end"]
    yield from table(head, [
        [", ".join(f"`{each}`" for each in kept.settings), f"{kept.tokens:,}", kept.all.shown, kept.recent.shown, kept.last.shown]
        for kept in found
    ])  # fmt: skip
