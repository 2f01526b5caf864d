"""What writing is measured against: the same bytes, on a store that is left as it was found."""

import pytest

from om_bench.speed import stand as stands
from om_bench.speed import writing

FEW = {"_AGENTS": 3, "_SINGLES": 4, "_BATCHES": 2, "_WEIGHED": 2_000}


@pytest.fixture
def stand(private_server_url, monkeypatch):
    for name, few in FEW.items():
        monkeypatch.setattr(writing, name, few)
    with stands.stand(private_server_url) as made:
        yield made


def test_the_reference_writes_as_many_bytes_as_we_do(stand):
    talk = writing.AgentTalk()
    stand.om.add_message(writing.message("agent-00", talk.text()))
    (member,) = stand.bare.zrange("om-bench:{agent-00}:messages:thread-1", 0, -1)

    assert abs(len(member) - 400) < 10
    assert abs(len(member) - len(talk.member("agent-00"))) < 10


def test_one_and_a_hundred_are_measured_with_both_faces(stand):
    figures = [*writing.add_message(stand), *writing.add_messages(stand)]

    assert [figure.work for figure in figures] == [
        "one add_message",
        "one add_message, asyncio",
        "add_messages by 100, a message",
    ]
    assert stand.bare.dbsize() == 0


def test_a_stored_message_takes_little_more_than_a_plain_one(stand):
    (figure,) = writing.memory_of_a_message(stand)

    assert figure.met
    assert stand.bare.dbsize() == 0
