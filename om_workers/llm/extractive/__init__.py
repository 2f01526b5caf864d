"""The model that is none: it selects and condenses by rules, offline, and always the same way."""

from om_workers.llm.base import Reply, Request, Usage
from om_workers.llm.extractive.notes import tokens
from om_workers.llm.extractive.observe import observe
from om_workers.llm.extractive.reflect import reflect

__all__ = ["Extractive"]


class Extractive:
    """Answers from the values of a request alone: no model, no network, no cost.

    Equal requests get equal replies. It never raises, whatever the messages and observations hold.
    """

    name = "extractive"

    def complete(self, request: Request) -> Reply:
        """Observe or reflect; the usage is estimated at four characters a token."""
        text = observe(request) if request.purpose == "observe" else reflect(request)
        return Reply(text=text, model=self.name, usage=Usage(output=tokens(text)), cost=0.0)
