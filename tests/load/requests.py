"""What agents, owners, operators and strangers ask for.

They add messages and repeat with the same ids what was not acknowledged, read everything that can be read and hold it to what
was said, have workers work now, end memories, ask how things are, and try to come in.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import redis
from chaos.journal import MARK, Said
from chaos.plan import Member

from load.agent import PATIENCE_S, Agent, Answer, path_of

_GIVES_UP = 0.25
_FORMATS = ("text", "openai", "anthropic", "gemini", "blocks")
_HELD_TO = ("text", "blocks")
_PAGES = 5
_OTHERS_KEY, _NO_KEY, _NOT_VALID = 403, 401, 422


async def push(agent: Agent) -> None:
    await _speak(agent, "push", 1)


async def batch(agent: Agent) -> None:
    await _speak(agent, "push, batch", agent.dice.randrange(2, 7))


async def _speak(agent: Agent, kind: str, count: int) -> None:
    """Send until acknowledged; some give up at the first failure, as an agent that dies does."""
    resource, thread = agent.place()
    said = [agent.composer.compose(resource, thread) for _ in range(count)]
    stubborn, until, absent = agent.dice.random() > _GIVES_UP, time.monotonic() + PATIENCE_S, True
    while True:
        agent.journal.tried(said)
        answer = await _send(agent, kind, said)
        if answer.good:
            break
        agent.journal.refused(said, answer.stored, "")
        absent = absent and answer.stored is False
        if agent.halted or not stubborn or time.monotonic() > until:
            agent.journal.given_up(said, absent=absent)
            return
        await agent.pause()
    agent.journal.acknowledged(said)
    body, names = msgspec.json.decode(answer.body), [each.name for each in said]
    if body["ids"] != names or body["added"] + len(body["duplicates"]) != len(names):
        agent.journal.breach(f"an acknowledgement of {names} says {body}")
    if not any(member.fate for member in agent.cast if member.name == resource):
        agent.kept += said


async def repeat(agent: Agent) -> None:
    """Say an id again that was acknowledged, with other words: it must add nothing, and be named."""
    if not agent.kept:
        return
    said = agent.dice.choice(agent.kept[-50:])
    again = Said(said.name, said.resource, said.thread, {**said.fields, "content": "other words"})
    answer = await _send(agent, "push, repeated", [again])
    body = msgspec.json.decode(answer.body) if answer.good else None
    if body and (body["added"] or [each["id"] for each in body["changed"]] != [said.name]):
        agent.journal.breach("an id acknowledged before was accepted again", said.name)


async def _send(agent: Agent, kind: str, said: Sequence[Said]) -> Answer:
    given, path = {"messages": [each.fields for each in said]}, f"threads/{said[0].thread}/messages"
    return await agent.ask_of(kind, said[0].resource, path, "writer", method="POST", json=given)


async def context(agent: Agent) -> None:
    """A context in any format; what was acknowledged before must be in it."""
    resource, thread = agent.place()
    form = agent.dice.choice(_FORMATS)
    query: dict[str, Any] = {"format": form}
    if capped := agent.dice.random() < 0.1:
        query["max_tokens"] = 2_000
    answer = await agent.ask_of(f"context, {form}", resource, f"threads/{thread}/context", params=query)
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
    await agent.ask_of("stats", agent.member().name, "stats", absent=True)


async def record(agent: Agent) -> None:
    name, thread = agent.place()
    await agent.ask_of("record", name, "record", absent=True, params={"thread_id": thread})


async def threads(agent: Agent) -> None:
    await _walk(agent, agent.member().name, "threads", "threads", _by_id, 2)


async def observations(agent: Agent) -> None:
    await _walk(agent, agent.member().name, "observations", "observations", _by_id, 4)


async def reflections(agent: Agent) -> None:
    await _walk(agent, agent.member().name, "reflections", "reflections", None, 3)


async def replaced(agent: Agent) -> None:
    name, generation = agent.member().name, agent.dice.randrange(1, 4)
    query = {"thread_id": "s-1"} if name.startswith("solo") else {}
    await _walk(agent, name, "replaced", f"reflections/{generation}/observations", _by_id, 5, **query)


async def sources(agent: Agent) -> None:
    """The raw messages behind an observation: those that it says, each once."""
    name = agent.member("").name
    found = await _walk(agent, name, "observations", "observations", _by_id, 4)
    if not found:
        return
    chosen = agent.dice.choice(found)
    path = f"observations/{chosen['id']}/messages"
    behind = await _walk(agent, name, "sources", path, lambda each: f"{each['at']:015}|{each['id']}", 200)
    if behind is not None and {each["id"] for each in behind} != set(chosen["message_ids"]):
        agent.journal.breach(f"{name}: the messages behind observation {chosen['id']} are not those it names")


def _by_id(each: Any) -> str:
    return each["id"]


async def _walk(
    agent: Agent, resource: str, kind: str, path: str, place: Callable[[Any], str] | None, limit: int, **query: Any
) -> list[Any] | None:
    """A list, some pages of it: in order, nothing twice. None when a page could not be had."""
    found: list[Any] = []
    for _ in range(_PAGES):
        answer = await agent.ask_of(kind, resource, path, params={**query, "limit": limit})
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


async def observe(agent: Agent) -> None:
    await _force(agent, "observe")


async def reflect(agent: Agent) -> None:
    await _force(agent, "reflect")


async def _force(agent: Agent, what: str) -> None:
    kind, given = (f"{what}, waiting", {"wait": 1.0}) if agent.dice.random() < 0.2 else (what, {})
    await agent.ask_of(kind, agent.member().name, what, "writer", method="POST", absent=True, json=given)


async def clear(agent: Agent) -> None:
    """End a memory that is doomed, or a thread of one, until that is answered: given up, it could still be carried out."""
    member = agent.member("clear", "clear thread")
    thread = member.threads[0] if member.fate == "clear thread" else ""
    number = agent.journal.opens("clear", member.name, thread)
    until = time.monotonic() + PATIENCE_S
    while not await _cleared(agent, member, thread):
        if time.monotonic() > until:
            agent.journal.breach(f"{member.name} could not be cleared within {PATIENCE_S:.0f} s")
            return  # its window stays open: nobody knows what it may still take
        await agent.pause()
    agent.journal.closes(number)


async def _cleared(agent: Agent, member: Member, thread: str) -> bool:
    kind, path, query = "clear", "", {"confirm": member.name}
    if thread:
        kind, path, query = "clear a thread", f"threads/{thread}", {}
    answer = await agent.ask_of(kind, member.name, path, "operator", method="DELETE", absent=True, params=query)
    # one that was cleared by a request whose reply was cut is not there any more
    return answer.good and msgspec.json.decode(answer.body).get("outcome", "cleared") == "cleared"


async def foreign(agent: Agent) -> None:
    """A key of somebody else, at any door."""
    one, other = agent.dice.sample([member.name for member in agent.cast], 2)
    await _refused(agent, "somebody else's key", agent.badges["writer", one], _OTHERS_KEY, other)


async def weak(agent: Agent) -> None:
    """A reader's key where a writer's is needed, or an operator's."""
    path, method = agent.dice.choice((("threads/t-1/messages", "POST"), ("threads/t-1", "DELETE")))
    await agent.ask_of("a weaker key", agent.member().name, path, method=method, want=_OTHERS_KEY)


async def stranger(agent: Agent) -> None:
    """No key, or one that nobody made."""
    token = agent.dice.choice((None, "om_0123456789ab_" + "x" * 43))
    await _refused(agent, "no key", token, _NO_KEY, agent.member().name)


async def invalid(agent: Agent) -> None:
    """A batch of which one message is none: nothing of it may be kept."""
    resource, thread = agent.place()
    name = f"{agent.composer.compose(resource, thread).name}-invalid"
    given = {"messages": [{"id": name, "role": "user", "content": "x"}, {"role": "robot", "content": "x"}]}
    path, how = f"threads/{thread}/messages", {"method": "POST", "want": _NOT_VALID, "json": given}
    await agent.ask_of("not valid", resource, path, "writer", **how)


async def _refused(agent: Agent, kind: str, token: str | None, want: int, resource: str) -> None:
    given = {"json": {"messages": [{"id": "w0-0", "role": "user", "content": "x"}]}}
    doors: list[tuple[str, str, Any]] = [
        ("threads/t-1/context", "GET", {}),
        ("threads/t-1/messages", "POST", given),
        ("observations", "GET", {}),
        ("stats", "GET", {}),
        ("threads/t-1", "DELETE", {}),
    ]
    path, method, options = agent.dice.choice(doors)
    await agent.ask(kind, path_of(resource, path), token, method=method, want=want, **options)


_HOUSE = {
    "alive": "/healthz",
    "ready": "/readyz",
    "resources": "/v1/resources",
    "events": "/v1/events",
    "metrics": "/metrics",
    "rejected": "/v1/rejected",
}


async def house(agent: Agent) -> None:
    """What concerns no single memory."""
    kind, path = agent.dice.choice([*_HOUSE.items()])
    await agent.ask(kind, path, agent.badges["operator", "*"])
