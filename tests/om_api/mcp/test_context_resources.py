"""Contexts as resources: listed, found by their address, and read by whoever may."""

import pytest
from mcp import MCPError


def read(host, uri):
    async def asked(client):
        (content,) = (await client.read_resource(uri)).contents
        return content.text

    return host.ask(asked)


def listed(host):
    async def asked(client):
        found, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            found += [resource.uri for resource in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                return found

    return host.ask(asked)


def test_ids_are_written_into_an_address_as_the_template_has_them(anybody, world, having):
    world.say("hello", resource="me@home", thread="a:b+c")
    host = having("reader", "me@home")

    assert listed(host) == ["om://me%40home/threads/a%3Ab%2Bc/context"]
    assert "hello" in read(host, *listed(host))
    assert "hello" in read(anybody, "om://me@home/threads/a:b+c/context")


def test_contexts_are_listed_page_by_page(host, world, having, anybody):
    for n in range(110):
        world.say("hello", thread=f"t-{n:03}")

    assert listed(host) == [f"om://harold/threads/t-{n:03}/context" for n in range(110)]
    assert listed(having("reader", "harold", thread="t-9")) == ["om://harold/threads/t-9/context"]
    assert listed(anybody) == []


def test_what_is_not_there_to_be_read(having):
    for uri, why in [
        ("om://harold", "no address of a context: use om://{resource_id}/threads/{thread_id}/context"),
        ("om://harold/threads/a%20b/context", "is not an id"),
        ("om://harold/threads/../context", "is not an id"),
        ("file:///etc/passwd", "no address of a context"),
        ("om://berta/threads/t-1/context", "bound to harold, not to berta"),
    ]:
        with pytest.raises(BaseException) as caught:
            read(having("reader", "harold"), uri)
        told = caught.value
        while isinstance(told, BaseExceptionGroup):
            (told,) = told.exceptions
        assert isinstance(told, MCPError)
        assert why in str(told), uri
