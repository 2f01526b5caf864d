"""What the client can be asked, as steps, by concern: the one logic behind the blocking and the asyncio face."""

from __future__ import annotations

from collections.abc import Callable

from om_api.client.contexts import Contexts
from om_api.client.forcing import Forcing
from om_api.client.owning import Owner
from om_api.client.reading import MemoryReader, Scopes
from om_api.client.reporting import Reporter
from om_api.client.watching import Watcher
from om_api.client.writing import Writer
from om_api.settings import Settings
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock


class Core:
    """Asks the store, decides by the pure rooms, and never waits for a model: a part for each concern of whoever asks."""

    def __init__(
        self,
        settings: Settings,
        count: Callable[[str], int],
        *,
        cluster: bool = False,
        fails_open: bool = False,
        tally: bool = True,
        patience_s: float = 1.0,
    ) -> None:
        self.keys = keys = Keys(settings.prefix)
        self.clock = clock = ServerClock()
        self.reporter = reporter = Reporter(keys, clock, tally=tally)
        scopes = Scopes(settings, keys)
        self.writing = Writer(settings, keys, clock, count, reporter, cluster=cluster)
        self.contexts = Contexts(settings, keys, count, reporter, fails_open=fails_open)
        self.reading = MemoryReader(keys, scopes)
        self.forcing = Forcing(keys, scopes)
        self.owning = Owner(settings, keys, scopes, count, reporter)
        self.watching = Watcher(settings, keys, scopes, patience_s=patience_s)
