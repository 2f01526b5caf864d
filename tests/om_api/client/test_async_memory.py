"""The asyncio client does what the blocking one does, and waits without keeping its loop waiting."""

import asyncio

import pytest
from world import SMALL

from om_api import AsyncObservationalMemory, Message, ObservationalMemory, load_settings


@pytest.fixture
def settings(server_client, server_url, prefix):
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url})


def said(name):
    return Message(id=name, role="user", content=f"about {name}", thread_id="t-1", resource_id="harold")


def test_what_one_face_adds_the_other_one_reads(settings):
    async def session():
        async with AsyncObservationalMemory(settings) as om:
            await asyncio.gather(*(om.add_message(said(f"m-{n}")) for n in range(20)))
            return await om.get_context("t-1", "harold")

    made = asyncio.run(session())
    with ObservationalMemory(settings) as om:
        assert om.get_context("t-1", "harold").text == made.text
    assert {message.id for message in made.messages} == {f"m-{n}" for n in range(20)}


def test_whoever_waits_for_events_leaves_the_loop_to_others(settings):
    """Time 0: one waits for an event. Time 1: another one adds and reads. Time 2: what was waited for happens."""

    async def session():
        async with AsyncObservationalMemory(settings) as om:
            await om.add_message(said("m-1"))
            begun = await om.events()
            waiting = asyncio.create_task(om.events(begun.after, wait=20))
            messages = (await om.get_context("t-1", "harold")).messages
            meanwhile = waiting.done()
            await om.clear("harold")
            return messages, meanwhile, (await waiting).events

    messages, meanwhile, told = asyncio.run(session())
    assert [message.id for message in messages] == ["m-1"]
    assert meanwhile is False
    assert [event.kind for event in told] == ["cleared"]
