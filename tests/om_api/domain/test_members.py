"""Raw members: judged, paired, cut in pieces."""

from itertools import permutations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain import pieces
from om_api.domain.identity import GOES_ON, KnownId, record_of
from om_api.domain.judging import Judgement, RawMember, Verdict
from om_api.domain.messages import Message
from om_api.domain.pieces import Lead
from om_api.domain.tool_calls import Exchange, exchanges, matched, named, whole_from
from om_api.domain.values import Generation, TextPiece

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


def test_of_forms_that_grew_the_longest_stays_where_its_beginning_stood():
    for order in [*permutations(["a", "ab", "abc"])]:
        judgement = judged([raw(text, n) for n, text in enumerate(order)])
        assert sorted(verdict.verb for verdict in judgement.verdicts.values()) == ["drop", "drop", "keep"], order
        assert judgement.verdicts[f"abc/{order.index('abc')}".encode()].verb == "keep", order
        assert judgement.records == [(b"", record_of(raw("abc").message))], order
    judgement = judged([raw("a", 3), raw("ab", 5)])
    assert judgement.verdicts[b"ab/5"] == Verdict("keep", score=AT + 3, tokens=6)
    assert judged([raw("a", score=0)]).verdicts[b"a/0"].score == AT
    assert judged([raw("a")]).verdicts[b"a/0"].score == ""


def test_a_copy_is_dropped_and_what_says_otherwise_rejected_and_more_of_what_is_sealed_is_the_rest_of_the_longest():
    judgement = judged([raw("other", 0), raw("a", 1)], known("a"))
    assert verbs(judgement) == {"other/0": "reject", "a/1": "keep"}
    assert judgement.verdicts[b"other/0"].what == b"entry of other/0"
    assert judgement.records == []
    judgement = judged([raw("a"), raw("b", 1)], known("a", day=9))
    assert verbs(judgement) == {"a/0": "drop", "b/1": "reject"}
    assert judgement.records == []
    judgement = judged([raw("ab"), raw("abc", 1), raw("ab", 2)], known("a", day=9))
    assert verbs(judgement) == {"ab/0": "drop", "ab/2": "drop"}
    judgement.go_on("g", 0, None, "g")
    rest = judgement.verdicts[b"abc/1"]
    assert (rest.verb, rest.score, b'"id":"g+1"' in rest.what, b'"content":"bc"' in rest.what) == (
        "turn", AT + 1, True, True)  # fmt: skip
    assert [KnownId.of(becomes).day for _, becomes in judgement.records] == [GOES_ON, 0]
    assert judgement.records[0][0] == known("a", day=9).record


def call(name="", tool="f"):
    return {"type": "tool-call", "name": tool, "args": {}} | ({"tool_call_id": name} if name else {})


def result(name="", tool="f"):
    return {"type": "tool-result", "name": tool, "result": "x"} | ({"tool_call_id": name} if name else {})


def talk(*turns):
    roles = {str: "user", list: "assistant"}
    return [Message(role=roles[type(turn)], content=turn) for turn in turns]


def links(*turns):
    made = exchanges(talk(*turns))
    places = {name: place for place, each in enumerate(made) for name in each.calls}
    return [(places[name], place) for place, each in enumerate(made) for name in each.answers if name in places]


def test_results_are_paired_by_id_or_by_name_in_order_and_view_begins_where_it_parts_no_exchange():
    for turns, pairs in [
        ([[call()], [result()]], [(0, 1)]), ([[call(), call()], [result()], [result()]], [(0, 1), (0, 2)]),
        ([[call()], [result()], [call()], [result()]], [(0, 1), (2, 3)]),
        ([[call(tool="g")], [call()], [result()], [result(tool="g")]], [(1, 2), (0, 3)]),
        ([[call("a")], [result()]], [(0, 1)]), ([[call()], [result("a")]], [(0, 1)]),
        ([[call("b")], [result("a")]], []), ([[call("a")], [result("a")], [result()]], [(0, 1)]),
        ([[call()], [result(tool="g")]], []), ([[result()], [call()]], []),
    ]:  # fmt: skip
        assert links(*turns) == pairs, (turns, pairs)
    made = exchanges(talk("hi", [call("a"), call("b")], [result("a")], [result("gone")]))
    gone = Exchange(answers=frozenset({"gone"}))
    assert made == [Exchange(), Exchange(calls=frozenset("ab")), Exchange(answers=frozenset("a")), gone]
    calls = [call("a"), call("b"), call(), call("c", "g"), call("a")]
    results = [result("c"), result("b"), result("a"), result("", "g"), result("d"), result("a")]
    assert matched(calls, results) == [(calls[n], results[m]) for n, m in enumerate((2, 1, 4, 0))]
    messages = talk("hi", [call("a"), call("b")], [result("a")], [result("b")], "so?", "yes")
    assert [whole_from(messages, first) for first in range(6)] == [0, 1, 4, 4, 4, 5]
    messages = talk("hi", [call("a"), call("b")], ["let me see"], [result("b")], [result("a")])
    assert [whole_from(messages, first) for first in range(5)] == [0, 1, 1, 1, 1]
    # A call a long way back would take room that the view has not, and stands apart from its result anyway.
    messages = talk("hi", [call("a")], "wait", "still", [result("a")])
    assert [whole_from(messages, first) for first in range(5)] == [0, 1, 2, 3, 4]


def test_a_result_says_the_name_that_its_call_has():
    names = {}
    asked, told, *others = talk(
        [call("c-1")], [result("c-1", "")], [result("c-2", "")], [result("c-1", "g")], [result("", "")]
    )
    assert named(asked, names) is asked
    assert named(told, names).content == [result("c-1", "f")]
    assert told.content == [result("c-1", "")]
    assert [named(other, names) for other in others] == others


KNOWN = ("t1", "t2", "t3")
LINES = ["* a", "* b", "", "Date: Nov 20, 2025", '<thread id="t1">', '<thread id="t2">', '<thread id="x">', "</thread>"]


def moved(found, *, pooled):
    text = pieces.text_of(found, pooled=pooled)
    return Generation(n=1, text=text, origin="restore", pieces=tuple(each.piece for each in found))


def apart(pool, threads=KNOWN):
    return {name: moved(pieces.of_thread(pool, name), pooled=False) for name in threads}


def together(generations, threads=KNOWN):
    return pieces.of_threads({name: Lead(f"{name}:1", each) for name, each in generations.items()}, threads)


def pool_of(text, origin="reflection"):
    return Lead("e:5", Generation(n=5, text=text, origin=origin))


def copied(*texts):
    return {f"t{n}": Generation(n=1, text=text, origin="restore") for n, text in enumerate(texts, 1)}


@given(st.lists(st.sampled_from(LINES), max_size=20))
def test_any_text_comes_back_once_and_is_stable_from_then_on(lines):
    pool = pieces.of_pool(pool_of("\n".join(lines)), KNOWN)
    text = pieces.text_of(pool, pooled=True)
    back = moved(together(apart(pool)), pooled=True)
    again = pieces.of_pool(Lead("f:1", back), KNOWN)
    # a thread that was told nothing keeps no heading either
    threads = {name for name in KNOWN if pieces.of_thread(pool, name)}
    said = [each for each in pool if (each.piece.thread or next(iter(threads), None)) in threads]
    assert text.replace("&lt;", "<") == "\n".join(lines)
    assert back.text == pieces.text_of(said, pooled=True)
    assert moved(together(apart(again)), pooled=True).text == back.text
    assert list(pieces.faults(back, pooled=True)) == []


def test_pieces_name_where_they_came_from_and_who_had_words_of_its_own_is_not_given_the_common_ones_again():
    pool = pieces.of_pool(pool_of('* a\n<thread id="t2">\n* b\n* c\n</thread>\n* d'), KNOWN)
    assert [each.piece for each in pieces.of_thread(pool, "t2")] == [
        TextPiece(origin="e:5", at=0, lines=1), TextPiece(origin="e:5", at=1, lines=2, thread="t2"),
        TextPiece(origin="e:5", at=2, lines=1)]  # fmt: skip
    pool = pieces.of_pool(pool_of('* a\n<thread id="t1">\n* b\n</thread>\n<thread id="x">\n* c\n</thread>'), KNOWN)
    assert pieces.text_of(pieces.without(pool, "t1"), pooled=True) == '* a\n<thread id="x">\n* c\n</thread>'
    rest = moved(pieces.without(pieces.without(pool, "t1"), "x"), pooled=True)
    assert (rest.text, list(pieces.faults(rest, pooled=True))) == ("* a", [])
    twice = msgspec.structs.replace(rest, text=f"{rest.text}\n{rest.text}", pieces=rest.pieces * 2)
    assert list(pieces.faults(twice, pooled=True)) == ["holds piece 0 of generation e:5 2 times"]
    more = msgspec.structs.replace(rest, text=f"{rest.text}\n* more")
    assert list(pieces.faults(more, pooled=True)) == ["is not made of the pieces that it names"]
    pool = pieces.of_pool(pool_of('* a\n<thread id="t1">\n* b\n</thread>'), KNOWN)
    leads = {**apart(pool), "t1": Generation(n=2, text="* a and b"), "new": Generation(n=1, text="* new")}
    back = moved(together(leads, [*KNOWN, "new", "noted"]), pooled=True)
    again = apart(pieces.of_pool(Lead("f:1", back), [*KNOWN, "new", "noted", "later"]), [*leads, "noted", "later"])
    assert back.pieces[0].lacking == ("new", "noted", "t1")
    assert {name: each.text for name, each in again.items()} == {
        **{name: each.text for name, each in leads.items()}, "noted": "", "later": "* a"}  # fmt: skip
