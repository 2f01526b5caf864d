"""How fast messages may come to a resource: its own limits, and those of whoever pushes."""

from typing import NamedTuple

from om_api.domain.errors import InvalidInputError

MOST = 1_000_000_000  # of either, a second
AT_ONCE_S = 1.0  # of what is permitted, so much may come at once
THE_REST_S = 1e9  # and any amount of a call whose first messages were taken


class PushLimits(NamedTuple):
    """So many messages, and so many bytes of their JSON, a second; 0: as many as they like."""

    messages: float = 0
    bytes: float = 0

    def checked(self) -> "PushLimits":
        """These; raises InvalidInputError for what is no limit."""
        if not all(0 <= each <= MOST for each in self):
            raise InvalidInputError(f"a limit of pushes is a number a second from 0 (none) to {MOST:,}")
        return self


class Pusher(NamedTuple):
    """Who pushes, as the id of an API key, and how fast it may push to any one resource; without an id nobody is counted."""

    id: str = ""
    limits: PushLimits = PushLimits()


ANYBODY = Pusher()


class PushPace(NamedTuple):
    """What a push must keep to: the resource's limits, its pusher's, and how far (s) it may be ahead of them."""

    own: PushLimits = PushLimits()
    pusher: Pusher = ANYBODY
    ahead_s: float = AT_ONCE_S

    def words(self) -> str:
        """As the store's script takes it; "" where nothing is limited."""
        limits = (*self.own, *self.pusher.limits)
        return " ".join(f"{each:.15g}" for each in (self.ahead_s, *limits)) if any(limits) else ""

    def refusal(self, which: int, resource: str) -> str:
        """What to say of the limit that is reached: the number of one of those in `words`, from 1 on."""
        limit = (*self.own, *self.pusher.limits)[which - 1]
        what = f"{limit:,g} {PushLimits._fields[(which - 1) % 2]} a second"
        if which > len(self.own):
            return f"this key may push {what} to {resource}, and has pushed more"
        return f"{resource} takes {what} (push_limits), and more was pushed"


UNLIMITED = PushPace()
