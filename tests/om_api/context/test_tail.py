"""The tail of a context: raw messages with the lines between their days, cut to a room."""

from snapshots import DAY, NOON, said

from om_api.context.signature import Signer
from om_api.context.tail import Tails
from om_api.context.view import View

MESSAGES = [said(f"turn {n}", NOON + n * DAY, tokens=100) for n in range(4)]
TAILS = Tails(lambda text: len(text.split()))


def tail(*, first=True):
    return TAILS(MESSAGES, Signer(), View(), first=first)


def test_blocks_are_lines_and_messages_and_so_are_the_tokens():
    blocks, tokens = tail().parts()

    assert [block.kind for block in blocks] == ["day", "message"] * 4
    assert tokens == sum(block.tokens for block in blocks)


def test_from_a_place_on_the_first_day_is_told_anew():
    blocks, _ = tail().since(2).parts()
    unnoted, _ = tail(first=False).since(2).parts()

    assert "Up to here" not in blocks[0].text
    assert [block.kind for block in unnoted] == ["message", "day", "message"]


def test_a_cut_leaves_room_for_the_lines():
    for room in range(150, 500):
        start = tail().cut(room)
        _, tokens = tail().since(start).parts()
        _, more = tail().since(max(0, start - 1)).parts()

        assert tokens <= room
        assert start == 0 or more > room - 20  # a line is kept room for, be it needed or not


def test_what_stands_where_it_stood_is_the_same():
    one, another = tail().parts()[0], tail().parts()[0]

    assert all(new is old for new, old in zip(one, another, strict=True))
