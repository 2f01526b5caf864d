"""Adding messages, as agents do that repeat with the same ids what was not acknowledged."""

import time
from collections.abc import Sequence
from typing import Any

import msgspec
from chaos.journal import Said

from load.agent import PATIENCE_S, Agent, of

_GIVES_UP = 0.25


async def push(agent: Agent) -> None:
    await _speak(agent, "push", 1)


async def batch(agent: Agent) -> None:
    await _speak(agent, "push, batch", agent.dice.randrange(2, 7))


async def repeat(agent: Agent) -> None:
    """Say an id again that was acknowledged, with other words: it must add nothing, and be named."""
    if not agent.kept:
        return
    said = agent.dice.choice(agent.kept[-50:])
    again = Said(said.name, said.resource, said.thread, {**said.fields, "content": "other words"}, plain=False)
    body = await _send(agent, "push, repeated", [again])
    if body and (body["added"] or [each["id"] for each in body["changed"]] != [said.name]):
        agent.journal.breach("an id acknowledged before was accepted again", said.name)


async def _speak(agent: Agent, kind: str, count: int) -> None:
    """Send until acknowledged; some give up at the first failure, as an agent that dies does."""
    resource, thread = agent.place()
    said = [agent.composer.compose(resource, thread) for _ in range(count)]
    stubborn, until, absent = agent.dice.random() > _GIVES_UP, time.monotonic() + PATIENCE_S, True
    while True:
        agent.journal.tried(said)
        answer = await agent.asker.ask(kind, *_request(agent, said), **_given(said))
        if answer.good:
            _acknowledge(agent, said, msgspec.json.decode(answer.body))
            return
        agent.journal.refused(said, answer.stored, "")
        absent = absent and answer.stored is False
        if agent.halted or not stubborn or time.monotonic() > until:
            agent.journal.given_up(said, absent=absent)
            return
        await agent.pause()


async def _send(agent: Agent, kind: str, said: Sequence[Said]) -> Any:
    answer = await agent.asker.ask(kind, *_request(agent, said), **_given(said))
    return msgspec.json.decode(answer.body) if answer.good else None


def _request(agent: Agent, said: Sequence[Said]) -> tuple[str, str]:
    resource = said[0].resource
    return of(resource, "threads", said[0].thread, "messages"), agent.badges.writers[resource]


def _given(said: Sequence[Said]) -> dict[str, Any]:
    return {"method": "POST", "json": {"messages": [each.fields for each in said]}}


def _acknowledge(agent: Agent, said: Sequence[Said], body: Any) -> None:
    agent.journal.acknowledged(said)
    names = [each.name for each in said]
    if body["ids"] != names or body["added"] + len(body["duplicates"]) != len(names):
        agent.journal.breach(f"an acknowledgement of {names} says {body}")
    if not any(member.fate for member in agent.cast if member.name == said[0].resource):
        agent.kept += said
