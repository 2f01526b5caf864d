"""The aliases that a client has met: what each stood for when the store said so last, which only saves round trips."""

from collections.abc import Iterable
from copy import copy

from om_api.domain.caching import LRU
from om_api.domain.wire import EncodedMessage

MOST = 4_096


class KnownAliases:
    """What names of conversations stand for, as far as this client was told; the store decides, and corrects it."""

    def __init__(self) -> None:
        self._threads: LRU[tuple[str, str], str] = LRU(MOST)

    def thread(self, resource: str, name: str) -> str:
        """The thread that a name stands for; itself, as far as anybody told."""
        return self._threads.get((resource, name), name)

    def learn(self, resource: str, name: str, thread: str) -> None:
        """Remember what the store said of a name: the thread, or "" or itself where it is no alias."""
        if thread in {"", name}:
            self._threads.pop((resource, name))
        else:
            self._threads.put((resource, name), thread)

    def placed(self, resource: str, messages: Iterable[EncodedMessage]) -> tuple[list[EncodedMessage], dict[str, str]]:
        """Messages under the threads that they are of, and the aliases among the names that they came by."""
        placed, through = list[EncodedMessage](), dict[str, str]()
        for each in messages:
            name = each.message.thread_id
            thread = self.thread(resource, name)
            if thread != name:
                through[name] = thread
                moved = copy(each.message)
                moved.thread_id = thread
                placed.append(each._replace(message=moved))
            else:
                placed.append(each)
        return placed, through
