"""Sending a recording: each thread is a history, and what was sent before a failure stays."""

import pytest

from om_api import Message
from om_api.cli.player import Player, batched, by_thread
from om_api.domain.errors import InvalidInputError, StoreError


def said(text, thread="t-1", **fields):
    return Message(role="user", content=text, thread_id=thread, resource_id="harold", **fields)


def test_messages_are_parted_by_resource_and_thread_in_their_order():
    first, second, third = said("a"), said("b", "t-2"), said("c")

    assert by_thread([first, second, third]) == {("harold", "t-1"): [first, third], ("harold", "t-2"): [second]}


def test_those_before_a_bad_one_come_before_its_error():
    def messages():
        yield from map(said, "abc")
        raise InvalidInputError("line 4")

    batches = batched(messages(), 2)

    assert [len(next(batches)), len(next(batches))] == [2, 1]
    with pytest.raises(InvalidInputError, match="line 4"):
        next(batches)


@pytest.mark.parametrize(("batch", "rate", "size"), [(100, None, 100), (100, 5, 5), (3, 5, 3), (100, 0.5, 1)])
def test_no_batch_is_larger_than_what_a_second_may_bring(world, batch, rate, size):
    assert Player(world.om, batch, rate).size == size


def test_what_is_sent_again_is_the_end_of_its_thread_with_the_ids_it_is_kept_under(world, monkeypatch):
    sent = []
    sync = world.om.sync
    monkeypatch.setattr(world.om, "sync", lambda messages, *place: sent.append(messages) or sync(messages, *place))
    player = Player(world.om, 25, None)
    player.play([said(f"turn {n}") for n in range(50)], lambda _: None)

    assert [len(messages) for messages in sent] == [25, 35]
    assert [bool(message.id) for message in sent[1]] == [True] * 10 + [False] * 25
    assert (player.added, player.known, player.messages) == (50, 0, 50)


def test_a_store_that_goes_away_in_between_is_told_with_what_was_sent(world, monkeypatch):
    sync = world.om.sync

    def failing(messages, *place):
        if any(message.content == "turn 4" for message in messages):
            raise StoreError("the store is away.", stored=False)
        return sync(messages, *place)

    monkeypatch.setattr(world.om, "sync", failing)
    with pytest.raises(StoreError, match=r"away\. The 4 messages before it were sent and stay") as found:
        Player(world.om, 2, None).play([said(f"turn {n}") for n in range(6)], lambda _: None)

    assert found.value.stored is False
    assert len(world.covering()) == 4


def test_what_says_something_else_is_counted_once(world):
    player = Player(world.om, 2, None)
    world.om.add_message(said("first", id="m-1"))
    talk = [said("second", id="m-1"), *(said(f"turn {n}") for n in range(7))]
    player.play(talk, lambda _: None)

    assert ([each.id for each in player.changed], player.added, player.known) == (["m-1"], 7, 0)
