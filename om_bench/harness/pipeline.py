"""The pipeline: everything a message goes through in production, in one process and without waiting."""

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Self

from om_api import ObservationalMemory, load_settings
from om_api.cli.embedded import Embedded
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.settings import Settings
from om_api.store.memory import due
from om_workers.calls.registry import Registry
from om_workers.tasks import wiring
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.observer import Observer
from om_workers.work.reflector import Reflector
from om_workers.work.scope_worker import ScopeWorker
from om_workers.work.sweep import Sweeper

# what the documents recommend, because what is measured here says so: docs/benchmarks.md
RECOMMENDED = ("buffer_tokens=0.3", "buffer_activation=0.9")
BY_THRESHOLDS = ("prompt_cache.timing=threshold",)  # as shipped, but for the prompt cache, which is not heeded
BY_PRICE = ("prompt_cache.timing=price",)
# where money counts most: docs/costs.md
THRIFTY = (
    *RECOMMENDED, "message_threshold=16000", "observation_threshold=10000", "reflection.buffer_activation=0.9",
    "prompt_cache.timing=price",
)  # fmt: skip
_CLAIMS = 100
_MOST = 10_000  # units of work that one message can cause: more of them would never end
_EXTRACTIVE = {
    "OM_OBSERVER_MODEL": "extractive",
    "OM_REFLECTOR_MODEL": "extractive",
    "OM_OBSERVE_IDLE_AFTER": "36500d",  # what was recorded long ago is not idle: it goes on right now
    "OM_PROMPT_CACHE__LIFETIME": "36500d",  # nor is its prompt cache cold
}


def environment(url: str, folder: str, changed: Sequence[str] = ()) -> dict[str, str]:
    """The variables by which processes use a store without a model; `folder` is an empty one, `changed` as of a pipeline."""
    return {
        **_EXTRACTIVE,
        **_as_environment(changed),
        "OM_REDIS_URL": url,
        "OM_PREFIX": "om-bench",
        "OM_CONFIG_DIR": folder,
    }


def _as_environment(settings: Sequence[str]) -> Mapping[str, str]:
    """Settings by their names in the environment: "reflection.drain=false" is OM_REFLECTION__DRAIN."""
    pairs = [tuple(word.strip() for word in setting.split("=", 1)) for setting in settings]
    if wrong := [setting for setting, pair in zip(settings, pairs, strict=True) if not all(pair) or len(pair) == 1]:
        raise InvalidInputError(f"{wrong[0]!r} is not NAME=VALUE: write it as in --set message_threshold=8000")
    return {f"OM_{name.upper().replace('.', '__')}": value for name, value in pairs}


class KeptTasks:
    """What workers pass on, kept here until somebody works; no more than the newest `most` of them."""

    def __init__(self, most: int | None = None) -> None:
        self.tasks: deque[tuple[str, tuple[str, ...]]] = deque(maxlen=most)

    def observe(self, scope: str, lease: str) -> None:
        """See TaskQueues."""
        self.tasks.append(("observe", (scope, lease)))

    def reflect(self, scope: str, lease: str) -> None:
        """See TaskQueues."""
        self.tasks.append(("reflect", (scope, lease)))

    def adopt(self, *keys: str) -> None:
        """See TaskQueues."""
        self.tasks += (("adopt", (key,)) for key in keys)

    def ticks(self, _name: str, _n: int) -> None:
        """See TaskQueues."""

    def try_models(self, _n: int) -> None:
        """Nobody asks for any."""

    def waiting(self, _queue: str) -> int:
        """See TaskQueues."""
        return 0

    def held(self, _queue: str) -> list[str]:
        """See TaskQueues."""
        return []


class Pipeline:
    """A client and the workers behind it. `push` returns when all that is due by its message has been done.

    `cold` are the same settings with a prompt cache that lives no longer than a second.
    """

    def __init__(self, settings: Settings, registry: Registry | None = None, cold: Settings | None = None) -> None:
        self._cold = cold or settings
        self.om = ObservationalMemory(settings)
        self.message_threshold = settings.for_agent("bench").message_threshold  # no agent has settings of its own here
        self._queue = KeptTasks()
        self.services = wiring.build(settings, self._queue, registry=registry)
        self._dispatcher = Dispatcher(self.services)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.services.heartbeat.stop()
        self.om.close()

    def push(self, *messages: Message) -> None:
        """Add messages, and do all the work that this makes due."""
        self.om.add_messages(messages)
        self.work()

    def end_session(self, thread: str, resource: str) -> None:
        """Have done what an idle hour brings: what is still raw in a thread is observed, and that is activated."""
        self.om.force_observe(thread, resource)
        self.work()

    def cool(self, resource: str) -> None:
        """Have done what comes of a pause in which the prompt cache of a resource's agent went cold."""
        ScopeWorker(self.services._replace(settings=self._cold)).observe(resource)
        ScopeWorker(self.services).observe(resource)  # and it is warm again: what clients go by is what was noted last
        self.work()

    def work(self) -> None:
        """Do whatever is due."""
        for _ in range(_MOST):
            if not self.tick():
                break

    def tick(self) -> bool:
        """Hand out and do what is due once; whether there was anything."""
        run, keys = self.services.run, self.services.keys
        for index, send in ((keys.due_observe, self._queue.observe), (keys.due_reflect, self._queue.reflect)):
            for number in run(due.busy_parts(index)):
                for claim in run(due.claim(index.parts()[number], _CLAIMS)):
                    send(claim.scope, claim.lease)
        worked = bool(self._queue.tasks)
        while self._queue.tasks:
            self._do(*self._queue.tasks.popleft())
        return worked

    def _do(self, verb: str, ids: tuple[str, ...]) -> None:
        if verb == "adopt":
            Sweeper(self.services).adopt(*ids)
        elif self._dispatcher.begin(verb, *ids):
            self._look(verb, ids[0])

    def _look(self, verb: str, scope: str) -> None:
        if verb == "reflect":
            Reflector(self.services).reflect(scope)
        elif (looked := ScopeWorker(self.services).observe(scope, until=math.inf)).chunks:
            Observer(self.services).observe_chunks(scope, *looked.chunks)


@contextmanager
def pipeline(
    url: str | None, changed: Sequence[str] = (), registry: Callable[[Settings], Registry] = Registry
) -> Iterator[Pipeline]:
    """A pipeline without a model, on a store of its own or on that of `url`, whose keys `om-bench:…` it uses.

    `changed` are settings ("name=value"), `registry` makes who knows the models. Raises StoreError, SettingsError, and
    InvalidInputError for what is not name=value.
    """
    if url is None:
        with Embedded() as store, pipeline(store.url, changed, registry) as made:
            yield made
        return
    with TemporaryDirectory(prefix="om-bench-") as empty:
        variables = environment(url, empty, changed)
        settings = load_settings(environ=variables)
        cold = load_settings(environ={**variables, "OM_PROMPT_CACHE__LIFETIME": "1s"})
        with Pipeline(settings, registry(settings), cold) as made:
            yield made
