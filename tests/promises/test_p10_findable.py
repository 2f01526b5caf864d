"""P10: what was accepted is found by its own words, at once, once, whatever became of it; what was removed is found nowhere."""

from collections import Counter

import pytest
from world import World

from om_api.domain.errors import StoreError
from om_api.domain.values import Outcome

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
    house.perform(*house.next_task())


def _reflect(house):
    house.reflect_now("harold", "t-1")
    assert house.om.generations("harold")


STEPS = {"raw": (), "sealed": (_seal,), "ready": (_seal, _note)}
STEPS["activated"] = (*STEPS["ready"], World.observe_now)
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


def test_a_message_is_found_by_its_words_in_every_tier_and_a_hit_says_what_covers_it(house, readers):
    ids = house.say("before", PASSPORT, "behind")
    covers = {"activated": "observation {}", "reflected": "generation 1"}
    for tier, steps in {"raw": (), "sealed": (_seal,), "ready": (_note,), "activated": (World.observe_now,),
        "reflected": (_reflect,)}.items():  # fmt: skip
        for step in steps:
            step(house)
        observed = [each.id for each in house.om.observations("harold", "t-1")]
        for om in readers():
            (hit,) = om.recall("blue drawer", "harold").hits
            assert (hit.id, hit.covered_by) == (ids[1], covers.get(tier, "").format(*observed)), tier
            assert [turn.content for turn in (*hit.before, hit.message, *hit.after)] == ["before", PASSPORT, "behind"]
            assert _found(om, "passport", "ada") == []
    other = house.say("another passport", thread="t-2")
    for om in readers():
        assert Counter(_found(om, "passport")) == Counter([ids[1], *other])
        assert _found(om, "passport", thread_id="t-2") == other


def test_whatever_is_kept_in_any_tier_is_found_once_whatever_becomes_of_its_index_and_its_memory(house, readers):
    ids = _every_tier(house)
    said = [(f"{tier}before", f"the {tier} passport lies in the drawer", f"{tier}behind") for tier in TIERS]
    words = " ".join(["passport", *(word for before, _, behind in said for word in (before, behind))])
    for om in readers():
        assert sorted(_found(om, words, limit=100)) == house.covering()
    found = house.om.browse(ids["ready"], "harold", before=100, after=100)
    turns = (*found.before, found.message, *found.after)
    assert [turn.content for turn in turns] == [text for texts in said for text in texts]
    assert (found.earlier, found.later) == (False, False)
    house.om.import_memory([b"".join(house.om.export_memory("harold"))], "ada")
    for om in readers():
        assert Counter(_found(om, "passport", "ada")) == Counter(ids.values())
    house.client.delete(*house.client.scan_iter(f"{house.prefix}:{{harold}}:segment:*", count=1000))
    for om in readers():
        assert Counter(_found(om, "passport")) == Counter(ids.values())
    assert house.om.restore("harold", 0, _scope(house)) is Outcome.RESTORED
    for om in readers():
        assert Counter(_found(om, "passport")) == Counter(ids.values())


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


def test_a_context_stands_whatever_becomes_of_recall(house, monkeypatch):
    """The segment of an observation is spoilt, and what the client would search raises."""
    house.say(PASSPORT)
    house.observe_now()
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
