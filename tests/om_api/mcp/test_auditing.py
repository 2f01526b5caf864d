"""What tools do to a memory, and what a caller is refused, is in the audit trail; what an agent says and reads is not."""

import pytest
from structlog.testing import capture_logs

from om_api import AsyncObservationalMemory
from om_api.domain.api_keys import Role
from om_api.domain.audit.audit_entry import DID
from om_api.domain.errors import StoreError
from om_api.mcp.auditing import NOT_TOLD
from om_api.mcp.toolbox import TOOLS


@pytest.fixture
def trail(world):
    def told(each):
        return each.who, each.via, each.did, each.resource, each.of, each.outcome

    return lambda: [*map(told, world.om.audit(count=1_000).entries[::-1])]


@pytest.fixture
def observation(noted):
    return noted.om.observations("harold")[0].id


KEY = "0" * 12


def test_every_tool_that_operates_names_a_verb_of_the_trail():
    for name, tool in TOOLS.items():
        assert tool.audited in {"", *DID}, name
        assert bool(tool.audited) == (tool.role is Role.OPERATOR), name


def test_what_a_tool_removed_is_told_with_the_key_that_asked(having, observation, trail):
    answer = having("operator", "harold")("forget", observation_id=observation)

    assert not answer.failed
    assert NOT_TOLD not in answer.text
    assert trail() == [(KEY, "mcp", "forgot", "harold", observation, "done")]


def test_refusals_are_told_by_role_and_by_resource(having, trail):
    having("reader", "harold")("forget", observation_id="o-1")
    having("operator", "harold", "albert")("status", resource_id="berta")
    having("operator", "harold")("remember")
    having("operator", "harold")("get_context", thread_id="t-1")  # an agent's own traffic
    refused = [
        (having("operator", "harold"), lambda client: client.read_resource("om://berta/threads/t-1/context")),
        (having("reader", "harold", resource="berta"), lambda client: client.list_resources()),
    ]
    for host, ask in refused:
        with pytest.raises(BaseException):  # noqa: B017 - the SDK's client wraps it in groups
            host.ask(ask)

    assert trail() == [
        (KEY, "mcp", "refused", "harold", "forget", "refused"),
        (KEY, "mcp", "refused", "berta", "status", "refused"),
        (KEY, "mcp", "refused", "berta", "context", "refused"),
        (KEY, "mcp", "refused", "berta", "context", "refused"),
    ]


def test_an_answer_says_where_the_trail_was_not_told(having, observation, client, prefix):
    client.set(f"{prefix}:audit", "no stream", ex=60)
    with capture_logs() as logs:
        answer = having("operator", "harold")("forget", observation_id=observation)

    assert (answer.failed, answer.text.endswith(NOT_TOLD)) == (False, True)
    assert [line["did"] for line in logs if line["event"] == "audit_entry_lost"] == ["forgot"]


def test_what_may_have_been_done_is_told_and_what_was_not_is_not(having, observation, trail, monkeypatch):
    for stored, outcomes in ((False, []), (None, ["failed"])):

        async def lost(*_, stored=stored):
            raise StoreError("the store is away", stored=stored)

        monkeypatch.setattr(AsyncObservationalMemory, "forget", lost)
        assert having("operator", "harold")("forget", observation_id=observation).failed
        assert [entry[-1] for entry in trail()] == outcomes, stored
