"""How many connections are open, by address; counted before anybody is known."""

from collections import Counter
from ipaddress import IPv6Address, ip_address

import structlog

from om_api.settings.sections.api_settings import ApiSettings

_log = structlog.get_logger("om_api.http")
_NETWORK_BITS = 64  # of an IPv6 address: whoever has one has all of its network


class Connections:
    """The open connections of one process. `refused` counts what was turned away, by reason, since it was last told."""

    def __init__(self, limits: ApiSettings) -> None:
        self.limits = limits
        self.refused: Counter[str] = Counter()
        self._open: Counter[str] = Counter()

    def enter(self, client: tuple[str, int] | None) -> str | None:
        """Count one more and return what it counts for, to be given to `leave`; None where that is too many."""
        place = _network(client[0]) if client else ""
        most = self.limits.connections_per_address if client else None
        if self._open.total() >= self.limits.connections or (most is not None and self._open[place] >= most):
            return None
        self._open[place] += 1
        return place

    def leave(self, place: str) -> None:
        """Count one less."""
        self._open[place] -= 1
        if not self._open[place]:
            del self._open[place]

    def tell(self) -> None:
        """Log what was turned away, in one line however much it was."""
        if self.refused:
            _log.warning("connections_refused", **{reason.replace(" ", "_"): n for reason, n in self.refused.items()})
            self.refused.clear()


def _network(host: str) -> str:
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    return str(address.ipv4_mapped or int(address) >> (128 - _NETWORK_BITS))
