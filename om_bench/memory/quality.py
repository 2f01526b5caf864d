"""Quality: what a memory keeps of a talk that is told message by message, and what of its contexts a cache serves."""

from collections.abc import Callable, Sequence

import msgspec

from om_api.context import Context
from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_bench.harness.pipeline import Pipeline, pipeline
from om_bench.harness.talks import Talk
from om_bench.memory.baselines import shown
from om_bench.memory.days import spelled_out
from om_bench.memory.support import Support
from om_bench.memory.tally import Tally


class CacheReplay:
    """Contexts in the order they were read, each beside the one read before it in its thread.

    `share` is how much of each context's bytes the next one begins with, over all of them: what a prompt cache holds that
    is of use again. `phi` is what had to be read afresh for each token that was appended: 1.0 is a history that only grows.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._last: dict[str, bytes] = {}
        self._same = self._all = self._fresh = self._appended = 0

    def read(self, text: str, appended: int, thread: str = "") -> None:
        """Take in a thread's next context, which `appended` tokens of messages came before."""
        now = text.encode()
        if before := self._last.get(thread):
            same = _common(before, now)
            self._same += same
            self._all += len(before)
            self._fresh += self._count(now[same:].decode(errors="ignore"))
            self._appended += appended
        self._last[thread] = now

    @property
    def share(self) -> float:
        """The bytes that were read again from the beginning on, of all that could have been; 1.0 before the second."""
        return self._same / self._all if self._all else 1.0

    @property
    def phi(self) -> float:
        """Tokens read afresh for each one appended; 0.0 before the second context."""
        return self._fresh / self._appended if self._appended else 0.0


def _common(before: bytes, now: bytes) -> int:
    """How many bytes two texts have in common from the beginning on, found by halves."""
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if before[:middle] == now[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Online(msgspec.Struct):
    """What came of talks that were pushed message by message: S of the last context, and what reading each one took.

    `whole_phi` counts the volatile block too, which comes last and anew in every context and tells how long ago things
    were; the other figures do not, so that they are the same on any day. `settings` differ from the defaults.
    """

    settings: tuple[str, ...]
    supported: Tally
    tokens: Tally
    dates: Tally
    prefix_share: list[float]
    phi: list[float]
    whole_phi: list[float]
    window_phi: list[float]
    history_phi: list[float]
    compression: list[float]


def online(talks: Sequence[Talk], count: Count, settings: Sequence[str], url: str | None = None) -> Online:
    """Push talks one after the other, each into an empty memory, and read a context after every message.

    `settings` are "name=value"; the sliding window that is compared has as many tokens as the message threshold. On a
    store of its own, or on that of `url`. Raises SettingsError and StoreError.
    """
    found = Online(tuple(settings), Tally(), Tally(), Tally(), [], [], [], [], [], [])
    with pipeline(url, settings) as running:
        for talk in talks:
            _replayed(talk, running, count, found)
    return found


def _replayed(talk: Talk, running: Pipeline, count: Count, found: Online) -> None:
    ours, whole, sliding, history = (CacheReplay(count) for _ in range(4))
    texts: list[str] = []
    resource = talk.messages[0].resource_id
    window = running.message_threshold
    for message in talk.messages:
        running.push(message)
        texts.append(written(message))
        context, appended = running.om.get_context(message.thread_id, resource), count(texts[-1])
        ours.read(steady(context), appended, message.thread_id)
        whole.read(context.text, appended, message.thread_id)
        history.read("\n".join(texts), appended)
        sliding.read(_sliding(texts, window, count), appended)
    _note(talk, steady(context), running, count, found)
    found.prefix_share.append(round(ours.share, 4))
    found.phi.append(round(ours.phi, 3))
    found.whole_phi.append(round(whole.phi, 3))
    found.window_phi.append(round(sliding.phi, 3))
    found.history_phi.append(round(history.phi, 3))
    running.om.clear(resource)


def steady(context: Context) -> str:
    """A context without its volatile block: what is worth caching."""
    return "\n".join(block.text for block in context.blocks if block.kind != "volatile")


def _note(talk: Talk, text: str, running: Pipeline, count: Count, found: Online) -> None:
    support = Support(talk)
    found.supported.add(len(support.supported(text)), len(talk.questions))
    found.tokens.add(count(text), count(shown(talk.messages)))
    found.dates.add(*spelled_out(talk, text))
    observations = running.om.observations(talk.messages[0].resource_id)
    noted = sum(each.tokens for each in observations)
    found.compression.append(round(sum(each.message_tokens for each in observations) / max(1, noted), 1))


def written(message: Message) -> str:
    """All that a model is billed for of a message: calls and results of tools too."""
    return message.content if isinstance(message.content, str) else msgspec.json.encode(message.content).decode()


def _sliding(texts: Sequence[str], window: int, count: Count) -> str:
    """The newest texts that fit into a window."""
    first, used = len(texts), 0
    while first and used + count(texts[first - 1]) <= window:
        first -= 1
        used += count(texts[first])
    return "\n".join(texts[first:])
