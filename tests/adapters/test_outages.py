"""The store is killed in the middle of a run of each framework: no turn is lost, and none is there twice."""

from contextlib import contextmanager

import pytest
from servers import Server
from world import World

from adapters.frameworks import agent
from adapters.talk import check_kept, turn_of

KEEPS = ("--appendonly", "yes", "--appendfsync", "always")


@pytest.fixture
def server(tmp_path):
    """A store that may be killed, and holds afterwards whatever it acknowledged."""
    with Server(tmp_path / "store", *KEEPS) as running:
        yield running


@contextmanager
def connected(server, prefix="outage:om"):
    with server.client() as client:
        yield World(client, prefix)


def environ_of(server, **more):
    return {"OM_REDIS_URL": server.url, "OM_PREFIX": "outage:om", "OM_TOKENIZER": "estimate", **more}


def test_with_fail_open_an_agent_goes_on_while_the_store_is_away_and_nothing_is_lost(framework, server):
    said = []
    with agent(framework, **environ_of(server, FAIL_OPEN="1")) as an_agent:
        for n in range(7):
            if n == 2:
                server.kill()
            if n == 5:
                server.start()
            turn = turn_of(n)
            done = an_agent.say(turn.text, *turn.replies)

            assert done.error is None
            assert done.answer == turn.replies[-1]["text"]
            said += turn.words

    with connected(server) as world:
        check_kept(world, said)


def test_without_it_a_turn_fails_clearly_and_the_next_one_brings_what_was_said(framework, server):
    said = []
    with agent(framework, **environ_of(server)) as an_agent:
        for n in (0, 1):
            assert an_agent.say(turn_of(n).text, *turn_of(n).replies).error is None
            said += turn_of(n).words
        server.kill()
        refused = an_agent.say(turn_of(2).text, *turn_of(2).replies)
        assert "StoreError" in refused.error
        assert refused.calls == []
        server.start()
        turn = turn_of(3)
        done = an_agent.say(turn.text, *turn.replies)
        assert done.error is None
        said += turn.words

    with connected(server) as world:
        kept = [message for message in world.om.messages("harold", "t-1") if "w2.1" in str(message.content)]
        assert len(kept) <= 1  # of who holds the history itself
        check_kept(world, [*said, *(["w2.1"] if kept else [])])
