"""Many small threads of one memory: what their notes take, and what of a context is wrapped around these."""

from collections.abc import Iterator, Sequence

import msgspec

from om_api import Message
from om_bench.harness.page import table
from om_bench.harness.pipeline import pipeline

_RESOURCE = "clinic"
_READER = "reader"
_SETTINGS = ("scope=resource", "observation_threshold=1000000", "min_recent_messages=0")  # nothing is reflected
_DAY_MS, _MINUTE_MS, _START_MS = 86_400_000, 60_000, 1_763_600_000_000
_FIRST = ("Anna", "Bela", "Carla", "Dario", "Elif", "Franz", "Gita", "Hugo", "Ines", "Jan", "Kira")
_PLACE = ("Graz", "Oslo", "Porto", "Lyon", "Turin", "Bergen", "Malmo")
_THING = (
    "blood test",
    "passport",
    "invoice",
    "flu shot",
    "parking permit",
    "bike repair",
    "piano lesson",
    "lease",
    "visa",
)


class SmallThreads(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of a memory of so many `threads`, each of one question and its answer, that were all observed.

    `messages` and `notes` are as stored; `sent` is what a context shows of the notes, with all that stands around them;
    `counted` is what thresholds compare.
    """

    threads: int
    a_day: int
    messages: int
    notes: int
    sent: int
    counted: int


def measure(threads: int, a_day: Sequence[int]) -> list[SmallThreads]:
    """One row for each number of threads a day, in a store of its own. The extractive observer writes the notes."""
    return [_measured(threads, each) for each in a_day]


def _measured(threads: int, a_day: int) -> SmallThreads:
    with pipeline(None, _SETTINGS) as running:
        count = running.services.count
        for n in range(threads):
            running.om.add_messages(_talk(n, a_day))
        running.om.force_observe(resource_id=_RESOURCE)
        running.work()
        record = running.om.record(resource_id=_RESOURCE)
        context = running.om.get_context(resource_id=_RESOURCE, thread_id=_READER)
        shown = [block.text for block in context.blocks if block.kind == "observations"]
        notes = sum(count(observation.text) for observation in context.observations)
        sent = sum(map(count, shown))
        return SmallThreads(
            threads=threads,
            a_day=a_day,
            messages=record.observed_tokens,
            notes=notes,
            sent=sent,
            counted=record.observation_tokens,
        )


def _talk(n: int, a_day: int) -> Iterator[Message]:
    who, where, what = _FIRST[n % len(_FIRST)], _PLACE[n % len(_PLACE)], _THING[n % len(_THING)]
    at = _START_MS + n // a_day * _DAY_MS + n % a_day * _MINUTE_MS
    asked = f"Hi, {who} here. Can you tell me what I need to bring for the {what} in {where} on the {n % 27 + 1}th?"
    answer = f"Bring form {1000 + n} and {n % 90 + 10} euros; the office at gate {n % 40} is open until {n % 8 + 1} pm."
    for role, text, later in (("user", asked, 0), ("assistant", answer, 10_000)):
        yield Message(
            role=role, content=text, resource_id=_RESOURCE, thread_id=f"t-{n}", id=f"{n}-{role}", timestamp=at + later
        )


def as_lines(found: Sequence[SmallThreads]) -> Iterator[str]:
    """The report in Markdown."""
    yield from table(
        ["threads", "a day", "messages, tokens", "notes stored", "of messages", "sent", "of messages", "counted"],
        (
            [f"{row.threads:,}", f"{row.a_day:,}", f"{row.messages:,}", f"{row.notes:,}", f"{row.notes / row.messages:.0%}",
             f"{row.sent:,}", f"{row.sent / row.messages:.0%}", f"{row.counted:,}"]
            for row in found
        ),
    )  # fmt: skip
