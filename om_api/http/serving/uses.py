"""Which keys were used: noted in this process, and sent once a minute, so that no request waits for it."""


class Uses:
    """The ids of the keys that were used since they were last sent; a process that is killed loses a minute of them."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def note(self, *ids: str) -> None:
        """Note uses of keys."""
        self._ids.update(ids)

    def since(self) -> list[str]:
        """The keys used since the last call, by name."""
        ids, self._ids = sorted(self._ids), set()
        return ids
