"""The model of the game: what it says can be traced, when it says it is the dice's."""

import random

import msgspec

from fuzz.activity import current
from om_api.domain.errors import ModelError
from om_workers.llm.base import Reply, Request
from om_workers.llm.scripted import Scripted

_FORGETFUL = 0.6


class Moody:
    """Repeats what it is given, after others had their turn; fails now and then, and always on poison."""

    name = "moody"

    def __init__(self, dice: random.Random) -> None:
        self._dice, self._echo, self.calm, self.asked = dice, Scripted.echo(), False, 0

    def complete(self, request: Request) -> Reply:
        """See Model."""
        self.asked += 1
        nth = self.asked
        if activity := current():
            activity.stop("thinks")
        if request.purpose == "observe" and any("poison" in message.text() for message in request.messages):
            raise ModelError("the provider refuses this text", retryable=False)
        mood = 1.0 if self.calm else self._dice.random()
        if mood < 0.05:
            raise ModelError("429", retryable=True, retry_after=60)
        if mood < 0.08:
            raise ModelError("cannot be read", retryable=False)
        reply = self._echo.complete(request)  # no two answers are alike: one that replaces another is seen
        if request.purpose == "reflect" and mood < _FORGETFUL:  # what holds no message's id
            kept = [line for line in reply.text.split("\n") if " by hand " not in line]
            reply = msgspec.structs.replace(reply, text="\n".join(kept))
        return msgspec.structs.replace(reply, text=reply.text.replace("</obs", f"* 🟢 (00:00) answer {nth}\n</obs"))
