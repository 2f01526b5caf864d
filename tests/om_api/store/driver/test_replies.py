"""Commands say what they reply: the same value, in whichever form a client gives it."""

import pytest

from om_api.domain.values import Outcome
from om_api.store.driver.replies import (
    as_bool,
    as_fields,
    as_float,
    as_hash,
    as_int,
    as_names,
    as_pairs,
    number,
    outcome,
    says,
    server_ms,
    word,
    write,
)


def value(batch, *replies):
    return batch.decode(iter(replies))


@pytest.mark.parametrize(
    ("ask", "reply", "expected"),
    [
        (as_hash("HGETALL", "h"), {b"a": b"1"}, {b"a": b"1"}),
        (as_hash("HGETALL", "h"), [b"a", b"1"], {b"a": b"1"}),
        (as_pairs("ZRANGE", "z", 0, -1, "WITHSCORES"), [(b"a", 1.5)], [(b"a", 1.5)]),
        (as_pairs("ZRANGE", "z", 0, -1, "WITHSCORES"), [b"a", b"1.5"], [(b"a", 1.5)]),
        (as_float("ZSCORE", "z", "a"), b"1.5", 1.5),
        (as_float("ZSCORE", "z", "a"), None, None),
        (as_fields("HMGET", "h", "a", "b"), [b"1", None], [b"1", None]),
        (as_names("ZRANGE", "z", 0, -1), [b"a", b"\xff"], ["a", "\ufffd"]),
        (as_int("LLEN", "l"), None, 0),
        (as_bool("EXISTS", "k"), 0, False),
        (as_bool("SET", "k", 1, "NX"), b"OK", True),
        (server_ms(), [b"1790000000", b"5999"], 1_790_000_000_005),
    ],
)
def test_a_reply_is_one_value_in_whichever_form_a_client_gives_it(ask, reply, expected):
    assert value(ask, reply) == expected


def test_what_is_written_takes_its_replies_and_gives_none():
    replies = iter([b"OK", 1, b"the next one's"])

    assert write(("SET", "k", 1), ("EXPIRE", "k", 60)).decode(replies) is None
    assert [*replies] == [b"the next one's"]


def test_what_scripts_say_is_read_as_what_it_means():
    assert (outcome(b"sealed"), outcome([b"superseded", 3])) == (Outcome.SEALED, Outcome.SUPERSEDED)
    assert (word(b"open"), word(None)) == ("open", "")
    assert (number(b"3"), number(None)) == (3, 0)
    assert [says(b"rest")(reply) for reply in (b"rest", b"due")] == [True, False]
