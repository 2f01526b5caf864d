"""Memories of talks: made by the real pipeline as their sittings end, and read as of the day of a question."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import yaml

from om_api import load_settings
from om_api.billing.costs import Costs
from om_api.client.composing import Composer
from om_api.client.contexts import NOTHING_COMPOSED, Contexts
from om_api.client.reading import Scopes
from om_api.client.recalling import Recalling
from om_api.client.remembered.known_aliases import KnownAliases
from om_api.client.reporting import Reporter
from om_api.context import Context
from om_api.domain.errors import ModelError, StoreError
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_bench.harness.pipeline import Pipeline, environment
from om_bench.harness.talks import RESOURCE, Talk, TalkQuestion, turn
from om_bench.judged.journal import SpentTokens
from om_bench.judged.patience import patiently
from om_workers.calls.registry import Registry

IDLE_MS = 3_600_000  # what `observe_idle_after` is by default: then a sitting has ended
_ASKING = "asking"  # a thread of its own, in which nothing was said yet


class JudgedGround(NamedTuple):
    """What memories of a run have in common: a store, the settings of the pipeline, and models as somebody has named them."""

    url: str
    changed: tuple[str, ...]
    models: Settings
    registry: Registry


@contextmanager
def standing(ground: JudgedGround, place: str) -> Iterator[Pipeline]:
    """A pipeline whose keys nobody else's of this run share.

    What its resource held before is gone, and what it holds in the end too. Raises StoreError and SettingsError.
    """
    with configured(ground, place) as settings, Pipeline(settings, ground.registry) as running:
        running.om.clear(RESOURCE)
        try:
            yield running
        finally:
            with suppress(StoreError):
                running.om.clear(RESOURCE)


@contextmanager
def configured(ground: JudgedGround, place: str) -> Iterator[Settings]:
    """The settings of a pipeline: of the configuration they know the models, and nothing else. Raises SettingsError."""
    with TemporaryDirectory(prefix="om-bench-") as folder:
        _write_models(Path(folder), ground.models)
        own = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
        named = {"OM_CONFIG_DIR": folder, "OM_PREFIX": f"om-bench:{place}"}
        yield load_settings(environ=own | environment(ground.url, folder, ground.changed) | named)


def _write_models(folder: Path, settings: Settings) -> None:
    models = {name: model.model_dump(mode="json", exclude_defaults=True) for name, model in settings.models.items()}
    (folder / "observational-memory.yaml").write_text(yaml.safe_dump({"models": models}), encoding="utf-8")


def fill(running: Pipeline, talk: Talk, kept: Path | None = None) -> SpentTokens:
    """Make a talk's memory: of the file `kept` where it is there, else of its messages; what its models cost.

    Where a model took the notes they are kept in that file, for it would not take the same ones again. Raises ModelError when
    a model does not answer for minutes; StoreError.
    """
    if kept and kept.exists():
        running.om.import_memory([kept.read_bytes()], RESOURCE)
        return SpentTokens()
    before = running.om.costs(days=2)
    for sitting in sittings(talk.messages):
        _push(running, sitting)
    spent = _spent(before, running.om.costs(days=2))
    if kept and spent.calls:
        _write(kept, b"".join(running.om.export_memory(RESOURCE)))
    return spent


def _push(running: Pipeline, sitting: Sequence[Message]) -> None:
    running.om.add_messages(sitting)
    patiently(lambda: _work(running))
    running.om.force_observe(sitting[-1].thread_id, RESOURCE)
    patiently(lambda: _work(running))


def _work(running: Pipeline) -> None:
    """Do what is due; ModelError where something is left that no model has read.

    What an observer says that cannot be used is asked for again, and settled, as a worker does: each time burns an attempt.
    """
    while True:
        try:
            running.work()
            break
        except ModelError as error:
            if error.retryable or error.why != "unusable":
                raise
    if any(not chunk.ready for chunk in running.om.chunks(RESOURCE)):
        raise ModelError(
            f"the observer left messages unread, {running.om.held(RESOURCE) or 'and is asked again'}", why="other"
        )


def sittings(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """The messages of each sitting: of one thread, none of them an idle time after the one before."""
    sitting = list(messages[:1])
    for before, message in pairwise(messages):
        if message.thread_id != before.thread_id or message.at - before.at >= IDLE_MS:
            yield sitting
            sitting = []
        sitting.append(message)
    if sitting:
        yield sitting


def _write(file: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_suffix(".half")
    half.write_bytes(data)
    half.replace(file)


def _spent(before: Costs, after: Costs) -> SpentTokens:
    def of(costs: Costs) -> SpentTokens:
        tokens = [sum(getattr(line, name) for line in costs.lines) for name in ("input", "output")]
        return SpentTokens(costs.calls, tokens[0], tokens[1], costs.cost, costs.unpriced)

    was, is_ = of(before), of(after)
    return is_ + SpentTokens(-was.calls, -was.input, -was.output, -was.dollars, -was.unpriced)


class AskedContexts(Contexts):
    """Contexts of a thread that was just begun with a question; the question is never written, so no other one sees it."""

    _question: Message

    def __init__(self, running: Pipeline) -> None:
        services = running.services
        settings, keys, count = services.settings, services.keys, services.count
        reporter = Reporter(keys, services.clock, tally=False)
        recalling = Recalling(settings, keys, Scopes(settings, keys), count)
        composer, aliases = Composer(settings, keys), KnownAliases()
        super().__init__(settings, keys, count, reporter, recalling, composer, fails_open=False, aliases=aliases)
        self._run, self._lock = services.run, threading.Lock()

    def asked(self, question: TalkQuestion, at: int) -> Context:
        """What an agent reads who is asked a question at some time, in Unix ms."""
        with self._lock:  # one question at a time is in view
            self._question = turn("question", "user", question.text, at, _ASKING)
            return self._run(self.of(RESOURCE, _ASKING, None, NOTHING_COMPOSED))

    def _snapshot(self, *asked: object) -> Steps[Snapshot]:
        found = yield from super()._snapshot(*asked)  # type: ignore[arg-type]  # whatever it is asked with, it is passed on
        return msgspec.structs.replace(found, messages=[self._question], now=self._question.at)


def asked_at(question: TalkQuestion, talk: Talk) -> int:
    """When a question is asked: when its publisher says, else a day after the last message."""
    return question.asked_at or talk.messages[-1].at + 24 * IDLE_MS
