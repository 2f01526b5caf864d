"""Every script keeps to its first line, and to itself."""

import re

import pytest

from om_api.store.driver.connection import Connection
from om_api.store.driver.scripts import load_all, parse, provide
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

NAMES = sorted(load_all())


@pytest.mark.nightly
def test_every_node_of_a_cluster_is_given_what_it_lacks_replicas_too(cluster, cluster_client):
    """A replica that takes over has no scripts, and an agent's ACL user may not bring them."""
    run = Connection(cluster_client).run
    run(provide())
    for node in (cluster.primaries[0], cluster.replicas[1]):
        node.client().script_flush()

    assert (run(provide()), run(provide())) == (2 * len(NAMES), 0)
    shas = [script.sha for script in load_all(cluster=True).values()]
    assert all(all(node.client().script_exists(*shas)) for node in cluster.nodes)


@pytest.mark.nightly
def test_a_script_on_a_cluster_sees_the_keys_it_was_given(cluster_client):
    """Catches the key more being taken for one of a further group, and a first script that takes no groups."""
    run = Connection(cluster_client).run
    keys = Keys("absent-test")
    run(due.mark(keys.due_observe, ["harold"]))
    assert [claim.scope for claim in run(due.claim(str(keys.due_observe), 5))] == ["harold"]


def test_every_script_is_lua_51_assigns_no_global_and_checks_its_keys(client):
    """fakeredis lets a leaked global poison every later script of its client; a server refuses the script."""
    for name, script in load_all().items():
        assert parse(name, script.source) == script
        reply = client.script_load(script.source)
        assert (reply.decode() if isinstance(reply, bytes) else reply) == script.sha, name
        code = re.sub(r"--.*|'[^'\n]*'", "", script.source)
        assert not re.findall(r"(?<!local )\bfunction \w+", code), name
        bound = r"\blocal (?:function )?([\w, ]+)|\bfor ([\w, ]+?) (?:=|in)\b|\bfunction \w*\(([\w, ]*)\)"
        declared = set(re.findall(r"\w+", " ".join(" ".join(found) for found in re.findall(bound, code))))
        while (flat := re.sub(r"\{[^{}]*\}", "", code)) != code:  # tables
            code = flat
        assigned = re.findall(r"^\s*(\w+(?:, *\w+)*) *=(?!=)", code, re.MULTILINE)
        assert set(re.findall(r"\w+", " ".join(assigned))) <= declared, name
        script.check(script.fixed)
        with pytest.raises(TypeError, match=rf"{name}\.lua takes {script.fixed}"):
            script.check(script.fixed - 1)
    load_all()["push"].check(4 + 2 * 4)
    with pytest.raises(TypeError, match=r"4 \+ n x 2 keys, not 9"):
        load_all()["push"].check(9)
    for first_line in ("", "-- seal", "-- other(a; b)", "local a = 1"):
        with pytest.raises(ValueError, match=r"the first line of seal\.lua must be its signature"):
            parse("seal", first_line + "\nreturn 1")
