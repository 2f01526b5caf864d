"""config/helm: the chart's values are checked, and what it renders names only what there is."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from celery.bin.celery import celery
from chart import CHART, rendered
from pages import ROOT
from scraped import labels_of

from om_api import load_settings
from om_api.cli.commands.api import api
from om_api.http import make_app
from om_api.settings.catalogue import OTHER_VARIABLES
from om_api.store.fleet import health

NAMES = ("api", "beat", "ticks", "worker")
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
AGENTS = [
    {"name": "worker-*", "config": {"observational_memory": {"message_threshold": 20000}}},
    {
        "name": "harold",
        "config": {"observational_memory": {"observer": {"instruction": 'Keep "every" {{ticket}}:\nü'}}},
    },
]


def of_kind(kind, release="om", **values):
    return {
        each["metadata"]["name"].removeprefix(f"{release}-"): each
        for each in rendered(release, **values)
        if each["kind"] == kind
    }


def pod(name, **values):
    return of_kind("Deployment", **values)[name]["spec"]["template"]["spec"]


def container(name, **values):
    (only,) = pod(name, **values)["containers"]
    return only


def refused(tmp_path, values):
    """What helm would say of some values: its own check is by the same schema."""
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile", CHART / "values.schema.json", file]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_the_values_are_those_of_the_schema(tmp_path):
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())

    assert "ok" in refused(tmp_path, VALUES)
    assert set(VALUES) == set(schema["properties"]) - {"global"}  # which helm adds
    for name in ("image", *NAMES):
        assert set(VALUES[name]) == set(schema["properties"][name]["properties"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"secretName": ""}, "secretName"),
        ({"replicas": 3}, "replicas"),
        ({"worker": {"concurrency": 0}}, "concurrency"),
        ({"config": {"message_threshold": 1000}}, "message_threshold"),
        ({"agents": [{"name": "../harold", "config": {}}]}, "agents"),
        ({"api": {"port": "8000"}}, "port"),
    ],
)
def test_a_value_that_cannot_be_is_named(tmp_path, wrong, said):
    assert said in refused(tmp_path, {**VALUES, **wrong})


def test_the_chart_is_of_this_version():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert (chart["apiVersion"], chart["appVersion"]) == ("v2", version)
    assert {container(name)["image"] for name in NAMES} == {f"cortex-om:{version}"}
    assert container("api", image={"tag": "tried"})["image"] == "cortex-om:tried"


def test_two_beats_workers_ticks_and_apis_run_unless_told_otherwise():
    deployments = of_kind("Deployment")

    assert tuple(sorted(deployments)) == NAMES
    assert {each["spec"]["replicas"] for each in deployments.values()} == {2}
    assert of_kind("Deployment", beat={"replicas": 1})["beat"]["spec"]["replicas"] == 1


@pytest.mark.parametrize("name", ["beat", "ticks", "worker"])
def test_celery_knows_every_option(name):
    words = container(name)["command"]
    known = {word for each in celery.commands[words[3]].params for word in each.opts}

    assert words[:3] == ["celery", "-A", "om_workers.app"]
    assert {word.partition("=")[0] for word in words[4:]} <= known


def test_the_workers_serve_every_queue_between_them():
    words = [word for name in ("worker", "ticks") for word in container(name, worker={"concurrency": 5})["command"]]
    served = [word.partition("=")[2] for word in words if word.startswith("--queues=")]

    assert sorted(",".join(served).split(",")) == sorted(health.QUEUES)
    assert "--concurrency=5" in words


def test_the_api_listens_where_it_is_asked_and_its_service_finds_it():
    found, (service,) = container("api", api={"port": 9000}), of_kind("Service", api={"port": 9000}).values()
    labels = of_kind("Deployment")["api"]["spec"]["template"]["metadata"]["labels"]
    paths = make_app(load_settings(environ={})).openapi()["paths"]
    (port,) = found["ports"]

    assert found["command"] == ["om", "api", "--host", "0.0.0.0", "--port", "9000"]
    assert {"--host", "--port"} <= {word for each in api.params for word in each.opts}
    assert (port["containerPort"], service["spec"]["ports"][0]["port"]) == (9000, 9000)
    assert service["spec"]["ports"][0]["targetPort"] == port["name"] == found["livenessProbe"]["httpGet"]["port"]
    assert service["spec"]["selector"] == labels
    assert {found[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")} <= set(paths)


def test_who_is_healthy_says_the_same_as_in_compose():
    beat, file = container("beat"), COMPOSE["beat"]["environment"]["OM_BEAT_FILE"]

    assert beat["livenessProbe"]["exec"]["command"][2] == COMPOSE["beat"]["healthcheck"]["test"][1]
    assert {"name": "OM_BEAT_FILE", "value": file} in beat["env"]
    for name in ("worker", "ticks"):
        ping = container(name)["livenessProbe"]["exec"]["command"][2]
        assert ping == COMPOSE["worker"]["healthcheck"]["test"][1].replace("$$", "$")


@pytest.mark.parametrize("name", NAMES)
def test_a_pod_is_shut_keeps_nothing_and_is_found_by_its_labels(name):
    deployment, spec = of_kind("Deployment")[name]["spec"], pod(name)
    inside = container(name)["securityContext"]

    assert deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert (inside["allowPrivilegeEscalation"], inside["readOnlyRootFilesystem"]) == (False, True)
    assert inside["capabilities"] == {"drop": ["ALL"]}
    assert not spec["automountServiceAccountToken"]
    assert container(name)["resources"]["requests"]


@pytest.mark.parametrize("name", NAMES)
def test_no_pod_is_told_of_services_as_variables(name):
    """Catches a release called om: Kubernetes would set OM_API_PORT=tcp://… in every pod, and no process would start."""
    assert "OM_API_PORT" in OTHER_VARIABLES
    assert pod(name)["enableServiceLinks"] is False


@pytest.mark.parametrize("name", ["worker", "ticks"])
def test_no_worker_is_killed_while_it_gives_back_what_it_holds(name):
    assert pod(name)["terminationGracePeriodSeconds"] >= load_settings(ROOT / "config", {}).memory.stop_grace + 15


@pytest.mark.parametrize("name", NAMES)
def test_address_and_keys_come_from_the_secret_and_stand_nowhere_else(name):
    found = container(name, secretName="mine", env={"OM_LOG_LEVEL": "DEBUG", "OM_READ_ONLY": True})

    assert found["envFrom"] == [{"secretRef": {"name": "mine"}}]
    assert [each for each in found["env"] if each["name"] != "OM_BEAT_FILE"] == [
        {"name": "OM_LOG_LEVEL", "value": "DEBUG"},
        {"name": "OM_READ_ONLY", "value": "true"},
    ]
    assert "Secret" not in {each["kind"] for each in rendered()}


def test_settings_of_all_and_of_one_are_in_force_where_they_are_mounted(tmp_path):
    config = {
        "observational_memory": {"message_threshold": 50000},
        "models": {"deepseek": {"limits": {"concurrency": 3}}},
    }
    (held,) = of_kind("ConfigMap", config=config, agents=AGENTS).values()
    spec = pod("worker", config=config, agents=AGENTS)
    (volume,) = [each["configMap"] for each in spec["volumes"] if "configMap" in each]
    for item in volume["items"]:
        file = tmp_path / item["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(held["data"][item["key"]])
    settings = load_settings(tmp_path, {})
    mounted = {each["mountPath"] for each in spec["containers"][0]["volumeMounts"] if each["name"] == "config"}

    assert volume["name"] == held["metadata"]["name"]
    assert settings.problems == ()
    assert [settings.for_agent(name).message_threshold for name in ("ada", "worker-7")] == [50_000, 20_000]
    assert settings.for_agent("harold").observer.instruction == 'Keep "every" {{ticket}}:\nü'
    assert settings.models["deepseek"].limits == {"concurrency": 3}
    assert f"OM_CONFIG_DIR={mounted.pop()} " in (ROOT / "config" / "Dockerfile").read_text()


def test_what_scales_workers_is_a_figure_that_there_is():
    (scaler,) = of_kind("HorizontalPodAutoscaler", worker={"autoscaling": {"enabled": True}}).values()
    metric = scaler["spec"]["metrics"][0]["external"]["metric"]
    workers = of_kind("Deployment", worker={"autoscaling": {"enabled": True}})["worker"]

    assert set(metric["selector"]["matchLabels"]) <= labels_of(metric["name"])
    assert scaler["spec"]["scaleTargetRef"]["name"] == workers["metadata"]["name"]
    assert "replicas" not in workers["spec"]
    assert of_kind("HorizontalPodAutoscaler") == {}


def test_what_the_templates_use_is_a_value():
    """Catches a value that no template takes: who sets it would wait for an effect."""
    used = "".join(path.read_text() for path in Path(CHART / "templates").iterdir())
    asked = [f"{group}.{name}" for group in ("image", *NAMES) for name in VALUES[group] if name != "autoscaling"]

    assert [name for name in asked if f".Values.{name}" not in used] == []
    assert [name for name in VALUES if f".Values.{name}" not in used] == []
