"""How far settings were made known is kept for each fingerprint, and read by whoever comes next."""

import pytest

from om_api.store.fleet import rollout
from om_api.store.fleet.rollout import Progress


@pytest.mark.parametrize("at", [Progress(begun=5, cursor=2**63), Progress(begun=5, cursor=None)])
def test_a_walk_goes_on_where_it_stopped(store, at):
    store.run(rollout.keep(store.keys, "ab", at))

    assert store.run(rollout.progress(store.keys, "ab")) == at


def test_other_settings_have_a_walk_of_their_own(store):
    store.run(rollout.keep(store.keys, "ab", Progress(begun=5)))

    assert store.run(rollout.progress(store.keys, "cd")) is None


@pytest.mark.parametrize("text", [b"nonsense", b"\xff", b"[]", b'{"begun": "x"}'])
def test_what_is_not_ours_is_no_walk(store, text):
    store.client.set(store.keys.rollout("ab"), text, ex=9)

    assert store.run(rollout.progress(store.keys, "ab")) is None
