"""What owners, operators and strangers ask for: to work now, to end a memory, to be told how things are, to come in."""

import time
from typing import Any

import msgspec
from chaos.plan import Member

from load.agent import PATIENCE_S, Agent, of

_WAIT_S = 1.0
_OTHERS_KEY, _NO_KEY, _NOT_VALID = 403, 401, 422


async def observe(agent: Agent) -> None:
    await _force(agent, "observe")


async def reflect(agent: Agent) -> None:
    await _force(agent, "reflect")


async def _force(agent: Agent, what: str) -> None:
    resource = agent.member().name
    waits = agent.dice.random() < 0.2
    kind = f"{what}, waiting" if waits else what
    given = {"wait": _WAIT_S} if waits else {}
    await agent.asker.ask(
        kind, of(resource, what), agent.badges.writers[resource], method="POST", absent=True, json=given
    )


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
    kind = "clear a thread" if thread else "clear"
    path, query = (of(member.name, "threads", thread), {}) if thread else (of(member.name), {"confirm": member.name})
    answer = await agent.asker.ask(kind, path, agent.badges.operator, method="DELETE", absent=True, params=query)
    # one that was cleared by a request whose reply was cut is not there any more
    return answer.good and msgspec.json.decode(answer.body).get("outcome", "cleared") == "cleared"


async def foreign(agent: Agent) -> None:
    """A key of somebody else, at any door."""
    one, other = agent.dice.sample([member.name for member in agent.cast], 2)
    await _refused(agent, "somebody else's key", agent.badges.writers[one], _OTHERS_KEY, other)


async def weak(agent: Agent) -> None:
    """A reader's key where a writer's is needed, or an operator's."""
    resource = agent.member().name
    path, method = agent.dice.choice(((("threads", "t-1", "messages"), "POST"), (("threads", "t-1"), "DELETE")))
    token = agent.badges.readers[resource]
    await agent.asker.ask("a weaker key", of(resource, *path), token, method=method, want=_OTHERS_KEY)


async def stranger(agent: Agent) -> None:
    """No key, or one that nobody made."""
    token = agent.dice.choice((None, "om_0123456789ab_" + "x" * 43))
    await _refused(agent, "no key", token, _NO_KEY, agent.member().name)


async def invalid(agent: Agent) -> None:
    """A batch of which one message is none: nothing of it may be kept."""
    resource, thread = agent.place()
    name = f"{agent.composer.compose(resource, thread).name}-invalid"
    given = {"messages": [{"id": name, "role": "user", "content": "x"}, {"role": "robot", "content": "x"}]}
    path, token = of(resource, "threads", thread, "messages"), agent.badges.writers[resource]
    await agent.asker.ask("not valid", path, token, method="POST", want=_NOT_VALID, json=given)


async def _refused(agent: Agent, kind: str, token: str | None, want: int, resource: str) -> None:
    doors: list[tuple[tuple[str, ...], str, Any]] = [
        (("threads", "t-1", "context"), "GET", None),
        (("threads", "t-1", "messages"), "POST", {"messages": [{"id": "w0-0", "role": "user", "content": "x"}]}),
        (("observations",), "GET", None),
        (("stats",), "GET", None),
        (("threads", "t-1"), "DELETE", None),
    ]
    path, method, body = agent.dice.choice(doors)
    given = {"json": body} if body else {}
    await agent.asker.ask(kind, of(resource, *path), token, method=method, want=want, **given)


async def house(agent: Agent) -> None:
    """What concerns no single memory."""
    kind, path = agent.dice.choice(
        (
            ("alive", "/healthz"),
            ("ready", "/readyz"),
            ("resources", "/v1/resources"),
            ("events", "/v1/events"),
            ("metrics", "/metrics"),
            ("rejected", "/v1/rejected"),
        )
    )
    await agent.asker.ask(kind, path, agent.badges.operator)
