"""config/systemd: systemd takes the units and finds them shut, they run what there is, and what they run works together."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from configparser import ConfigParser
from pathlib import Path

import pytest
from celery.bin.celery import celery
from pages import ROOT
from ports import reserve_port
from processes import started
from programs import program
from world import wait_until

from om_api import ObservationalMemory, load_settings
from om_api.cli.children import FLOWER_COLUMNS
from om_api.cli.commands.api import api
from om_api.settings.catalogue import OTHER_VARIABLES, VARIABLES
from om_api.settings.model_settings import DEFAULT_MODELS, KEY_VARIABLES
from om_api.settings.sections.fields import parse_duration
from om_api.store.fleet import health

FOLDER = ROOT / "config" / "systemd"
UNITS = {path.stem.removeprefix("cortex-om-"): path for path in sorted(FOLDER.glob("cortex-om-*.service"))}
COMMON = FOLDER / "cortex-om-.service.d" / "common.conf"
ENVIRONMENT = (FOLDER / "environment").read_text()
INSTALLED = "/opt/cortex-om/bin"
WORKERS = ("worker", "ticks")


def parsed(path):
    unit = ConfigParser(interpolation=None, comment_prefixes=("#",))
    unit.optionxform = str
    unit.read_string(path.read_text())
    return unit


SERVICES = {name: parsed(path)["Service"] for name, path in UNITS.items()}


def command(name, environ):
    """The words that systemd starts: `%%` is a sign, `${…}` a variable, `$$` for the shell."""
    line = SERVICES[name]["ExecStart"].replace("%%", "%").replace(INSTALLED, str(Path(sys.executable).parent))
    variable = re.compile(r"(?<!\$)\$\{(\w+)\}")
    return [variable.sub(lambda found: environ[found[1]], word).replace("$$", "$") for word in shlex.split(line)]


@pytest.fixture
def installed(tmp_path):
    """The units as they are installed, of programs that are there."""
    folder = tmp_path / "units"
    shutil.copytree(FOLDER, folder)
    for file in folder.glob("*.service"):
        file.write_text(file.read_text().replace(INSTALLED, str(Path(sys.executable).parent)))
    return folder


def analyzed(folder, *words):
    done = subprocess.run([program("systemd-analyze"), *words],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:", "SYSTEMD_COLORS": "0"}, capture_output=True, text=True,
        check=False)  # fmt: skip
    return done.returncode, done.stderr + done.stdout


@pytest.mark.nightly
def test_systemd_takes_every_unit_and_finds_it_shut(installed):
    files = [*installed.glob("*.service"), *installed.glob("*.target")]
    assert (len(files), analyzed(installed, "verify", "--man=no", *files)) == (6, (0, ""))
    for path in UNITS.values():  # of 100, as systemd counts what a service is exposed to
        how = ("security", "--offline=true", "--no-pager", "--threshold=25")
        rated, said = analyzed(installed, *how, installed / path.name)
        assert rated == 0, said
    common = installed / COMMON.relative_to(FOLDER)
    common.write_text(common.read_text().replace("RestartSec=2s", "RestartSec=soon"))
    assert "common.conf" in analyzed(installed, "verify", "--man=no", installed / "cortex-om-beat.service")[1]


def test_every_unit_is_started_again_belongs_to_the_target_and_knows_its_options():
    common, target = parsed(COMMON), parsed(FOLDER / "cortex-om.target")
    wanted = set(re.findall(r"cortex-om-(\w+)\.service", target["Unit"]["Wants"]))
    assert (common["Service"]["Restart"], common["Unit"]["PartOf"]) == ("on-failure", "cortex-om.target")
    assert wanted == set(UNITS) - {"flower"}
    assert {parsed(path)["Install"]["WantedBy"] for path in UNITS.values()} == {"cortex-om.target"}
    for name in (*WORKERS, "beat"):
        words = command(name, {})
        known = {word for each in celery.commands[words[3]].params for word in each.opts}
        assert words[1:3] == ["-A", "om_workers.app"]
        assert {word for word in words[4:] if word.startswith("--")} <= known, name
    words = command("api", {"OM_API_PORT": "8000"})
    assert {word for word in words if word.startswith("--")} <= {word for each in api.params for word in each.opts}


def test_workers_serve_every_queue_and_may_give_back_what_they_hold_and_flower_keeps_its_password_off_its_command_line():
    served = [re.search(r"--queues (\S+)", SERVICES[name]["ExecStart"])[1] for name in WORKERS]
    grace = load_settings(ROOT / "config", {}).memory.stop_grace + 15
    assert sorted(",".join(served).split(",")) == sorted(health.QUEUES)
    assert all(parse_duration(SERVICES[name]["TimeoutStopSec"]) >= grace for name in WORKERS)
    said = SERVICES["flower"]["ExecStart"]
    assert f"--tasks_columns={FLOWER_COLUMNS}" in said
    assert "--address=127.0.0.1" in said
    assert f"--db=/var/lib/{SERVICES['flower']['StateDirectory']}/" in said
    assert "PASSWORD" not in said.partition(" exec ")[2]


def test_the_variables_are_settings_and_no_secret_is_written_down():
    texts = [path.read_text() for path in (*UNITS.values(), COMMON)]
    named = set(re.findall(r"\b((?:OM_|[A-Z]+_API_KEY)\w*)", "\n".join([*texts, ENVIRONMENT])))
    known = {*OTHER_VARIABLES, *VARIABLES, *KEY_VARIABLES.values()}
    known |= {str(model.get("api_key_env")) for model in DEFAULT_MODELS.values()}
    assert named <= known
    assert re.findall(r"^\W*\w*(?:PASSWORD|KEY)=(.+)$", ENVIRONMENT, re.MULTILINE) == []
    assert parsed(COMMON)["Service"]["EnvironmentFile"] == ENVIRONMENT[2:].partition(",")[0]


@pytest.mark.nightly
@pytest.mark.timeout(180)
def test_what_the_units_start_works_together(private_server_url, tmp_path):
    """As systemd starts them, each with its variables: what is said is observed, API and Flower answer."""
    environ = {name: value for name, value in os.environ.items() if not re.match("OM_|[A-Z]+_API_KEY", name)}
    environ |= {"OM_CONFIG_DIR": str(ROOT / "config"), "OM_REDIS_URL": private_server_url,
        "OM_OBSERVER_INTERVAL": "0.2s"}  # fmt: skip
    environ |= {"OM_FLOWER_USER": "om", "OM_FLOWER_PASSWORD": "secret", "OM_BEAT_FILE": str(tmp_path / "sent")}
    environ |= {"OM_API_PORT": str(reserve_port()), "OM_FLOWER_PORT": str(reserve_port())}
    (tmp_path / SERVICES["flower"]["StateDirectory"]).mkdir()
    with contextlib.ExitStack() as running, (tmp_path / "log").open("wb") as log:
        for name in UNITS:
            words = [word.replace("/var/lib", str(tmp_path)) for word in command(name, environ)]
            running.enter_context(started(words, env=environ, cwd="/", stdout=log, stderr=log))
        memory = running.enter_context(ObservationalMemory(load_settings(environ=environ)))
        said = {"role": "user", "content": "My flight is on Friday."}
        memory.add_message(said, resource_id="harold", thread_id="t-1")
        memory.force_observe("t-1", "harold")
        wait_until(lambda: memory.observations("harold"), "an observation", 90)
        wait_until(lambda: answers(f"http://127.0.0.1:{environ['OM_API_PORT']}/healthz"), "the API", 60)
        wait_until(lambda: answers(f"http://127.0.0.1:{environ['OM_FLOWER_PORT']}/healthcheck"), "Flower", 60)
        assert (tmp_path / "sent").exists()


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False
