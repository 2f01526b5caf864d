"""What a context shows of the past by itself: about the newest message, at one round trip, and never at a context's cost."""

import pytest
from scene import cleared, clearing_thread, erasing, filled, observed, push, pushing, seal, trips
from structlog.testing import capture_logs
from world import SMALL

from om_api import Message, ObservationalMemory, StoreError, load_settings
from om_api.client import recalling
from om_api.client.core import Core
from om_api.client.recall import recall_hits
from om_api.client.recall.recall_query import RecallLimits, recall_query
from om_api.client.recalling import unanswered
from om_api.domain.values import Scope

NO_EXCERPTS = {"OM_OTHER_THREADS__TOTAL_TOKENS": "0"}


def new_core(prefix, **changed):
    return Core(load_settings(None, {**SMALL, "OM_PREFIX": prefix, **changed}), lambda text: len(text.split()))


@pytest.fixture(autouse=True)
def a_little_certainty_is_enough(monkeypatch):
    """So few messages of so few words are told from chance by little."""
    monkeypatch.setattr(recalling, "SURE", 0.02)


@pytest.fixture
def core(prefix):
    return new_core(prefix)


def ask(store, text, n=90, thread="t1", role="user"):
    """A message of the thread, newer than all others."""
    at = 1_763_600_000_000 + n * 1000
    made = Message(role=role, content=text, id=f"m{n}", thread_id=thread, resource_id="harold", tokens=10, at=at)
    store.run(pushing(store, [made]))


def context(store, core, thread="t1"):
    return store.run(trips(core.contexts.of("harold", thread)))


def shown(store, core, thread="t1"):
    return [hit.id for hit in context(store, core, thread)[0].recalled]


def volatile(made):
    return "".join(block.text for block in made.blocks if block.kind == "volatile")


@pytest.mark.parametrize("cap", ["250", "390", "450"])
def test_what_is_recalled_does_not_break_the_cap_of_a_context(store, prefix, cap):
    core = new_core(prefix, OM_CONTEXT_MAX_TOKENS=cap, OM_RECALL__TOKENS="100000", **NO_EXCERPTS)
    filled(store)
    ask(store, "what about 3?")
    plain_core = new_core(prefix, OM_CONTEXT_MAX_TOKENS=cap, OM_RECALL__AUTO="false", **NO_EXCERPTS)
    bare = context(store, plain_core)[0].tokens

    assert context(store, core)[0].tokens <= max(int(cap), bare)


# -- what is shown ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "found"),
    [(1, ["m1"]), (3, ["m3"]), (31, ["m31"]), (33, []), (5, []), (8, []), (10, [])],
    ids=[
        "reflected",
        "observed",
        "of another thread",
        "in an excerpt of another",
        "ready here",
        "sealed here",
        "raw here",
    ],
)
def test_what_a_context_does_not_show_as_it_was_said_is_looked_up(store, core, n, found):
    filled(store)
    ask(store, f"what about {n}?")
    made, _ = context(store, core)

    assert [hit.id for hit in made.recalled] == found
    assert volatile(made).count(f"turn {n}\n") == len(found) + (n == 33)


def test_what_the_actor_answered_is_asked_about_no_more(store, core):
    filled(store)
    ask(store, "what about 3?")
    before = shown(store, core)
    ask(store, "it was a turn", n=91, role="assistant")

    assert (before, shown(store, core)) == (["m3"], [])


def test_chance_is_not_shown(store, core, monkeypatch):
    """One word of eight, and that one in nearly every message, tells nothing."""
    monkeypatch.setattr(recalling, "SURE", 0.32)
    filled(store)
    ask(store, "whose turn was it to feed three yellow canaries near Lisbon?")

    assert shown(store, core) == []


def test_recall_can_be_turned_off(store, prefix):
    filled(store)
    ask(store, "what about 3?")

    off, on = new_core(prefix, OM_RECALL__AUTO="false"), new_core(prefix)
    assert context(store, off)[1] < context(store, on)[1]
    assert shown(store, new_core(prefix, OM_RECALL__AUTO="false")) == []
    assert shown(store, new_core(prefix, OM_RECALL__TOKENS="0")) == []
    assert shown(store, new_core(prefix)) == ["m3"]


def test_the_beginning_is_byte_for_byte_what_it_is_without(store, prefix):
    filled(store)
    ask(store, "what about 3?")
    with_, _ = context(store, new_core(prefix))
    without, _ = context(store, new_core(prefix, OM_RECALL__AUTO="false"))

    assert with_.recalled
    assert not without.recalled
    assert with_.blocks[:-1] == without.blocks[:-1]
    assert volatile(with_) != volatile(without)


def test_what_is_raw_in_another_thread_is_shown_where_no_excerpt_shows_it(store, prefix):
    filled(store)
    ask(store, "what about 33?")

    assert shown(store, new_core(prefix)) == []
    assert shown(store, new_core(prefix, **NO_EXCERPTS)) == ["m33"]


# -- what it costs ------------------------------------------------------------------------------------------------------


def test_a_fresh_agent_pays_nothing(store, core, prefix):
    ask(store, "what about 3?", n=1)
    first = context(store, core)[1]
    ask(store, "and 4?", n=2)

    assert (first, context(store, core)[1]) == (context(store, new_core(prefix, OM_RECALL__AUTO="false"))[1], 1)


def test_a_warm_reader_pays_one_round_trip_where_something_is_found_and_none_where_nothing_is(store, core):
    filled(store)
    ask(store, "what about 3?")
    context(store, core)
    again = context(store, core)
    ask(store, "and 4, or what?", n=91)
    other = context(store, core)
    ask(store, "any walnuts?", n=92)
    nothing = context(store, core)

    assert [(took, [hit.id for hit in made.recalled]) for made, took in (again, other, nothing)] == [
        *[(2, ["m3"]), (2, ["m4"])],
        (1, []),
    ]


def test_a_message_that_asks_nothing_costs_nothing(store, core):
    filled(store)
    context(store, core)
    ask(store, "and so?")

    assert context(store, core)[1] == 1


def test_what_was_sealed_or_said_elsewhere_costs_a_look(store, core):
    filled(store)
    ask(store, "what about 3?")
    context(store, core)
    push(store, 34, thread="t2")

    assert context(store, core)[1] == 3
    assert context(store, core)[1] == 2


# -- a reader that keeps what it read --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "gone", [lambda store: store.run(erasing(store, "turn 3")), cleared], ids=["erased", "cleared"]
)
def test_what_was_removed_is_not_shown_by_who_knew_it(store, core, gone):
    filled(store)
    ask(store, "what about 33?", thread="t1")
    ask(store, "what about 3?", n=91)
    assert shown(store, core) == ["m3"]
    gone(store)
    ask(store, "what about 3?", n=92)

    assert shown(store, core) == []


@pytest.mark.parametrize("sealed", [True, False], ids=["beside a memory", "where nothing was sealed"])
@pytest.mark.parametrize("how", ["cleared", "its thread cleared", "erased", "replaced"])
def test_what_was_raw_elsewhere_is_read_again_before_it_is_shown(store, prefix, client, how, sealed):
    """Catches a text of before that stands as many tokens and messages as one of now: the counts of its thread tell nothing."""
    core = new_core(prefix, **NO_EXCERPTS)
    if sealed:
        seal(store, "c1", 1)
    om = ObservationalMemory(load_settings(None, {**SMALL, "OM_PREFIX": prefix}), client=client)
    ask(store, "the code is walnut", n=50, thread="t2")
    ask(store, "what is the code?")
    before = volatile(context(store, core)[0])
    if how == "cleared":
        cleared(store)
    elif how == "its thread cleared":
        store.run(clearing_thread(store, "t2"))
    elif how == "erased":
        store.run(erasing(store, "the code is walnut"))
    else:
        (was,) = om.messages("harold", "t2")
        om.add_message(Message(**{**_fields(was), "content": "the code is marble"}), replace=True)
    if how != "replaced":
        ask(store, "the code is marble", n=51, thread="t2")
    ask(store, "what is the code?", n=91)
    made, _ = context(store, core)

    assert "walnut" in before
    assert ("walnut" in volatile(made), "the code is marble" in "".join(hit.text for hit in made.recalled)) == (
        False,
        True,
    )


def test_what_somebody_replaced_elsewhere_is_found_by_its_old_words_no_more(store, prefix, client):
    core = new_core(prefix, **NO_EXCERPTS)
    om = ObservationalMemory(load_settings(None, {**SMALL, "OM_PREFIX": prefix}), client=client)
    ask(store, "the code is walnut", n=50, thread="t2")
    ask(store, "is it walnut?")
    before = shown(store, core)
    (was,) = om.messages("harold", "t2")
    om.add_message(Message(**{**_fields(was), "content": "the code is marble"}), replace=True)

    assert (before, shown(store, core)) == (["m50"], [])


def _fields(message):
    return {name: getattr(message, name) for name in ("role", "id", "thread_id", "resource_id", "tokens", "timestamp")}


def test_what_has_expired_is_not_shown(store, core):
    filled(store)
    ask(store, "what about 3?")
    assert shown(store, core) == ["m3"]
    of = store.keys.of("harold")
    store.client.delete(of.source("o2"), of.segment("o2"))

    assert shown(store, core) == []
    assert shown(store, core) == []


def test_what_is_observed_while_it_is_looked_up_is_shown_all_the_same(store, prefix):
    core = new_core(prefix, **NO_EXCERPTS)
    filled(store)
    ask(store, "what about 33?")
    assert shown(store, core) == ["m33"]
    steps, reply, seen = core.contexts.of("harold", "t1"), None, 0

    def meanwhile():
        nonlocal reply, seen
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            seen += 1
            if seen == 2:  # the snapshot is read, and what it found is not yet
                observed(store, "o9", 34, thread="t2")
                seal(store, "c9", 33, thread="t2")
            reply = yield step

    assert [hit.id for hit in store.run(meanwhile()).recalled] == ["m33"]


def test_in_thread_scope_a_thread_sees_its_own_past(store, prefix):
    core = new_core(prefix, OM_SCOPE="thread")
    observed(store, "o1", 1, 2, scope=Scope("harold", "t1"))
    observed(store, "o2", 31, thread="t2", scope=Scope("harold", "t2"))
    ask(store, "what about 2?")
    own = shown(store, core)
    ask(store, "what about 31?", n=91)

    assert (own, shown(store, core)) == (["m2"], [])
    assert [hit.id for hit in store.run(core.recalling.recall("harold", _query("31"))).hits] == ["m31", "m91"]


def _query(text):
    none = {"thread_id": None, "roles": (), "kinds": (), "after": None, "before": None, "max_tokens": None}
    return recall_query(text, "UTC", RecallLimits(**none, limit=10, offset=0, around=0))


# -- when it fails ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [StoreError("away", stored=False), ValueError("odd"), RecursionError()])
@pytest.mark.parametrize(
    ("room", "broken"),
    [*((recalling, each) for each in ("search", "segments", "listing", "query_of_text")), (recall_hits, "stretches")],
)
def test_a_recall_that_fails_fails_no_context(store, core, monkeypatch, room, broken, error):
    filled(store)
    ask(store, "what about 3?")

    def failing(*_, **__):
        raise error

    monkeypatch.setattr(room, broken, failing)
    with capture_logs() as lines:
        made, _ = context(store, core)

    assert [message.id for message in made.messages][-1] == "m90"
    assert (made.recalled, made.unavailable) == ((), False)
    assert [(line["event"], line["resource"]) for line in lines] == [("recall_failed", "harold")]


def test_a_client_that_fails_open_has_its_context_without_the_store(client, prefix, monkeypatch):
    om = ObservationalMemory(load_settings(None, {**SMALL, "OM_PREFIX": prefix}), client=client, fail_open=True)
    om.add_message(Message(role="user", content="what about 3?", thread_id="t-1", resource_id="harold"))
    assert om.get_context("t-1", "harold").unavailable is False

    def away(*_, **__):
        raise StoreError("away", stored=False)
        yield

    monkeypatch.setattr(om._core.contexts, "of", away)
    made = om.get_context("t-1", "harold")

    assert (made.unavailable, made.recalled) == (True, ())
    assert [message.text() for message in made.messages] == ["what about 3?"]


def test_a_call_of_the_tool_is_answered_without_the_store_where_that_is_wanted(client, prefix, monkeypatch):
    settings = load_settings(None, {**SMALL, "OM_PREFIX": prefix})
    strict, om = (ObservationalMemory(settings, client=client, fail_open=opens) for opens in (False, True))

    def away(*_, **__):
        raise StoreError("away", stored=False)
        yield

    monkeypatch.setattr(recalling, "listing", away)

    assert om.answer_recall({"query": "passport"}, "harold").startswith(
        "Nothing was looked up: the memory could not be"
    )
    with pytest.raises(StoreError, match="away"):
        strict.answer_recall({"query": "passport"}, "harold")


# -- what is asked ------------------------------------------------------------------------------------------------------


def said(role, content):
    return Message(role=role, content=content)


CALL = {"type": "tool-call", "tool_call_id": "c", "name": "look", "args": {}}
RESULT = {"type": "tool-result", "tool_call_id": "c", "name": "look", "result": "x"}
HMM = {"type": "text", "text": "let me look"}


@pytest.mark.parametrize(
    ("messages", "newest"),
    [
        ([], None),
        ([said("user", "a")], "a"),
        ([said("user", "a"), said("user", "b")], "b"),
        ([said("user", "a"), said("assistant", "b")], None),
        ([said("user", "a"), said("assistant", "b"), said("user", "c")], "c"),
        ([said("user", "a"), said("assistant", [CALL]), said("tool", [RESULT])], "a"),
        ([said("user", "a"), said("assistant", [HMM, CALL])], "a"),
        ([said("user", "a"), said("assistant", "  ")], "a"),
        ([said("user", "a"), said("system", "be kind")], "a"),
        ([said("assistant", "hello")], None),
        ([said("tool", [RESULT])], None),
    ],
    ids=[
        "nothing",
        "asked",
        "asked twice",
        "answered",
        "asked again",
        "tools",
        "thought aloud",
        "blank",
        "told",
        "greeted",
        "rest",
    ],
)
def test_the_newest_message_is_the_users_last_unless_it_is_answered(messages, newest):
    found = unanswered(messages)

    assert (found and found.text()) == newest
