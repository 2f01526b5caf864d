from om_bench.scale.servers import servers


def test_three_servers_are_a_cluster_of_which_it_is_known_who_has_a_key():
    """Catches shares of the slots that are others than those by which a key is looked for: the server says MOVED."""
    with servers(3) as made:
        before = made.spent()
        for number in range(200):
            made.node_of(f"key-{number}").set(f"key-{number}", "x" * 1_000)

        spent = made.spent()
        assert sum(node.dbsize() for node in made.nodes) == 200
        assert all(node.dbsize() > 30 for node in made.nodes)
        assert spent.requests - before.requests == 203  # with those that asked
        assert spent.cpu > before.cpu
        assert made.used > 200_000
        assert made.broker not in made.url
        assert made.url.startswith("redis+cluster://")


def test_one_server_has_everything():
    with servers(1) as made:
        made.node_of("a").set("a", 1)

        assert (made.url, len(made.nodes)) == (made.broker, 1)
