"""clear(resource, thread) and forget left what the quarantine kept of the removed messages: their words word for word."""

from world import World

from om_api.domain.errors import ModelError


def test_a_cleared_thread_takes_its_rejected_members_along_and_leaves_the_others(client, prefix):
    house = World(client, prefix)
    for thread in ("t-1", "t-2"):
        member = b'{"role":"robot","content":"secret of %s"}' % thread.encode()
        client.zadd(f"{prefix}:{{harold}}:messages:{thread}", {member: 1763600000000})
    house.sweep()
    house.say("hello")

    house.om.clear("harold", "t-1")

    assert [entry.thread_id for entry in house.om.rejected("harold")] == ["t-2"]


def test_a_forgotten_placeholder_takes_its_entry_along(client, prefix):
    house = World(client, prefix, observer__max_attempts="1")
    echo = house.model.complete

    def refuse(request):
        if any("secret" in message.text() for message in request.messages):
            raise ModelError("refused", retryable=False)
        return echo(request)

    house.model.complete = refuse
    house.say("secret")
    house.om.force_observe("t-1", "harold")
    for _ in range(4):
        house.sweep()
        house.tick_forgiving()
    (entry,) = house.om.rejected("harold")

    house.om.forget(entry.observation, "harold")

    assert house.om.rejected("harold") == []
