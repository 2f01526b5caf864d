"""A house of real processes: a server, a model server, workers and beats, on settings of its own."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import redis
from model_server import Behaviour, ModelServer, seeded_plan
from processes import inherited

from chaos.archives import ARCHIVES, Both
from chaos.crew import Crew, celery
from chaos.plan import THINKS_S, Run
from chaos.server import AofServer
from om_api import ObservationalMemory, load_settings
from om_api.settings import Settings

PREFIX = "chaos:om"
_WEIGHTS = {
    Behaviour.answer: 93,
    Behaviour.stall: 1,
    Behaviour.error_500: 1.5,
    Behaviour.error_429: 1,
    Behaviour.garbage: 1,
    Behaviour.refusal: 0.5,
    Behaviour.empty: 1,
    Behaviour.drop: 1,
}
_YAML = """
observational_memory:
  tokenizer: estimate
  message_threshold: {run.message_threshold}
  observation_threshold: {run.observation_threshold}
  context_max_tokens: null  # a reader looks for every message, however long nothing was observed
  durability: {{wait_replicas: {run.wait_replicas}, wait_timeout: 0.5s}}
  observe_idle_after: 30d  # a server whose clock leaps by hours calls every memory idle, and nothing compares with that
  observer_interval: {run.tick}s
  reflector_interval: 1s
  observer_model: local
  reflector_model: local
  observer: {{timeout: 2s}}
  reflection: {{timeout: 3s}}
models:
"""
_MODEL = '  {name}: {{provider: openai, base_url: "{url}"}}\n'
_SOLO = "observational_memory: {scope: thread}\n"


class House:
    """Everything a run needs, started on entry and stopped by its ids on every way out.

    `commands` are its processes, else three workers and two beats; `place` makes its servers, else one. `models` are the URLs of
    more models by their names, `agents` what is set for more agents than `solo-*`.
    """

    def __init__(
        self,
        folder: Path,
        run: Run,
        commands: Mapping[str, Sequence[str]] | None = None,
        place: Callable[[Path, Run], Any] | None = None,
        models: Mapping[str, str] = {},
        agents: Mapping[str, str] = {},
    ) -> None:
        self.folder, self._run, self._commands = folder, run, commands or celery()
        self._place = place or (lambda folder, run: AofServer(folder, run.fsync, run.leap_s))
        self._more, self._agents = models, {"solo-*": _SOLO, **agents}
        self._planned, self.well = seeded_plan(run.seed, _WEIGHTS), False
        self._held = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as held:
            kind = self._run.archive
            self.models = held.enter_context(ModelServer(self._behave, delay=THINKS_S))
            self.server = held.enter_context(self._place(self.folder / "server", self._run))
            self.archive = held.enter_context(ARCHIVES[kind](self.folder)) if kind else None
            self._configure()
            environ = {**inherited(), **self._ours(), "OM_BROKER_URL": self.server.broker_url}
            self.crew = held.enter_context(Crew(self.folder, environ, self._commands))
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _configure(self) -> None:
        for name, text in self._agents.items():
            agent = self.folder / "config" / "agents" / name
            agent.mkdir(parents=True)
            (agent / "memory.yaml").write_text(text)
        models = {"local": self.models.url, **self._more}
        text = _YAML.format(run=self._run) + "".join(_MODEL.format(name=name, url=url) for name, url in models.items())
        (self.folder / "config" / "observational-memory.yaml").write_text(text)

    def _ours(self) -> dict[str, str]:
        return {
            "OM_CONFIG_DIR": str(self.folder / "config"),
            "OM_REDIS_URL": self.server.redis_url,
            "OM_PREFIX": PREFIX,
            **({"OM_ARCHIVE__URL": self.archive.url, "OM_ARCHIVE__AFTER": "0s"} if self.archive else {}),
        }

    def settings(self) -> Settings:
        """What a client of the house is told."""
        return load_settings(environ=self._ours())

    def outside(self, timeout: float) -> redis.Redis:
        """A plain client, closed with the house."""
        client = self.server.client(timeout=timeout)
        self._held.callback(client.close)
        return client

    def whole(self, client: Any, resource: str = "*") -> Any:
        """What a client of Redis reads, with what was archived in its place.

        Of one resource, while everything goes on: LookupError where the archive lacks some of it, for that may come back.
        """
        if self.archive is None:
            return client
        both = Both(client, PREFIX, self.archive.rows(), resource)
        if both.lacks and resource != "*":
            raise LookupError(f"the archive lacks {both.lacks[0]}, {len(both.lacks)} in all")
        return both

    def client(self, timeout: float) -> ObservationalMemory:
        """A client of the library, closed with the house."""
        om = ObservationalMemory(self.settings(), timeout=timeout)
        self._held.callback(om.close)
        return om

    def _behave(self, n: int, purpose: str) -> Behaviour:
        """How the model behaves at a call: by the seed, also when faults are over; well once `well` is set.

        It never refuses to reflect: what it says then would be taken for the memory, which no script can tell.
        """
        behaviour = self._planned(n, purpose)
        refuses = purpose == "reflect" and behaviour is Behaviour.refusal
        return Behaviour.answer if self.well or refuses else behaviour
