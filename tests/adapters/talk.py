"""A talk of an agent that has tools: what is said at each turn, and what the memory should know of it then."""

from typing import Any, NamedTuple

Reply = dict[str, Any]
_LONG = "and then they went on to talk about the weather in the north, "


class SaidTurn(NamedTuple):
    """A turn: what the user says, what the model replies at each call, and the words of all that was said before that call."""

    text: str
    replies: list[Reply]
    before: list[list[str]]

    @property
    def words(self) -> list[str]:
        """The words of all of it."""
        return [*self.before[-1], self.text.split(".")[0] + ".9"]


def turn_of(n: int, *, long: int = 2) -> SaidTurn:
    """The n-th turn: every third one asks two tools at once, and then another one alone."""
    text = f"w{n}.1 {_LONG * long}"
    answer = {"text": f"w{n}.9 {_LONG * long}".strip()}
    if n % 3:
        return SaidTurn(text.strip(), [answer], [[f"w{n}.1"]])
    both = [_call(f"c{n}-{k}", "look_up", key=f"w{n}.{k}") for k in (3, 4)]
    asked = {"text": f"w{n}.2 {_LONG}".strip(), "calls": both}
    alone = {"text": "", "calls": [_call(f"c{n}-5", "tell", n=12)]}
    known = [f"w{n}.{k}" for k in (1, 2, 3, 4)]
    return SaidTurn(text.strip(), [asked, alone, answer], [known[:1], known, known])


def _call(name: str, tool: str, **args: Any) -> dict[str, Any]:
    return {"id": name, "name": tool, "args": args}
