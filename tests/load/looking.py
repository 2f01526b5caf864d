"""Reading everything that can be read, and holding it to what was said."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import redis
from chaos.words import MARK

from load.agent import Agent, Answer, of

_FORMATS = ("text", "openai", "anthropic", "gemini", "blocks")
_HELD_TO = ("text", "blocks")
_PAGES = 5


async def context(agent: Agent) -> None:
    """A context in any format; what was acknowledged before must be in it."""
    resource, thread = agent.place()
    form = agent.dice.choice(_FORMATS)
    query: dict[str, Any] = {"format": form}
    if capped := agent.dice.random() < 0.1:
        query["max_tokens"] = 2_000
    token = agent.badges.readers[resource]
    answer = await agent.asker.ask(f"context, {form}", of(resource, "threads", thread, "context"), token, params=query)
    if answer.good and form in _HELD_TO and not capped:
        await _hold_to_coverage(agent, resource, thread, answer)


async def _hold_to_coverage(agent: Agent, resource: str, thread: str, answer: Answer) -> None:
    marks = set(MARK.findall(answer.body.decode()))
    missing = [s.name for s in agent.journal.expected(resource, thread, answer.began) if s.name not in marks]
    if not missing:
        return
    try:
        excused = await asyncio.to_thread(agent.quarantined, resource)
    except redis.RedisError:
        return  # the server is away: the next look tells
    for name in set(missing) - excused:
        agent.journal.breach(f"acknowledged, but missing in the context of {resource}/{thread}", name)


async def stats(agent: Agent) -> None:
    await _look(agent, "stats", "stats")


async def record(agent: Agent) -> None:
    resource, thread = agent.place()
    token = agent.badges.readers[resource]
    await agent.asker.ask("record", of(resource, "record"), token, absent=True, params={"thread_id": thread})


async def threads(agent: Agent) -> None:
    await _walk(agent, agent.member().name, "threads", "threads", lambda each: each["id"], 2)


async def observations(agent: Agent) -> None:
    await _walk(agent, agent.member().name, "observations", "observations", lambda each: each["id"], 4)


async def reflections(agent: Agent) -> None:
    await _walk(agent, agent.member().name, "reflections", "reflections", None, 3)


async def replaced(agent: Agent) -> None:
    name, generation = agent.member().name, agent.dice.randrange(1, 4)
    query = {"thread_id": "s-1"} if name.startswith("solo") else {}
    await _walk(agent, name, "replaced", f"reflections/{generation}/observations", lambda each: each["id"], 5, **query)


async def sources(agent: Agent) -> None:
    """The raw messages behind an observation: those that it says, each once."""
    name = agent.member("").name
    found = await _walk(agent, name, "observations", "observations", lambda each: each["id"], 4)
    if not found:
        return
    chosen = agent.dice.choice(found)
    path = f"observations/{chosen['id']}/messages"
    behind = await _walk(agent, name, "sources", path, lambda each: f"{each['at']:015}|{each['id']}", 200)
    if behind is not None and {each["id"] for each in behind} != set(chosen["message_ids"]):
        agent.journal.breach(f"{name}: the messages behind observation {chosen['id']} are not those it names")


async def _look(agent: Agent, kind: str, *parts: str, **query: Any) -> Answer:
    resource = agent.member().name
    return await agent.asker.ask(kind, of(resource, *parts), agent.badges.readers[resource], absent=True, params=query)


async def _walk(
    agent: Agent,
    resource: str,
    kind: str,
    path: str,
    place: Callable[[Any], str] | None,
    limit: int,
    **query: Any,
) -> list[Any] | None:
    """A list, some pages of it: in order, nothing twice. None when a page could not be had."""
    found: list[Any] = []
    for _ in range(_PAGES):
        asked = agent.asker.ask(
            kind, of(resource, path), agent.badges.readers[resource], params={**query, "limit": limit}
        )
        answer = await asked
        if not answer.good:
            return None
        page = msgspec.json.decode(answer.body)
        found += page["items"]
        if len(page["items"]) > limit:
            agent.journal.breach(f"{kind} of {resource}: a page of {len(page['items'])}, not {limit} at most")
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    places = [place(each) for each in found] if place else []
    if places != sorted(set(places)):
        agent.journal.breach(f"{kind} of {resource}: pages are out of order or repeat: {places}")
    return found
