"""Which keys `om doctor` misses."""

import pytest
from redis.crc import key_slot
from servers import Cluster
from traced import Collector

from om_api import load_settings
from om_api.ops import doctor
from om_api.ops.diagnosis import ERROR, NOTE, OK, WARNING

TIERS = "[{up_to: 10, model: gpt-x}, {up_to: 100, model: extractive}]"


@pytest.mark.parametrize(
    ("environ", "level", "says"),
    [
        (
            {"OM_MODEL": "gemini-2.5-flash"},
            NOTE,
            "gemini-2.5-flash cannot be used from here: GEMINI_API_KEY is not set",
        ),
        ({"OM_MODEL": "gemini-2.5-pro"}, NOTE, "gemini-2.5-pro cannot be used from here: GEMINI_API_KEY is not set"),
        ({"OM_MODEL": "gpt-x"}, NOTE, "gpt-x cannot be used from here: OPENAI_API_KEY is not set"),
        ({"OM_MODEL": "m", "OM_MODELS__M__TIERS": TIERS}, NOTE, "gpt-x cannot be used from here"),
        ({"OM_MODEL": "m", "OM_MODELS__M__TIERS": TIERS, "OPENAI_API_KEY": "k"}, OK, "gpt-x, extractive"),
        ({"OM_MODEL": "gemini-2.5-pro", "GEMINI_API_KEY": "g"}, OK, "gemini-2.5-pro"),
        ({"OM_MODEL": "local", "OM_MODELS__LOCAL__BASE_URL": "http://here/v1"}, OK, "local"),
        ({"OM_MODEL": "scripted"}, OK, "scripted"),
    ],
)
def test_a_key_that_is_missing_is_named_for_every_model_that_may_answer(environ, level, says):
    (finding,) = doctor._models(load_settings(environ=environ))

    assert finding.level == level
    assert says in finding.says


def test_how_long_a_prompt_cache_is_warm_is_told_where_activation_waits_for_it():
    named, none = ({"OM_ACTOR_MODEL": "deepseek-chat"}, {"OM_PROMPT_CACHE__TIMING": "threshold"})
    (finding,) = doctor._prompt_cache(load_settings(environ=named))

    assert (finding.level, finding.about) == (OK, "prompt cache")
    assert finding.says == "that of deepseek-chat is cold 3,600 seconds after its last use; om stats AGENT says when"
    assert list(doctor._prompt_cache(load_settings(environ=none))) == []


def test_a_broker_that_is_missing_beside_a_cluster_is_named_with_what_to_set(cluster, prefix):
    settings = load_settings(environ={"OM_REDIS_URL": cluster.url, "OM_PREFIX": prefix, "OM_MODEL": "scripted"})
    checkup = doctor.examine(settings)
    (broker,) = [each for each in checkup.findings if each.about == "broker"]

    assert checkup.reached
    assert broker.level == ERROR
    assert "set OM_BROKER_URL to a server of their own" in broker.do
    assert "3 nodes and 3 replicas serve every slot" in [each.says for each in checkup.findings]


def test_a_cluster_that_misses_a_slot_is_named(tmp_path, prefix):
    with Cluster(tmp_path, 3, "--cluster-require-full-coverage", "no", replicas=False) as partly:
        settings = load_settings(environ={"OM_REDIS_URL": partly.url, "OM_PREFIX": prefix, "OM_BROKER_URL": "amqp://x"})
        for node in partly.nodes:
            node.client().execute_command("CLUSTER DELSLOTS", key_slot(b"nobody"))
        troubles = [each.says for each in doctor.examine(settings).troubles]

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
