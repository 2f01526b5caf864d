"""config/helm: the chart's values are checked, and what it renders names only what there is."""

import subprocess
import sys
import tomllib

import pytest
import yaml
from celery.bin.celery import celery
from chart import CHART, rendered
from pages import ROOT

from om_api import load_settings
from om_api.cli.commands.api import api
from om_api.http import make_app
from om_api.settings.catalogue import OTHER_VARIABLES
from om_api.store.fleet import health

NAMES = ("api", "beat", "ticks", "worker")
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
AGENTS = [{"name": "worker-*", "config": {"observational_memory": {"message_threshold": 20000}}},
    {"name": "harold", "config": {"observational_memory": {
    "observer": {"instruction": 'Keep "every" {{ticket}}:\nü'}}}}]  # fmt: skip


def of_kind(kind, release="om", **values):
    return {each["metadata"]["name"].removeprefix(f"{release}-"): each
        for each in rendered(release, **values) if each["kind"] == kind}  # fmt: skip


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


@pytest.mark.nightly
def test_the_values_are_those_of_the_schema_and_one_that_cannot_be_is_named(tmp_path):
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    assert "ok" in refused(tmp_path, VALUES)
    assert set(VALUES) == set(schema["properties"]) - {"global"}  # which helm adds
    for name in ("image", *NAMES):
        assert set(VALUES[name]) == set(schema["properties"][name]["properties"])
    for wrong, said in (({"secretName": ""}, "secretName"), ({"worker": {"concurrency": 0}}, "concurrency"),
        ({"config": {"message_threshold": 1000}}, "message_threshold"),
        ({"agents": [{"name": "../harold", "config": {}}]}, "agents")):  # fmt: skip
        assert said in refused(tmp_path, {**VALUES, **wrong}), wrong


def test_the_chart_is_of_this_version():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert (chart["apiVersion"], chart["appVersion"]) == ("v2", version)
    assert {container(name)["image"] for name in NAMES} == {f"cortex-om:{version}"}
    assert container("api", image={"tag": "tried"})["image"] == "cortex-om:tried"


def test_celery_knows_every_option_and_the_workers_serve_every_queue_between_them():
    commands = {name: container(name, worker={"concurrency": 5})["command"] for name in ("beat", "ticks", "worker")}
    for name, words in commands.items():
        known = {word for each in celery.commands[words[3]].params for word in each.opts}
        assert words[:3] == ["celery", "-A", "om_workers.app"]
        assert {word.partition("=")[0] for word in words[4:]} <= known, name
    served = [word.partition("=")[2] for words in commands.values() for word in words if word.startswith("--queues=")]
    assert sorted(",".join(served).split(",")) == sorted(health.QUEUES)
    assert "--concurrency=5" in commands["worker"]


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


def test_a_pod_is_shut_and_has_its_address_and_keys_from_the_secret_alone():
    """`enableServiceLinks` would set OM_API_PORT=tcp://… in every pod of a release called om: none would start."""
    assert "OM_API_PORT" in OTHER_VARIABLES
    assert "Secret" not in {each["kind"] for each in rendered()}
    grace = load_settings(ROOT / "config", {}).memory.stop_grace + 15
    for name, found in of_kind("Deployment", secretName="mine", env={"OM_READ_ONLY": True}).items():
        spec = found["spec"]["template"]["spec"]
        (inside,) = spec["containers"]
        secure = inside["securityContext"]
        assert spec["securityContext"]["runAsNonRoot"], name
        assert (secure["allowPrivilegeEscalation"], secure["readOnlyRootFilesystem"]) == (False, True), name
        assert secure["capabilities"] == {"drop": ["ALL"]}, name
        assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False), name
        assert inside["resources"]["requests"], name
        assert inside["envFrom"] == [{"secretRef": {"name": "mine"}}], name
        own = [each for each in inside["env"] if each["name"] != "OM_BEAT_FILE"]
        assert own == [{"name": "OM_READ_ONLY", "value": "true"}], name
        assert spec.get("terminationGracePeriodSeconds", 0) >= grace or name not in {"worker", "ticks"}, name


def test_settings_of_all_and_of_one_are_in_force_where_they_are_mounted(tmp_path):
    config = {"observational_memory": {"message_threshold": 50000},
        "models": {"deepseek": {"limits": {"concurrency": 3}}}}  # fmt: skip
    (held,) = of_kind("ConfigMap", config=config, agents=AGENTS).values()
    spec = pod("worker", config=config, agents=AGENTS)
    (volume,) = [each["configMap"] for each in spec["volumes"] if "configMap" in each]
    for item in volume["items"]:
        file = tmp_path / item["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(held["data"][item["key"]])
    settings = load_settings(tmp_path, {})
    mounted = {each["mountPath"] for each in spec["containers"][0]["volumeMounts"] if each["name"] == "config"}
    assert (volume["name"], settings.problems) == (held["metadata"]["name"], ())
    assert [settings.for_agent(name).message_threshold for name in ("ada", "worker-7")] == [50_000, 20_000]
    assert settings.for_agent("harold").observer.instruction == 'Keep "every" {{ticket}}:\nü'
    assert settings.models["deepseek"].limits == {"concurrency": 3}
    assert f"OM_CONFIG_DIR={mounted.pop()} " in (ROOT / "config" / "Dockerfile").read_text()
