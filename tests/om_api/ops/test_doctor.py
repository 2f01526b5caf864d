"""`om doctor`: slots of a Cluster, the collector, replicas that pushes wait for."""

import pytest
import redis
from redis.crc import key_slot
from servers import Cluster
from traced import Collector

from om_api import load_settings
from om_api.ops import doctor
from om_api.ops.diagnosis import ERROR, NOTE, WARNING
from om_api.ops.eviction import evicting


@pytest.mark.nightly
def test_a_cluster_is_judged_by_its_slots_and_a_missing_broker_is_named(tmp_path, prefix):
    with Cluster(tmp_path, 3, "--cluster-require-full-coverage", "no", replicas=False) as partly:
        settings = load_settings(environ={"OM_REDIS_URL": partly.url, "OM_PREFIX": prefix, "OM_MODEL": "scripted"})
        (broker,) = [each for each in doctor.examine(settings).findings if each.about == "broker"]
        for node in partly.nodes:
            node.client().execute_command("CLUSTER DELSLOTS", key_slot(b"nobody"))
        troubles = [each.says for each in doctor.examine(settings).troubles]

    assert (broker.level, "set OM_BROKER_URL to a server of their own" in broker.do) == (ERROR, True)
    assert any(each.startswith("1 slot served by no node") for each in troubles)


def test_a_collector_that_cannot_be_reached_is_named_without_its_password(server_url):
    with Collector() as there:
        said = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{there.url}/v1/traces"}
        away = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://user:sk-zebrafinch@127.0.0.1:1"}
        looks = [
            doctor.examine(load_settings(environ={"OM_REDIS_URL": server_url, **each})) for each in ({}, said, away)
        ]
    of = [[finding for finding in look.findings if finding.about == "telemetry"] for look in looks]

    assert of[:2] == [[], []]
    assert {(each.level, "127.0.0.1:1" in each.says) for each in of[2]} == {(WARNING, True)}
    assert "zebrafinch" not in str(of)


def test_the_agent_whose_pushes_wait_for_most_replicas_is_asked_for(tmp_path):
    agent = tmp_path / "agents" / "shop-*"
    agent.mkdir(parents=True)
    (agent / "memory.yaml").write_text("observational_memory: {durability: {wait_replicas: 2}}")

    assert doctor._waited(load_settings(environ={})) == 0
    assert doctor._waited(load_settings(environ={"OM_CONFIG_DIR": str(tmp_path)})) == 2


def test_doctor_says_why_a_full_store_refuses_writes_and_which_servers_evict(private_server_url, prefix):
    """Catches "no worker is alive" where workers cannot write that they are."""
    broker = f"{private_server_url}/1" if private_server_url.count("/") == 2 else private_server_url[:-1] + "1"
    environ = {"OM_REDIS_URL": private_server_url, "OM_BROKER_URL": broker, "OM_PREFIX": prefix, "OM_MODEL": "scripted"}
    settings = load_settings(environ=environ)
    with redis.Redis.from_url(private_server_url) as client:
        before = client.config_get("maxmemory*")
        try:
            client.config_set("maxmemory", 1)
            full = doctor.examine(settings).findings
            client.config_set("maxmemory", 0)
            client.config_set("maxmemory-policy", "volatile-ttl")
            evicts = list(evicting(settings))
            found = [each.about for each in doctor.examine(settings).findings if "volatile-ttl" in each.says]
        finally:
            for name in ("maxmemory", "maxmemory-policy"):
                client.config_set(name, before[name])

    assert [each.about for each in full if "out of memory" in f"{each.says}{each.do}"] == ["store"]
    assert [each.level for each in full if each.about == "workers"] == [NOTE]
    assert [each.about for each in evicts] == ["store", "broker"]
    assert all("set maxmemory-policy noeviction" in each.do for each in evicts)
    assert found == ["eviction", "broker"]
