"""Names of keys: those of a resource stand in one slot, no two of them are equal, and what is written can be read back."""

from itertools import combinations

import pytest
from acl_house import every_key
from redis.crc import key_slot

from om_api.domain.values import Scope
from om_api.store.memory.keys import HISTORIES, Keys, MessagesKey, histories, queued, safe_name

KEYS = Keys("p:om")


def test_all_keys_of_a_resource_are_in_one_slot():
    own = every_key(KEYS, "harold")
    own = {name for name in own if name.startswith("p:om:{harold}")}

    assert len(own) > 15
    assert {key_slot(name.encode()) for name in own} == {key_slot(b"harold")}


def test_what_waits_as_tasks_is_in_the_slot_of_its_index_and_a_models_calls_in_that_of_its_breaker():
    pairs = [(KEYS.due_observe, queued(KEYS.due_observe)), (KEYS.breaker("m"), KEYS.holders("m"))]

    assert [key_slot(one.encode()) for one, _ in pairs] == [key_slot(other.encode()) for _, other in pairs]


def test_no_two_resources_have_a_key_in_common_however_they_are_called():
    """Ids may hold colons, and what other keys are made of."""
    names = ["a", "a:b", "a:messages:t1", "messages", "tokens"]
    owned = [{key for key in every_key(KEYS, name) if f"{{{name}}}" in key} for name in names]

    assert all(len(one) > 15 for one in owned)
    assert [one & other for one, other in combinations(owned, 2) if one & other] == []


def test_a_scope_of_a_thread_has_keys_of_its_own():
    of = KEYS.of("harold")
    whole, thread = Scope("harold"), Scope("harold", "t1")
    names = [of.record, of.chunks, of.observations, of.draft, of.reflections, lambda scope: of.reflected(scope, 1)]

    assert [name(thread) for name in names] == [f"{name(whole)}:t1" for name in names]


@pytest.mark.parametrize(
    ("key", "found"),
    [
        (KEYS.of("harold").messages("t:1"), MessagesKey("harold", "t:1")),
        ("p:om:messages:t:1", MessagesKey(None, "t:1")),
        ("other:om:messages:t1", None),
        ("p:om:{harold}:messages:a b", None),
        ("p:om:{har/old}:messages:t1", None),
        ("p:om:{harold}:tokens", None),
        ("pxom:messages:t1", None),
    ],
)
def test_a_messages_key_says_whose_it_is(key, found):
    assert KEYS.parse_messages(key) == found


def test_a_prefix_is_no_pattern():
    assert Keys("p.om").parse_messages("pxom:messages:t1") is None


def test_a_staged_key_keeps_its_name_behind_its_transfers():
    of = KEYS.of("harold")

    assert of.staged("t-1", of.chunk("c1")) == "p:om:{harold}:import:t-1:chunk:c1"


@pytest.mark.parametrize(
    ("reached", "first", "n"),
    [(0, None, 0), (1, 1, 1), (HISTORIES, 1, HISTORIES), (10**15, 10**15 - HISTORIES + 1, HISTORIES)],
)
def test_histories_are_the_last_ten_thousand_whatever_a_record_says(reached, first, n):
    found = histories(reached)

    assert (len(found), found[0] if found else None) == (n, first)
    assert reached in found or not n


def test_names_of_models_that_look_alike_are_apart_and_legible():
    models = ["some/model", "some_model", "some:model", "some/model ", "x" * 100, "x" * 101, "\ud800"]
    names = [safe_name(model) for model in models]

    assert len(set(names)) == len(models)
    assert all(name.startswith("some_model") for name in names[:4])
    assert all(len(name) <= 80 and not set(name) & set("{}*:/ ") for name in names)
