"""A walk over the key space meets every key, on one server and on the nodes of a Cluster, of which some come and go."""

import pytest
from stores import Store

from om_api.store.driver.connection import Connection
from om_api.store.driver.scanning import BEGINNING, primaries, scan
from om_api.store.driver.steps import Node
from om_api.store.memory.keys import Keys


def filled(client, prefix):
    names = {f"{prefix}:{{a{n}}}:x".encode() for n in range(60)}
    for name in names:
        client.set(name, 1, ex=60)
    return names


def walked(run, nodes, prefix, place=BEGINNING):
    found, places = set(), []
    while True:
        names, place = run(scan(nodes, place, "MATCH", f"{prefix}:*", "COUNT", 10))
        found.update(names)
        places.append(place)
        if place == BEGINNING:
            return found, places


def test_a_walk_over_one_server_ends_where_it_began(client, prefix):
    names, store = filled(client, prefix), Store(Keys(prefix), None, client)

    assert walked(store.run, store.run(primaries()), prefix)[0] == names


@pytest.mark.nightly
def test_a_node_that_has_gone_ends_its_part_and_the_next_one_is_walked_from_its_beginning(cluster_client, prefix):
    """Breaks where a cursor of one node is told to another, which skips what comes before it."""
    filled(cluster_client, prefix)
    run = Connection(cluster_client).run
    nodes = run(primaries())
    last = nodes[-1].address
    whole, _ = walked(run, nodes, prefix, f"0 {last}")
    gone, _ = walked(run, [Node(last)], prefix, "12345 127.0.0.1:0")
    beyond, _ = walked(run, [Node(last)], prefix, "12345 zzz:1")

    assert whole == gone == beyond != set()
