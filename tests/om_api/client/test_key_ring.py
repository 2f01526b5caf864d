"""Keys are made, recognised, rotated and ended, through the blocking face."""

from __future__ import annotations

import pytest

from om_api import load_settings
from om_api.client.key_ring import KeyRing
from om_api.domain.errors import InvalidInputError


@pytest.fixture
def ring(client, prefix):
    with KeyRing(load_settings(None, {"OM_PREFIX": prefix}), client=client) as keys:
        yield keys


def test_a_key_is_recognised_by_its_token_until_it_is_revoked(ring):
    key, token = ring.create(["harold"], "reader")

    assert ring.recognise(str(token)) == key
    assert ring.list() == [key]
    assert [ring.revoke(key.id), ring.revoke(key.id)] == ["cleared", "superseded"]
    assert ring.recognise(str(token)) is None


def test_a_rotated_key_has_another_token_and_the_old_one_as_long_as_was_granted(ring):
    key, old = ring.create(["*"], "operator")
    new = ring.rotate(key.id, grace=60)

    assert [ring.recognise(str(token)).id for token in (old, new)] == [key.id, key.id]
    last = ring.rotate(key.id)
    assert [ring.recognise(str(token)) is not None for token in (old, new, last)] == [False, False, True]


@pytest.mark.parametrize(("resources", "role"), [([], "reader"), (["a b"], "reader"), (["harold"], "king")])
def test_what_no_key_can_be_is_refused_and_none_is_kept(ring, resources, role):
    with pytest.raises(InvalidInputError):
        ring.create(resources, role)

    assert ring.list() == []
