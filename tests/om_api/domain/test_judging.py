"""The verdict on a raw set's members: of any id one message stays, whichever form and order they come in."""

from itertools import permutations

import pytest

from om_api.domain.identity import GOES_ON, KnownId, record_of
from om_api.domain.judging import Judgement, RawMember, Verdict
from om_api.domain.messages import Message

AT = 1_763_600_000_000


def raw(text, n=0, score=AT, **more):
    message = Message(id="g", role="user", content=text, **more)
    return RawMember(f"{text}/{n}".encode(), score + n, AT + n, message)


def judged(members, known=None):
    judgement = Judgement({"g": known} if known else {}, len, lambda each: b"entry of " + each.member)
    judgement.judge(members)
    return judgement


def known(text, day=0):
    return KnownId.of(record_of(raw(text).message, day))


def verbs(judgement):
    return {member.decode(): verdict.verb for member, verdict in judgement.verdicts.items()}


@pytest.mark.parametrize("order", [*permutations(["a", "ab", "abc"])])
def test_of_forms_that_grew_the_longest_stays_whatever_the_order(order):
    judgement = judged([raw(text, n) for n, text in enumerate(order)])

    assert sorted(verdict.verb for verdict in judgement.verdicts.values()) == ["drop", "drop", "keep"]
    assert judgement.verdicts[f"abc/{order.index('abc')}".encode()].verb == "keep"
    assert judgement.records == [(b"", record_of(raw("abc").message))]


def test_what_grew_stands_where_its_beginning_stood():
    judgement = judged([raw("a", 3), raw("ab", 5)])

    assert judgement.verdicts[b"ab/5"] == Verdict("keep", score=AT + 3, tokens=6)


def test_the_counted_one_stays_and_what_says_otherwise_is_rejected():
    judgement = judged([raw("other", 0), raw("a", 1)], known("a"))

    assert verbs(judgement) == {"other/0": "reject", "a/1": "keep"}
    assert judgement.verdicts[b"other/0"].what == b"entry of other/0"
    assert judgement.records == []


def test_a_copy_of_what_is_sealed_is_dropped_and_what_says_otherwise_rejected():
    judgement = judged([raw("a"), raw("b", 1)], known("a", day=9))

    assert verbs(judgement) == {"a/0": "drop", "b/1": "reject"}
    assert judgement.records == []


def test_more_of_what_is_sealed_is_the_rest_of_the_longest():
    judgement = judged([raw("ab"), raw("abc", 1), raw("ab", 2)], known("a", day=9))
    assert verbs(judgement) == {"ab/0": "drop", "ab/2": "drop"}

    judgement.go_on("g", 0, None, "g")
    rest = judgement.verdicts[b"abc/1"]
    assert (rest.verb, rest.score, b'"id":"g+1"' in rest.what, b'"content":"bc"' in rest.what) == (
        "turn",
        AT + 1,
        True,
        True,
    )
    assert [KnownId.of(becomes).day for _, becomes in judgement.records] == [GOES_ON, 0]
    assert judgement.records[0][0] == known("a", day=9).record


def test_a_score_is_repaired_only_where_it_must_be():
    assert judged([raw("a", score=0)]).verdicts[b"a/0"].score == AT
    assert judged([raw("a")]).verdicts[b"a/0"].score == ""
