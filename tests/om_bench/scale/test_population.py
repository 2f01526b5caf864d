"""A copied agent is one: nothing tells it from the memory that it is a copy of, but for its name."""

from collections import Counter

import pytest
from world import contents

from om_api.ops import doctor
from om_api.store.audit.verify import examine
from om_bench.scale.population import population
from om_bench.scale.templates import KNOWN, MIX


def _left_by(made, name, template):
    """Every key of an agent with what it holds. Messages say whose they were, but the name of their key wins."""
    found = {}
    for node in made.servers.nodes:
        for key in node.scan_iter(f"*{name}*", count=10_000):
            found |= {at.decode(): held for at, held in contents(node, key.decode()).items()}
    found = {key: sorted(held.items()) if isinstance(held, dict) else held for key, held in found.items()}
    return {key.replace(name, "*"): repr(held).replace(name, "*").replace(template, "*") for key, held in found.items()}


def _indexes(made, name):
    keys = made.keys
    return {
        str(index)
        for index in (keys.resources, keys.due_observe, keys.due_reflect)
        if made.servers.node_of(index.of(name)).zscore(index.of(name), name) is not None
    }


def _is_whole(made):
    """Whether `om verify` and `om doctor` see all the agents, and nothing wrong with them."""
    found = made.running.services.run(examine(made.keys))
    told = {each.about: each.says for each in doctor.examine(made.running.om.settings).findings}

    assert found.breaches == []
    assert found.resources == made.agents
    assert told["resources"] == f"{made.agents:,} known, nothing in quarantine"


@pytest.mark.parametrize("kind", MIX, ids=[kind.name for kind in MIX])
def test_a_copy_left_what_the_real_one_left_and_stands_where_that_stands(small, kind):
    template = f"template-{kind.name}-000"
    (copy,) = small.some(1, kind)

    assert _left_by(small, copy, template) == _left_by(small, template, template) != {}
    assert _indexes(small, copy) == _indexes(small, template) >= {str(small.keys.resources)}


def test_all_agents_are_whole(small):
    _is_whole(small)


def test_agents_of_a_cluster_are_whole_too(few_templates):
    with population(50, 3) as made:
        _is_whole(made)
        assert made.keys.layout.now.count == 64
        assert all(node.dbsize() for node in made.servers.nodes)


def test_agents_are_of_the_mix_and_a_context_of_one_holds_what_was_noted(small):
    (name,) = small.some(1, KNOWN)

    assert Counter(each.kind.name for each in small.templates) == {kind.name: kind.percent for kind in MIX}
    assert small.running.om.stats(name).observations > 0
    assert "<observations" in str(small.running.om.get_context("t-0", name).as_openai())
    assert len(set(small.some(80))) == 80
