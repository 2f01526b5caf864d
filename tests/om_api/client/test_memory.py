"""The blocking client: what is said is there, once, until it is closed."""

import pytest
from configured import Folder
from structlog.testing import capture_logs
from world import SMALL

from om_api import InvalidInputError, Message, ObservationalMemory, load_settings


@pytest.fixture
def om(client, prefix):
    with ObservationalMemory(load_settings(None, {**SMALL, "OM_PREFIX": prefix}), client=client) as memory:
        yield memory


def said(name, thread="t-1", resource="harold"):
    return Message(id=name, role="user", content=f"about {name}", thread_id=thread, resource_id=resource)


def test_messages_of_several_memories_are_added_together_and_each_once(om):
    first = om.add_messages([said("a"), said("b", resource="ada")])
    again = om.add_message(said("a"))

    assert (first.ids, first.duplicates) == (("a", "b"), ())
    assert (again.ids, again.duplicates) == (("a",), ("a",))
    assert [message.id for message in om.get_context("t-1", "harold").messages] == ["a"]


def test_of_messages_of_which_one_cannot_be_accepted_none_is_added(om):
    with pytest.raises(InvalidInputError, match=r"messages\[1\]"):
        om.add_messages([said("a"), said("b", resource="a b")])

    assert om.get_context("t-1", "harold").messages == []


def test_a_context_may_take_so_many_tokens_and_says_what_it_left_out(om):
    om.add_messages(said(f"m-{n}") for n in range(200))
    whole = om.get_context("t-1", "harold")
    capped = om.get_context("t-1", "harold", max_tokens=whole.tokens // 2)

    assert whole.omitted == 0
    assert capped.tokens <= whole.tokens // 2
    assert capped.omitted == 200 - len(capped.messages) > 0


def test_an_agent_is_warned_once_of_its_own_file_and_of_nobody_elses(client, prefix, tmp_path):
    """Catches a mistyped key that is told to workers and operators alone."""
    folder = Folder(tmp_path)
    own = folder.agent("har*", "observational_memory: {mesage_threshold: 5}")
    folder.agent("ada", "observational_memory: [")
    folder.agent("zoe", "observational_memory: {ttl_days: 5}")
    with ObservationalMemory(folder.load(OM_PREFIX=prefix), client=client) as om, capture_logs() as lines:
        for n in range(2):
            om.add_messages([said(f"m-{n}"), said(f"m-{n}", resource="zoe")])
            om.get_context("t-1", "harold")

    (line,) = lines
    assert (line["event"], line["log_level"], line["file"]) == ("settings_problem", "warning", str(own))
    assert line["problem"].startswith("line 1: mesage_threshold is not a setting; did you mean message_threshold?")
