"""What is found after a run with an archive: each message once, by its own words and in exports; what was erased nowhere."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import redis
from world import contents

from chaos.archives import RunArchive
from chaos.house import PREFIX
from chaos.journal import Journal
from chaos.past import Past
from chaos.plan import ERASABLE
from chaos.report import ArchiveSeen
from chaos.words import MARK
from om_api import ObservationalMemory

_RECALLED = 300  # messages that are looked for one by one
_RAISED = re.compile(r"Task om\.archive\[\S+ raised .*|archive_failed.*(?:Traceback|InvalidInput).*")


def wrong(om: ObservationalMemory, journal: Journal, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is not exactly once in the exports of all, and what is not found once by its own words, of some messages."""
    exported = Counter[str]()
    for name in names:
        for line in b"".join(om.export_memory(name)).splitlines():
            exported.update(_marks(json.loads(line)))
    there = [said for said in journal.said.values() if said.resource in names and said.name not in journal.erased]
    for said in there:
        least = bool(said.acknowledged_at) and not journal.cleared(said)
        if not least <= exported[said.name] <= 1:
            yield said.name, f"exported {exported[said.name]} times"
    sure = sorted((said.name, said.resource) for said in there if said.acknowledged_at and not journal.cleared(said))
    for name, resource in random.Random(1).sample(sure, min(_RECALLED, len(sure))):
        found = om.recall(f'"{name}"', resource, limit=50)
        times = sum(f"[[{name}]]" in hit.text for hit in found.hits if hit.kind == "message")
        if times != 1 or found.partial:
            yield name, f"recalled {times} times {found.partial}"
    for name in ERASABLE:
        marks = set(MARK.findall(b"".join(om.export_memory(name.name)).decode()))
        yield from ((each, "erased, and exported") for each in marks & journal.erased)


def _marks(line: dict[str, object]) -> list[str]:
    """Of a line with a message."""
    message = line.get("message")
    return MARK.findall(json.loads(message)["content"])[:1] if isinstance(message, str) else []


def kept(client: redis.Redis, archive: RunArchive, journal: Journal) -> Iterator[tuple[str, str]]:
    """What was erased and stands in any key, or any row."""
    for pattern in (f"{PREFIX}:{{erased-*", f"{PREFIX}:[^{{]*"):
        for key, held in contents(client, pattern).items():
            yield from ((name, f"erased, and in {key!r}") for name in set(MARK.findall(repr(held))) & journal.erased)
    for resource, row, revision, body in archive.rows():
        for name in set(MARK.findall(body)) & journal.erased:
            yield name, f"erased, and in the row {row} of {resource}, revision {revision}"


def raised(folder: Path) -> list[str]:
    """What rounds of archiving raised in any worker: they are to tell what is wrong, and go on."""
    return [
        found[0][:300] for log in sorted(folder.glob("worker-*.log")) for found in _RAISED.finditer(log.read_text())
    ]


def seen(archive: RunArchive, past: Past, struck: int, erased: int) -> ArchiveSeen:
    """What is in it, and what was seen of it meanwhile."""
    messages = archive.query("SELECT sum(size) FROM om_entries WHERE kind = 'messages'")[0][0]
    return ArchiveSeen(archive.count(), int(messages or 0), erased, past.recalled, past.partial, past.named, struck)
