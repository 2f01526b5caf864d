"""What a context shows of the past by itself: about the newest message, at one round trip, and never at a context's cost."""

import pytest
from scene import cleared, erasing, filled, observed, push, pushing, seal, trips
from world import SMALL

from om_api import Message, ObservationalMemory, StoreError, load_settings
from om_api.client import recalling
from om_api.client.core import Core
from om_api.client.recalling import unanswered
from om_api.domain.values import Scope
from om_api.store.threads.describing import set_memory_mode

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


def test_what_is_recalled_does_not_break_the_cap_of_a_context(store, prefix):
    filled(store)
    ask(store, "what about 3?")
    for cap in ("250", "390", "450"):
        core = new_core(prefix, OM_CONTEXT_MAX_TOKENS=cap, OM_RECALL__TOKENS="100000", **NO_EXCERPTS)
        plain_core = new_core(prefix, OM_CONTEXT_MAX_TOKENS=cap, OM_RECALL__AUTO="false", **NO_EXCERPTS)
        bare = context(store, plain_core)[0].tokens
        assert context(store, core)[0].tokens <= max(int(cap), bare), cap


def test_a_context_recalls_the_newest_messages_of_a_backlog(store, prefix, monkeypatch):
    """Catches a hit that is read at its place among the messages that were read, and not at its place in the thread."""
    monkeypatch.setattr(recalling, "_MOST_RAW", 10)
    filled(store)
    push(store, *range(40, 80), thread="t2")
    ask(store, "the tulip is red", 81, thread="t2")
    ask(store, "which tulip?")
    assert shown(store, new_core(prefix, **NO_EXCERPTS)) == ["m81"]
    store.run(set_memory_mode(store.keys, "harold", "t1", "off"))
    assert shown(store, new_core(prefix, **NO_EXCERPTS)) == []


def test_recall_can_be_turned_off(store, prefix):
    filled(store)
    ask(store, "what about 3?")

    off, on = new_core(prefix, OM_RECALL__AUTO="false"), new_core(prefix)
    assert context(store, off)[1] < context(store, on)[1]
    assert shown(store, new_core(prefix, OM_RECALL__AUTO="false")) == []
    assert shown(store, new_core(prefix, OM_RECALL__TOKENS="0")) == []
    assert shown(store, new_core(prefix)) == ["m3"]


def test_a_warm_reader_pays_one_round_trip_where_something_is_found_and_none_where_nothing_is(store, core):
    filled(store)
    ask(store, "what about 3?")
    context(store, core)
    again = context(store, core)
    ask(store, "and 4, or what?", n=91)
    other = context(store, core)
    ask(store, "any walnuts?", n=92)
    nothing = context(store, core)

    found = [(took, [hit.id for hit in made.recalled]) for made, took in (again, other, nothing)]
    assert found == [(2, ["m3"]), (2, ["m4"]), (1, [])]


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


def test_context_in_thread_scope_recalls_its_own_thread_alone(store, prefix):
    core = new_core(prefix, OM_SCOPE="thread")
    observed(store, "o1", 1, 2, scope=Scope("harold", "t1"))
    observed(store, "o2", 31, thread="t2", scope=Scope("harold", "t2"))
    for n, hits in ((2, ["m2"]), (31, [])):
        ask(store, f"what about {n}?", n=90 + n)
        assert shown(store, core) == hits, n


def test_context_looks_up_what_it_does_not_show_as_it_was_said(store, core):
    filled(store)
    found = {1: ["m1"], 3: ["m3"], 31: ["m31"], 33: [], 5: [], 8: [], 10: []}  # 33 stands in an excerpt of its thread
    for at, (n, hits) in enumerate(found.items()):
        ask(store, f"what about {n}?", n=90 + at)
        made, _ = context(store, core)
        assert [hit.id for hit in made.recalled] == hits, n
        assert volatile(made).count(f"turn {n}\n") == len(hits) + (n == 33), n


@pytest.mark.parametrize("how", ["cleared", "erased", "replaced"])
def test_context_reads_what_was_raw_elsewhere_again_before_it_shows_it(store, prefix, client, how):
    """Catches a text of before that stands as many tokens and messages as one of now: the counts of its thread tell nothing."""
    core = new_core(prefix, **NO_EXCERPTS)
    seal(store, "c1", 1)
    om = ObservationalMemory(load_settings(None, {**SMALL, "OM_PREFIX": prefix}), client=client)
    ask(store, "the code is walnut", n=50, thread="t2")
    ask(store, "what is the code?")
    assert "walnut" in volatile(context(store, core)[0])
    if how == "cleared":
        cleared(store)
    elif how == "erased":
        store.run(erasing(store, "the code is walnut"))
    else:
        (was,) = om.messages("harold", "t2")
        same = ("role", "id", "thread_id", "resource_id", "tokens", "timestamp")
        fields = {name: getattr(was, name) for name in same}
        om.add_message(Message(**fields, content="the code is marble"), replace=True)
    if how != "replaced":
        ask(store, "the code is marble", n=51, thread="t2")
    ask(store, "what is the code?", n=91)
    made, _ = context(store, core)

    assert "walnut" not in volatile(made)
    assert "the code is marble" in "".join(hit.text for hit in made.recalled)


def test_the_newest_message_is_the_users_last_unless_it_is_answered():
    call = {"type": "tool-call", "tool_call_id": "c", "name": "look", "args": {}}
    result = {"type": "tool-result", "tool_call_id": "c", "name": "look", "result": "x"}
    told = ("user", "a")
    for talk, newest in (
        ([], None), ([told, ("user", "b")], "b"), ([told, ("assistant", "b")], None),
        ([told, ("assistant", "b"), ("user", "c")], "c"), ([told, ("assistant", [call]), ("tool", [result])], "a"),
        ([told, ("assistant", [{"type": "text", "text": "let me look"}, call])], "a"),
        ([told, ("assistant", "  ")], "a"), ([told, ("system", "be kind")], "a"), ([("assistant", "hello")], None),
        ([("tool", [result])], None),
    ):  # fmt: skip
        found = unanswered([Message(role=role, content=content) for role, content in talk])
        assert (found and found.text()) == newest, talk
