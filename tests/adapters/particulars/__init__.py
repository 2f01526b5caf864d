"""What only one framework has: `python -m particulars.<name>` runs every `check_…` of a module, and prints its name."""

import asyncio
import inspect
from typing import Any

from drivers.protocol import Script

from om_api import ObservationalMemory


def script_of(*replies: Any) -> Script:
    """What the fake model is to reply, call by call; a text stands for a reply that is nothing else."""
    return Script([{"text": each} if isinstance(each, str) else each for each in replies])


def called(name: str, tool: str = "look_up", **args: str) -> dict[str, Any]:
    """A reply that calls a tool."""
    return {"text": "", "calls": [{"id": name, "name": tool, "args": args}]}


def contents(memory: ObservationalMemory, thread: str) -> list[Any]:
    """What is kept of a thread of harold's."""
    return [message.content for message in memory.messages("harold", thread)]


def texts(memory: ObservationalMemory, thread: str) -> list[str]:
    """The same in short: of each message its text, or which call it is about."""
    return [
        next((part.get("text") or f"{part['type']} {part['tool_call_id']}" for part in message.parts), "")
        for message in memory.messages("harold", thread)
    ]


def run_checks(module: dict[str, Any]) -> None:
    """Run them, those that are coroutines in one loop, and print their names."""

    async def run_all() -> None:
        for name, check in [*module.items()]:
            if name.startswith("check_"):
                done = check()
                if inspect.isawaitable(done):
                    await done
                print(name)  # noqa: T201

    asyncio.run(run_all())
