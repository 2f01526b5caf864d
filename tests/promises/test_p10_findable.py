"""P10: what was accepted is found by its own words, at once, once, whatever became of it; what was removed is found nowhere."""

from collections import Counter

import pytest
from world import World, contents

from om_api.domain.errors import StoreError
from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted

TIERS = ("reflected", "activated", "ready", "sealed", "raw")
PASSPORT = "my passport lies in the blue drawer"


@pytest.fixture(params=["resource", "thread"])
def house(request, client, prefix) -> World:
    return World(client, prefix, scope=request.param, observation_threshold="100000")


@pytest.fixture
def readers(house):
    """A client that asks again and again, and remembers what it read; one that asks for the first time."""

    def both():
        return house.om, type(house).face(house.settings, client=house.client)

    return both


def _seal(house):
    house.claim()
    _note(house)


def _note(house):
    verb, given = house.dispatch.queue.popleft()
    house.perform(verb, *given)


def _activate(house):
    house.om.force_observe("t-1", "harold")
    house.settle()


def _reflect(house):
    house.om.force_reflect("harold", "t-1")
    house.settle()
    assert house.om.generations("harold")


STEPS = {"raw": (), "sealed": (_seal,), "ready": (_seal, _note)}
STEPS["activated"] = (*STEPS["ready"], _activate)
STEPS["reflected"] = (*STEPS["activated"], _reflect)


def _every_tier(house):
    """Messages of one thread, of which three are in each tier; the id of the one in the middle by tier."""
    ids = {}
    for tier in TIERS:
        ids[tier] = house.say(f"{tier}before", f"the {tier} passport lies in the drawer", f"{tier}behind")[1]
        for step in STEPS[tier]:
            step(house)
    return ids


def _found(om, query, resource="harold", **limits):
    return [hit.id for hit in om.recall(query, resource, **limits).hits]


def _scope(house):
    return None if house.settings.memory.scope == "resource" else "t-1"


# -- what is kept is found ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tier", TIERS)
def test_a_message_is_found_by_its_words_in_every_tier(house, readers, tier):
    (name, *_) = house.say(PASSPORT, "one", "two")
    for step in STEPS[tier]:
        assert _found(house.om, "blue drawer") == [name]
        step(house)

    assert [_found(om, "blue drawer") for om in readers()] == [[name], [name]]


@pytest.mark.parametrize(
    ("tier", "covers"),
    [("raw", ""), ("sealed", ""), ("ready", ""), ("activated", "observation {}"), ("reflected", "generation 1")],
)
def test_a_hit_says_what_covers_it_and_what_was_said_beside_it(house, tier, covers):
    ids = house.say("before", PASSPORT, "behind")
    for step in STEPS[tier]:
        step(house)
    (hit,) = house.om.recall("passport", "harold").hits

    observed = [each.id for each in house.om.observations("harold")]
    assert (hit.id, hit.covered_by) == (ids[1], covers.format(*observed))
    assert [turn.content for turn in (*hit.before, hit.message, *hit.after)] == ["before", PASSPORT, "behind"]


def test_whatever_is_kept_in_any_tier_is_found_once(house, readers):
    _every_tier(house)

    words = [f"{tier}{where}" for tier in TIERS for where in ("before", "behind")]
    for om in readers():
        assert sorted(_found(om, " ".join(["passport", *words]), limit=100)) == house.covering()


def test_the_past_can_be_browsed_from_end_to_end_across_all_tiers(house):
    ids = _every_tier(house)
    found = house.om.browse(ids["ready"], "harold", before=100, after=100)
    turns = (*found.before, found.message, *found.after)

    assert [turn.content for turn in turns] == [
        text for tier in TIERS for text in (f"{tier}before", f"the {tier} passport lies in the drawer", f"{tier}behind")
    ]
    assert (found.earlier, found.later) == (False, False)


def test_what_no_note_tells_comes_with_the_context_that_asks_for_it(house):
    house.model = Scripted.echo(answer="<observations>\n* 🟡 (09:30) Small talk.\n</observations>")
    (name, *_) = house.say(PASSPORT, *[f"turn {n}" for n in range(8)])
    _activate(house)
    assert PASSPORT not in house.context().text
    stable = [block.text for block in house.context().blocks if block.stable]

    house.say("Where did I say my passport lies, in which drawer?")
    context = house.context()

    assert [hit.id for hit in context.recalled] == [name]
    assert PASSPORT in context.blocks[-1].text
    assert [block.text for block in context.blocks if block.stable] == stable
    house.om.add_message({"role": "assistant", "content": "In the blue one."}, thread_id="t-1", resource_id="harold")
    assert house.context().recalled == ()


def test_what_was_said_in_one_thread_is_found_from_any(house):
    (name,) = house.say(PASSPORT)
    (other,) = house.say("another passport", thread="t-2")

    assert Counter(_found(house.om, "passport")) == Counter([name, other])
    assert _found(house.om, "passport", thread_id="t-2") == [other]


def test_after_a_restore_the_same_is_found(house, readers):
    ids = _every_tier(house)

    assert house.om.restore("harold", 0, _scope(house)) is Outcome.RESTORED
    for om in readers():
        assert Counter(_found(om, "passport")) == Counter(ids.values())


def test_after_a_move_to_another_scope_and_back_the_same_is_found(house, readers):
    ids = _every_tier(house)
    house.settle()
    there, back = ("thread", "resource") if _scope(house) is None else ("resource", "thread")
    for to in (there, back):
        assert house.om.migrate_scope("harold", to) is Outcome.ACTIVATED
        for om in readers():
            assert Counter(_found(om, "passport")) == Counter(ids.values())


def test_after_an_import_the_same_is_found_under_the_other_name(house, readers):
    ids = _every_tier(house)
    file = b"".join(house.om.export_memory("harold"))
    house.om.import_memory([file], "ada")

    for om in readers():
        assert Counter(_found(om, "passport", "ada")) == Counter(ids.values())
    house.om.clear("harold")
    assert [len(_found(om, "passport", "ada")) for om in readers()] == [len(TIERS)] * 2


# -- what was removed is not --------------------------------------------------------------------------------------------


def test_what_was_erased_is_found_by_nobody_and_its_neighbours_are(house, readers):
    ids = _every_tier(house)
    for om in readers():
        assert len(_found(om, "passport")) == len(TIERS)
    remembering = house.om
    for tier, name in ids.items():
        type(house).face(house.settings, client=house.client).erase("harold", message_id=name)

        assert name not in _found(remembering, "passport")
        assert remembering.browse(name, "harold").message is None
        assert len(_found(remembering, f"{tier}behind")) == 1
    assert [_found(om, "passport") for om in readers()] == [[], []]


def test_what_was_forgotten_with_its_observation_is_found_by_nobody(house, readers):
    ids = _every_tier(house)
    assert len(_found(house.om, "passport")) == len(TIERS)
    (noted,) = (each.id for each in house.om.observations("harold") if ids["activated"] in each.message_ids)
    assert house.om.forget(noted, "harold") is Outcome.CLEARED

    for om in readers():
        assert set(_found(om, "passport")) == set(ids.values()) - {ids["activated"]}


def test_of_a_cleared_thread_and_a_cleared_resource_nothing_is_found(house, readers):
    _every_tier(house)
    (other,) = house.say(PASSPORT, thread="t-2")
    assert len(_found(house.om, "passport")) == len(TIERS) + 1

    house.om.clear("harold", "t-1")
    assert [_found(om, "passport") for om in readers()] == [[other], [other]]
    house.om.clear("harold")
    assert [_found(om, "passport") for om in readers()] == [[], []]


def test_what_has_expired_is_found_by_nobody(house, readers):
    """Retention takes a source and its segment at one moment; a client that had both in its cache must not tell of them."""
    ids = _every_tier(house)
    assert len(_found(house.om, "passport")) == len(TIERS)
    base = f"{house.prefix}:{{harold}}"
    for kind in ("source", "segment"):
        for key in list(house.client.scan_iter(f"{base}:{kind}:*", count=1000)):
            if house.client.ttl(key) >= 0:
                house.client.delete(key)

    for om in readers():
        assert set(_found(om, "passport")) == {ids["ready"], ids["sealed"], ids["raw"]}
        assert not {ids["activated"], ids["reflected"]} & set(_found(om, "activatedbefore reflectedbefore passport"))


def test_the_tool_lets_no_model_choose_whose_memory_is_searched(house):
    house.say(PASSPORT)
    house.say("ada's passport lies in the red box", resource="ada")
    call = {"query": "passport", "resource_id": "ada", "resource": "ada", "kinds": ["generation"], "limit": 100}
    told = house.om.answer_recall(call, "harold")

    assert PASSPORT in told
    assert "red box" not in told


def test_when_much_expires_at_once_the_rest_is_found(house, readers):
    """Catches a client that gave up because more of what it remembered had gone than it tries again."""
    house.say(*[f"passport {n}" for n in range(60)])
    _activate(house)
    assert len(_found(house.om, "passport", limit=100)) == 60
    for kind in ("source", "segment"):
        house.client.delete(*house.client.scan_iter(f"{house.prefix}:{{harold}}:{kind}:*", count=1000))
    (name,) = house.say(PASSPORT)

    assert [_found(om, "passport") for om in readers()] == [[name], [name]]


def test_of_another_resource_nothing_is_found(house, readers):
    house.say(PASSPORT)

    assert [_found(om, "passport", "ada") for om in readers()] == [[], []]


# -- and asking harms nothing -------------------------------------------------------------------------------------------


def test_asking_changes_nothing_in_the_store(house):
    _every_tier(house)
    before = contents(house.client, f"{house.prefix}*")
    house.om.recall("passport", "harold")
    house.om.browse("m-1", "harold")

    assert contents(house.client, f"{house.prefix}*") == before


@pytest.mark.parametrize("query", ["", " ", "-passport", '"', '"open', "\x00\x1b", "x" * 100_000, "?" * 300, "NEAR(*)"])
def test_a_query_that_finds_nothing_says_why(house, query):
    house.say(PASSPORT)
    found = house.om.recall(query, "harold")

    assert found.hits == ()
    assert found.reason


def test_without_its_segments_the_same_is_found(house, readers):
    ids = _every_tier(house)
    for key in list(house.client.scan_iter(f"{house.prefix}:{{harold}}:segment:*", count=1000)):
        house.client.delete(key)

    for om in readers():
        assert Counter(_found(om, "passport")) == Counter(ids.values())


def test_a_context_stands_whatever_becomes_of_recall(house, monkeypatch):
    """The segment of an observation is spoilt, and what the client would search raises."""
    house.say(PASSPORT)
    _activate(house)
    for key in list(house.client.scan_iter(f"{house.prefix}:{{harold}}:segment:*", count=1000)):
        house.client.set(key, b"nonsense", keepttl=True)
    house.say("Where does my passport lie?", thread="t-2")
    spoilt = house.context("t-2")

    def fails(*_, **__):
        raise StoreError("the store is busy", stored=False)

    monkeypatch.setattr("om_api.client.recalling.listing", fails)
    failed = type(house).face(house.settings, client=house.client).get_context("t-2", "harold")

    for context in (spoilt, failed):
        assert [message.content for message in context.messages] == ["Where does my passport lie?"]
    assert failed.recalled == ()
