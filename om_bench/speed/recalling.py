"""Recall: what looking words up takes by the length of the past, in a context too, and what the index of a message takes."""

import random
import time
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import accumulate
from statistics import median

from om_api import Message, ObservationalMemory
from om_api.domain.tokens import counter
from om_api.domain.values import Observation, Scope, new_id
from om_api.language.words import FUNCTION_WORDS
from om_api.recall.segment import Findable, encode
from om_api.settings import MemorySettings, recorded_settings
from om_api.settings.memory_settings import RecallSettings
from om_api.store.driver.connection import Connection
from om_api.store.driver.replies import as_pairs
from om_api.store.index.indexing import findable
from om_api.store.memory import activate, chunks, scope_state, seal
from om_api.store.memory.keys import Keys
from om_bench.speed.stand import Figure, Stand, timed, us

_LENGTH = 400  # characters of a message
_CHUNK = 60  # messages
_CHUNK_TOKENS = 6_000
_WORDS = 12_000  # of the language that is talked
_LONG, _LONGEST = 10_000, 100_000
_ROUNDS, _CLIENTS = 60, 9
_TTL_S = 3_600
_THREADS = 8
_STEP_MS = 60_000
_RAW = 40  # messages that are not sealed yet
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


class Language:
    """A language as common as ours: the n-th of its words is said one n-th as often as the first (Zipf).

    The first ones are the little words of English, as in any text: half of what is said, and nothing that is asked for.
    """

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        five = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)  # letters, as in a usual word
        shapes = ("".join(map(self._dice.choice, five)) for _ in range(2 * _WORDS))
        self._little = sorted(FUNCTION_WORDS)
        self.words = [*self._little, *dict.fromkeys(shapes)][:_WORDS]
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self.words) + 1)))

    def text(self, length: int) -> str:
        """Something said, of so many characters."""
        said = self._dice.choices(self.words, cum_weights=self._weights, k=length // 3)
        return " ".join(said)[:length]

    def question(self) -> str:
        """Eight words that carry something, as often said as they are."""
        first, weights = len(self._little), self._weights
        points = (self._dice.uniform(weights[first], weights[-1]) for _ in range(8))
        return " ".join(self.words[min(bisect(weights, point), len(weights) - 1)] for point in points)


class LongMemory:
    """A resource with so many messages behind observations, chunk by chunk, and some raw ones in the thread that goes on."""

    def __init__(self, stand: Stand, resource: str, messages: int) -> None:
        self.resource, self.om, self.thread = resource, stand.om, "thread-0"
        self.language = Language(7)
        self._bare, self._run = stand.bare, Connection(stand.bare).run
        self._keys, self._scope = Keys(stand.om.settings.prefix), Scope(resource)
        self._now = int(time.time() * 1000) - messages * _STEP_MS
        for n in range(messages // _CHUNK):
            self._observe(f"chunk-{n:05}", f"thread-{n % _THREADS}")
        self.om.add_messages([self._message(self.thread) for _ in range(_RAW)])

    def say(self) -> None:
        """The user says something more."""
        self.om.add_message(self._message(self.thread, self.language.question()))

    def limits(self, *, auto: bool) -> None:
        """Put the default settings in force, with what is looked up by itself or without."""
        settings = MemorySettings(recall=RecallSettings(auto=auto))
        said = recorded_settings.write(recorded_settings.of(settings))
        self._bare.hset(self._keys.of(self.resource).record(self._scope), "limits", said)

    def _message(self, thread: str, text: str = "") -> Message:
        self._now += _STEP_MS
        said = text or self.language.text(_LENGTH)
        role = "user" if text or self._now // _STEP_MS % 2 else "assistant"
        return Message(
            id=new_id(),
            role=role,
            content=said,
            tokens=100,
            timestamp=self._now,
            thread_id=thread,
            resource_id=self.resource,
        )

    def _observe(self, chunk: str, thread: str) -> None:
        keys, scope = self._keys, self._scope
        key = keys.of(self.resource).messages(thread)
        self.om.add_messages([self._message(thread) for _ in range(_CHUNK)])
        pairs = self._run(as_pairs("ZRANGE", key, 0, -1, "WITHSCORES"))
        epoch = self._run(scope_state.look(keys, scope)).record.epoch
        self._run(seal.seal(keys, scope, epoch, thread, [member for member, _ in pairs], 100 * _CHUNK, chunk))
        words = encode(thread, findable(pairs, thread, self.resource))
        self._run(
            chunks.buffer(keys, self.resource, Observation(id=chunk, thread_id=thread, text="* noted"), chunk, words)
        )
        look = self._run(scope_state.look(keys, scope))
        self._run(activate.activate(keys, scope, look.record.epoch, look.chunks, [chunk], _TTL_S, count=lambda _: 0))


def recall(stand: Stand) -> Iterator[Figure]:
    """Questions of eight words, each after a message that came; a cold reader is a client's first question."""
    yield _size(stand)
    yield _made()
    for size, reach in ((_LONG, 5.0), (_LONGEST, 40.0)):
        memory = LongMemory(stand, f"recall-{size}", size)
        if size == _LONG:
            yield _ms(f"recall, a client's first, {size:,} messages, p50", _cold(stand, memory), 30)
        yield _ms(f"recall, warm, {size:,} messages, p50", _warm(memory), reach)
        if size == _LONG:
            yield from _contexts(memory)


def _figure(work: str, value: float, reach: float, unit: str) -> Figure:
    return Figure(work=work, ours=f"{value:.1f} {unit}", reference="-", value=value, reach=reach, unit=unit)


def _ms(work: str, durations: Sequence[float], reach: float) -> Figure:
    return _figure(work, 1_000 * median(durations), reach, "ms")


def _size(stand: Stand) -> Figure:
    """The key of a segment of messages of 400 characters, a message; their words are those of our own prompts."""
    folder = files("om_workers.prompts")
    text = " ".join(
        path.read_text("utf-8") for part in sorted(folder.iterdir(), key=str) if part.is_dir() for path in _pages(part)
    )
    said = " ".join(text.split())
    texts = [said[start : start + _LENGTH] for start in range(0, len(said) - _LENGTH, _LENGTH)][:_CHUNK]
    key = Keys(stand.om.settings.prefix).of("recall-size").segment(new_id())
    stand.bare.set(
        key, encode("thread-0", [Findable(new_id(), "user", n * _STEP_MS, each) for n, each in enumerate(texts)])
    )
    taken = stand.bare.memory_usage(key, samples=0) or 0
    return _figure("segment of a message of 400 characters", taken / len(texts), 120, "bytes")


def _pages(folder: Traversable) -> list[Traversable]:
    return sorted((page for page in folder.iterdir() if page.name.endswith(".md")), key=str)


def _made() -> Figure:
    """The segment of a chunk of 6,000 tokens, when the words of its language were met before."""
    language, count = Language(3), counter()
    encode("t", [Findable(word, "user", 0, word) for word in language.words])
    durations = []
    for n in range(_ROUNDS):
        texts: list[str] = []
        while sum(map(count, texts)) < _CHUNK_TOKENS:
            texts.append(language.text(_LENGTH))
        some = [Findable(f"m-{n}-{place}", "user", place, text) for place, text in enumerate(texts)]
        durations.append(timed(partial(encode, "t", some)))
    return _ms("a segment of 6,000 tokens", durations[_ROUNDS // 2 :], 3)


def _warm(memory: LongMemory) -> list[float]:
    durations = []
    for _ in range(_ROUNDS):
        memory.say()
        durations.append(timed(partial(memory.om.recall, memory.language.question(), memory.resource)))
    return durations[10:]


def _cold(stand: Stand, memory: LongMemory) -> list[float]:
    durations = []
    for _ in range(_CLIENTS):
        with ObservationalMemory(stand.om.settings, tally=False) as om:
            om.ping()
            durations.append(timed(partial(om.recall, memory.language.question(), memory.resource)))
    return durations


def _contexts(memory: LongMemory) -> Iterator[Figure]:
    """A context with what is looked up beside one without, after a question came: what it adds, and the ratio."""
    ours, without = list[float](), list[float]()
    for _ in range(_ROUNDS):
        memory.say()
        for auto, durations in ((False, without), (True, ours)):
            memory.limits(auto=auto)
            memory.om.get_context(memory.thread, memory.resource)
            memory.say()
            durations.append(timed(partial(memory.om.get_context, memory.thread, memory.resource)))
    added = 1_000 * (median(ours) - median(without))
    yield _figure(f"what recall adds to a warm context, {_LONG:,} messages", added, 3, "ms")
    beside = f"{us(median(without))}: without"
    ratio = median(ours) / median(without)
    yield Figure(
        work="a warm context with automatic recall", ours=us(median(ours)), reference=beside, value=ratio, reach=2
    )
