"""Recall over HTTP: what was said is found by its words, by whoever may read it; bad input is told what is wrong."""

import msgspec
import pytest
from refusals import problem

HAROLD = "/v1/resources/harold"
RECALL = f"{HAROLD}/recall"
CALL = {"id": "c-1", "type": "function", "function": {"name": "look", "arguments": '{"what": "visa"}'}}


@pytest.fixture
def told(full):
    """Harold's memory in all tiers; a passport was spoken of early, a visa at last, by way of a tool."""
    full.say("My passport number is 4711.", id="early", thread="t-3")
    full.settle()
    for n in range(6):
        full.say(*(f"filler {n} {each}" for each in range(6)), thread="t-3")
        full.settle()
        full.context("t-3")
    full.om.add_messages(
        [
            {"id": "ask", "role": "user", "content": "Is my visa valid?"},
            {"id": "call", "role": "assistant", "content": None, "tool_calls": [CALL]},
            {"id": "result", "role": "tool", "tool_call_id": "c-1", "content": "until March 2027"},
        ],
        thread_id="t-4",
        resource_id="harold",
    )
    return full


@pytest.fixture
def recall(told, ask):
    return lambda q, **limits: ask("GET", RECALL, params={"q": q, **limits})


def found(answer):
    return [(hit["kind"], hit["id"]) for hit in answer.json()["hits"]]


def test_what_is_answered_is_what_the_library_answers(told, recall):
    for query, limits in (("passport number", {}), ("about", {"limit": 3, "around": 2}), ("nothing of it", {})):
        answer = recall(query, **limits).json()

        assert _named(answer) == _named(msgspec.to_builtins(told.om.recall(query, "harold", **limits), order="sorted"))


def _named(answer):
    """An answer, of whose messages only the ids are looked at."""
    ids = [
        (hit["message"]["id"], *([turn["id"] for turn in hit[side]] for side in ("before", "after")))
        for hit in answer["hits"]
    ]
    hits = [
        {name: hit[name] for name in ("kind", "id", "at", "text", "score", "certainty", "covered_by")}
        for hit in answer["hits"]
    ]
    return ids, hits, [answer[name] for name in ("query", "next", "reason")]


def test_a_hit_says_where_it_was_said_when_by_whom_and_what_stands_for_it(recall):
    (hit,) = recall("passport").json()["hits"]

    assert (hit["id"], hit["thread_id"], hit["role"], hit["matched"]) == ("early", "t-3", "user", ["passport"])
    assert (hit["message"]["at"], hit["message"]["content"]) == (hit["at"], "My passport number is 4711.")
    assert hit["covered_by"].startswith("observation ")


def test_a_call_comes_with_its_result_though_no_turns_are_asked_for(recall):
    (hit,) = recall("until March", role="tool", around=0).json()["hits"]

    assert (hit["id"], [turn["id"] for turn in hit["before"]]) == ("result", ["call"])


def test_what_is_searched_and_by_whom_it_was_said_can_be_limited(recall):
    assert found(recall("passport", role=["assistant", "tool"])) == []
    assert found(recall("passport", role=["assistant", "user"])) == [("message", "early")]
    assert found(recall("passport", thread_id="t-4")) == []
    assert found(recall("passport", before="2020-01-01")) == []
    assert found(recall("passport", after="2020-01-01", before="9999-01-01")) == [("message", "early")]
    assert {kind for kind, _ in found(recall("passport", kind=["observation", "generation"]))} == {"observation"}
    noted = found(recall("about", kind=["observation", "generation"], limit=100))
    assert {kind for kind, _ in noted} == {"observation", "generation"}


def test_every_hit_is_seen_once_by_going_on_where_an_answer_ended(recall):
    seen, offset = [], 0
    while offset is not None:
        page = recall("about", limit=7, offset=offset).json()
        seen += [hit["id"] for hit in page["hits"]]
        offset = page["next"]

    assert sorted(seen) == sorted([*(f"a-{n}" for n in range(20)), *(f"b-{n}" for n in range(12))])
    assert len(recall("about", max_tokens=350, around=0).json()["hits"]) == 3


def test_who_was_never_heard_of_has_nothing_that_could_be_found(using):
    answer = using("reader", "nobody")("GET", "/v1/resources/nobody/recall", params={"q": "passport"})

    assert (answer.status_code, answer.json()["hits"]) == (200, [])
    assert answer.json()["reason"].startswith("nothing that is kept holds these words")


def test_what_is_accepted_is_found_at_once_and_what_is_erased_no_more(recall, say, ask):
    say("m-new", content="The kennel is called Barkwood.")
    assert found(recall("Barkwood")) == [("message", "m-new")]
    ask("POST", f"{HAROLD}/erase", json={"matching": "Barkwood"})

    assert found(recall("Barkwood", kind=["message", "observation", "generation"])) == []


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("", "the query holds no word"),
        (" \t\n ", "the query holds no word"),
        ("?!", "the query holds no word"),
        ("\x00\x07\x1b", "the query holds no word"),
        ('""', "the query holds no word"),
        ("-passport", "the query only excludes"),
        ("xylophone", "nothing that is kept holds these words"),
        ("the of and", "nothing that is kept holds these words"),
    ],
)
def test_what_finds_nothing_is_answered_with_why(recall, query, why):
    answer = recall(query)

    assert (answer.status_code, answer.json()["hits"], answer.json()["query"]) == (200, [], query)
    assert answer.json()["reason"].startswith(why)


@pytest.mark.parametrize("query", ['"passport', 'passport"', "\x00passport\x1b", "passport " + "the " * 15_000])
def test_what_is_broken_or_long_finds_what_it_can(recall, query):
    answer = recall(query)

    assert (answer.status_code, found(answer)) == (200, [("message", "early")])
    told = ["only the first 8,000 characters of the query were read"]
    assert answer.json()["notes"] == (told if len(query) > 20_000 else [])


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({}, "query.q: Field required"),
        ({"q": "x", "after": "nonsense"}, "after is 'nonsense': use a date such as"),
        ({"q": "x", "before": ""}, "before is '': use a date such as"),
        ({"q": "x", "after": "9" * 101}, "query.after: String should have at most 100"),
        ({"q": "before:someday x"}, "before:someday is no date: use"),
        ({"q": "role:robot x"}, "role:robot is none: use one of"),
        ({"q": "thread:../x"}, "is not an id: use"),
        ({"q": "-thread:t-1 x"}, "cannot be excluded"),
        ({"q": "x", "thread_id": "a\x00b"}, "query.thread_id"),
        ({"q": "x", "thread_id": ".."}, "thread_id '..' is not an id"),
        ({"q": "x", "role": ["user", "robot"]}, "query.role[1]: Input should be 'user', 'assistant', 'system' or"),
        ({"q": "x", "kind": "note"}, "query.kind[0]: Input should be 'message', 'observation' or 'generation'"),
        ({"q": "x", "limit": 0}, "query.limit: Input should be greater than or equal to 1"),
        ({"q": "x", "limit": 101}, "query.limit: Input should be less than or equal to 100"),
        ({"q": "x", "around": 21}, "query.around: Input should be less than or equal to 20"),
        ({"q": "x", "offset": -1}, "query.offset"),
        ({"q": "x", "max_tokens": "many"}, "query.max_tokens: Input should be a valid integer"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(ask, params, says):
    assert says in problem(ask("GET", RECALL, params=params), 422)["detail"]


# -- around ------------------------------------------------------------------------------------------------------------


def test_a_message_of_any_tier_is_shown_among_its_thread(told, ask):
    for name in ("a-3", "a-14", "a-19"):
        answer = ask("GET", f"{HAROLD}/messages/{name}/around", params={"before": 2, "after": 1}).json()
        own = told.om.browse(name, "harold", before=2, after=1)

        assert (answer["thread_id"], answer["message"]["id"]) == ("t-1", name)
        assert [turn["id"] for turn in answer["before"]] == [message.id for message in own.before]
        assert [turn["id"] for turn in answer["after"]] == [message.id for message in own.after]
        assert (answer["earlier"], answer["later"]) == (True, name != "a-19")


def test_a_thread_can_be_walked_from_any_message_to_its_beginning(told, ask):
    seen, at, more = ["a-9"], "a-9", True
    while more:
        page = ask("GET", f"{HAROLD}/messages/{at}/around", params={"before": 4, "after": 0}).json()
        seen = [*(turn["id"] for turn in page["before"]), *seen]
        at, more = seen[0], page["earlier"]

    assert seen == [f"a-{n}" for n in range(10)]


def test_one_id_in_two_threads_is_told_apart_by_its_thread(told, ask):
    for thread in ("t-8", "t-9"):
        told.say(f"hello {thread}", id="same", thread=thread)
        answer = ask("GET", f"{HAROLD}/messages/same/around", params={"thread_id": thread}).json()

        assert (answer["thread_id"], answer["message"]["content"]) == (thread, f"hello {thread}")


def test_a_message_of_which_nothing_is_kept_is_not_found(told, ask):
    missing = problem(ask("GET", f"{HAROLD}/messages/m-99/around"), 404)["detail"]
    elsewhere = problem(ask("GET", f"{HAROLD}/messages/a-1/around", params={"thread_id": "t-2"}), 404)["detail"]

    assert missing.startswith("harold keeps no message m-99: check the id")
    assert elsewhere.startswith("harold's thread t-2 keeps no message a-1")


@pytest.mark.parametrize(
    "asked", ["a-1/around?before=101", "a-1/around?after=-1", "a b/around", "a-1/around?thread_id="]
)
def test_what_is_no_message_and_no_number_of_turns_is_refused(ask, asked):
    problem(ask("GET", f"{HAROLD}/messages/{asked}"), 422)


# -- whose it is -------------------------------------------------------------------------------------------------------


def test_a_key_of_another_resource_finds_nothing(told, using):
    told.say("albert's own passport", id="his", resource="albert")
    his = using("reader", "albert")

    assert found(his("GET", "/v1/resources/albert/recall", params={"q": "passport"})) == [("message", "his")]
    problem(his("GET", "/v1/resources/albert/messages/early/around"), 404)
    for path in ("recall?q=passport", "messages/early/around"):
        assert "4711" not in his("GET", f"{HAROLD}/{path}").text
        assert "bound to harold" in problem(his("GET", f"{HAROLD}/{path}"), 403)["detail"]
