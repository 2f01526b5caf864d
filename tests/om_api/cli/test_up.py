"""`om up` runs everything, starts again what dies, and leaves nothing behind."""

import base64
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import click
import pytest
import redis
from click.testing import CliRunner
from ports import reserve_port

from om_api import Message, ObservationalMemory, Outcome, load_settings
from om_api.cli import main
from om_api.cli.embedded import Embedded, is_free
from om_api.cli.group import PLACES
from om_api.cli.up import (
    NEXT,
    Flower,
    Pages,
    _first_free,
    _models,
    archive_beside,
    child_environ,
    store_port,
    wants_store,
)
from om_api.domain.errors import SettingsError

OM = [sys.executable, "-c", "from om_api.cli import main; main()"]
SLOW = {"OM_MODEL": "slow", "OM_MODELS__SLOW__PROVIDER": "scripted", "OM_MODELS__SLOW__OPTIONS": "{delay: 60}"}
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


class Running:
    """An `om up` of a test's own: its lines as they come, and the processes it has."""

    def __init__(self, folder, *options, **environ):
        self.mark = f"MARK={secrets.token_hex(8)}"
        self.place = f"127.0.0.1:{(port := reserve_port())}"
        self.url = f"redis://{self.place}/0"
        self.lines = []
        own = {name: text for name, text in os.environ.items() if not name.startswith(("OM_", "FLOWER_"))}
        self.environ = own | {"OM_CONFIG_DIR": str(folder), "OM_MODEL": "extractive", "OM_OBSERVER_INTERVAL": "0.5s"}
        self.environ |= dict([self.mark.split("=")]) | environ
        self.process = subprocess.Popen(
            [*OM, "up", "--port", str(port), *options],
            cwd=folder,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()

    @property
    def text(self):
        return "".join(self.lines)

    def pids(self, word=""):
        """The processes it has brought about, itself included, whose command line holds a word."""
        return [int(path.name) for path in Path("/proc").glob("[0-9]*") if self._owns(path, word)]

    def _owns(self, path, word):
        try:
            command, environ = (path / "cmdline").read_text(), (path / "environ").read_bytes()
        except OSError:
            return False
        # Valkey writes its title over its environment, and names its port there.
        return word in command and (self.mark.encode() in environ or self.place in command)

    def memory(self):
        return ObservationalMemory(load_settings(environ=self.environ | {"OM_REDIS_URL": self.url}))

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            return self.process.wait(40)
        finally:
            self.process.kill()
            self.process.stdout.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("up")


@pytest.fixture(scope="module")
def running(folder):
    everything = Running(folder, OM_FLOWER_PORT=str(reserve_port()), OM_FLOWER_USER="ops")
    yield everything
    everything.stop()


@pytest.fixture
def alone(tmp_path):
    """Starts one more, which is stopped whatever the test does."""
    started = []

    def start(*options, **environ):
        started.append(Running(tmp_path, *options, **environ))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.stop(signal.SIGKILL)


def password(running):
    [line] = [line for line in running.lines if "password" in line]
    return line.split("password ")[1].split()[0]


def fetch(running, path, credentials=""):
    encoded = base64.b64encode(credentials.encode()).decode()
    url = f"http://127.0.0.1:{running.environ['OM_FLOWER_PORT']}{path}"
    request = urllib.request.Request(url, headers={"Authorization": f"Basic {encoded}"} if credentials else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return None


def test_it_says_what_runs_where_and_what_to_try_next(running, folder, wait_until):
    wait_until(lambda: NEXT[-1] in running.text, "the announcement")

    assert f"{running.url}   embedded, data in {folder / '.om'}" in running.text
    assert f"http://127.0.0.1:{running.environ['OM_FLOWER_PORT']}   user ops, password" in running.text
    assert f"export OM_REDIS_URL={running.url}" in running.text


def test_it_serves_the_pages_of_its_store_and_om_ui_says_where(running, wait_until, tmp_path):
    wait_until(lambda: "  pages   http://127.0.0.1:" in running.text, "the address of the pages")
    address = next(line.split()[1] for line in running.lines if line.startswith("  pages"))
    wait_until(lambda: _opens(f"{address}/agents"), "the pages", 60)
    port = address.split(":")[2].split("/")[0]
    said = subprocess.run(
        [*OM, "ui", "--print", "--port", port], env=running.environ, capture_output=True, text=True, check=True
    )

    assert said.stdout.strip() == address


def _opens(address):
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.status == 200 and b"Observational memory" in answer.read()
    except OSError:
        return False


def test_an_address_left_from_an_earlier_one_is_said_to_be_unset(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OM_REDIS_URL", "redis://127.0.0.1:1/0")
    result = CliRunner().invoke(main, ["up"])

    assert result.exit_code == 3
    assert result.output.endswith("; unset OM_REDIS_URL for a store of its own\n")


@pytest.mark.parametrize("name", ["OM_REDIS_URL", "OM_BROKER_URL"])
def test_a_server_that_is_named_and_does_not_answer_is_said_at_once(tmp_path, monkeypatch, server_url, name):
    for each in [each for each in os.environ if each.startswith("OM_")]:
        monkeypatch.delenv(each)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OM_REDIS_URL", server_url)
    monkeypatch.setenv(name, f"redis://127.0.0.1:{reserve_port()}/0")
    result = CliRunner().invoke(main, ["up"])

    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("Error: the store did not answer")
    assert list(tmp_path.iterdir()) == []


def test_what_to_try_next_exists():
    assert {line.split()[1] for line in NEXT} <= set(PLACES)


def test_a_pushed_conversation_is_observed(running, wait_until):
    wait_until(lambda: NEXT[-1] in running.text, "the announcement")
    with running.memory() as om:
        om.add_messages(
            Message(role="user", content=f"The flight to Oslo is on {day} May.", thread_id="t-1", resource_id="harold")
            for day in range(1, 9)
        )
        outcome = om.force_observe("t-1", "harold", wait=20)

        assert outcome == Outcome.ACTIVATED
        assert "Oslo" in om.observations("harold")[0].text


def test_lines_of_children_carry_their_names(running, wait_until):
    wait_until(lambda: "worker | " in running.text, "a line of the worker")


def test_flower_opens_for_the_printed_password_only(running, wait_until):
    wait_until(lambda: fetch(running, "/healthcheck") == 200, "flower", 60)

    assert fetch(running, "/workers", f"ops:{password(running)}") == 200
    assert (fetch(running, "/workers"), fetch(running, "/workers", "ops:guess")) == (401, 401)


@linux
def test_the_password_is_on_no_command_line(running, wait_until):
    wait_until(lambda: running.pids("flower"), "flower")

    assert running.pids(password(running)) == []


def test_a_second_one_on_the_same_folder_is_refused(running, folder, wait_until):
    wait_until(lambda: NEXT[-1] in running.text, "the announcement")
    command, options = [*OM, "up"], {"cwd": folder, "env": running.environ}
    second = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, **options)

    assert second.returncode == 3
    assert f"in use by process {running.process.pid}" in second.stderr


@linux
@pytest.mark.parametrize("word", ["beat", "valkey-server"])
def test_what_dies_is_started_again(running, wait_until, word):
    wait_until(lambda: running.pids(word), word)
    [pid] = running.pids(word)
    os.kill(pid, signal.SIGKILL)

    wait_until(lambda: running.pids(word) not in ([], [pid]), f"another {word}")
    assert "has ended: starting it again in 1 s" in running.text


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything_cleanly(alone, wait_until, number):
    one = alone(OM_FLOWER_PORT=str(reserve_port()))
    wait_until(lambda: fetch(one, "/healthcheck") == 200, "flower", 60)
    with one.memory() as om:
        om.add_message(Message(role="user", content="hello", thread_id="t-1", resource_id="harold"))
    pids = one.pids()

    assert len(pids) == 6
    assert one.stop(number) == 0
    assert one.pids() == []


def test_the_data_is_there_again_next_time(alone, wait_until, tmp_path):
    one = alone("--no-flower", "--no-beat", "--no-api")
    wait_until(lambda: NEXT[-1] in one.text, "the announcement")
    with one.memory() as om:
        om.add_message(Message(role="user", content="hello", thread_id="t-1", resource_id="harold"))
    one.stop()

    with Embedded(tmp_path / ".om", int(one.place.rpartition(":")[2])), one.memory() as om:
        assert [message.content for message in om.get_context("t-1", "harold").messages] == ["hello"]


def attempts(running):
    """How often each chunk's model was called; counted before the call."""
    with redis.Redis.from_url(running.url) as client:
        return [client.hget(key, "attempts") for key in client.scan_iter("*}:chunk:*")]


@pytest.fixture
def busy(alone, wait_until):
    """One whose worker waits for a model that takes a minute."""
    one = alone("--no-flower", "--no-api", **SLOW)
    wait_until(lambda: NEXT[-1] in one.text, "the announcement")
    with one.memory() as om:
        om.add_message(Message(role="user", content="hello", thread_id="t-1", resource_id="harold"))
        om.force_observe("t-1", "harold")
    wait_until(lambda: attempts(one) == [b"1"], "a slow model at work", 60)
    return one


@linux
def test_a_second_ctrl_c_does_not_wait_for_work_in_flight(busy, wait_until):
    busy.process.send_signal(signal.SIGINT)
    wait_until(lambda: "stopping" in busy.text and not busy.pids("beat"), "the gentle stop")

    assert busy.pids("worker")
    assert busy.stop(signal.SIGINT) == 1
    assert busy.pids() == []


@linux
def test_a_killed_one_takes_everything_with_it_even_work_in_flight(busy, wait_until):
    busy.stop(signal.SIGKILL)

    wait_until(lambda: not busy.pids(), "the end of the children")


# -- its parts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, True),
        ({"OM_REDIS_URL": "redis://127.0.0.1:6379/0"}, False),
        ({"OM_REDIS_URL": "redis://10.0.0.1:6379/0"}, False),
        ({"OM_STORAGE__REDIS__HOST": "db"}, False),
        ({"OM_REDIS_URL": ""}, True),
    ],
)
def test_the_embedded_store_is_for_those_who_name_no_server(environ, wanted):
    assert wants_store(load_settings(environ=environ)) is wanted


def test_a_server_that_a_file_names_is_used(tmp_path):
    text = "observational_memory: {storage: {redis: {url: 'redis://db:6379/0'}}}"
    (tmp_path / "observational-memory.yaml").write_text(text)

    assert not wants_store(load_settings(tmp_path, {}))


def test_children_get_the_one_store_that_was_decided_on(monkeypatch, tmp_path):
    monkeypatch.setenv("OM_STORAGE__REDIS__HOST", "elsewhere")
    monkeypatch.setenv("OM_STORAGE__REDIS__PREFIX", "mine")
    environ = child_environ("redis://here:1/0", tmp_path)

    assert load_settings(environ=environ | {"OM_CONFIG_DIR": str(tmp_path)}).redis_url == "redis://here:1/0"
    assert (environ["OM_STORAGE__REDIS__PREFIX"], environ["OM_CONFIG_DIR"]) == ("mine", str(tmp_path))


def test_a_port_that_was_asked_for_is_taken():
    assert store_port(7) == 7


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OM_FLOWER_PORT", "http"),
        ("OM_FLOWER_PORT", "0"),
        ("OM_FLOWER_PORT", "65536"),
        ("OM_FLOWER_USER", "a:b"),
        ("OM_FLOWER_PASSWORD", "a,b"),
        ("OM_FLOWER_PASSWORD", "ä"),
    ],
)
def test_what_flower_cannot_take_is_named_and_not_shown(name, value):
    with pytest.raises(SettingsError, match=f"environment {name}: ") as caught:
        Flower.of(load_settings(environ={name: value}))
    assert name == "OM_FLOWER_PORT" or value not in str(caught.value)


def test_pages_ask_for_keys_unless_the_store_is_ours_and_move_off_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = str(listener.getsockname()[1])
        with pytest.raises(SettingsError, match=f"port {taken} is taken: set OM_API_PORT"):
            Pages.of(load_settings(environ={"OM_API_PORT": taken}), embedded=True)
    free = str(reserve_port())
    stated = load_settings(environ={"OM_API_PORT": free})

    assert Pages.of(stated, embedded=True).words == ["api", "--port", free, "--without-keys"]
    assert Pages.of(stated, embedded=False).words == ["api", "--port", free]


def test_flower_moves_off_a_port_that_is_taken_unless_somebody_chose_it():
    """Catches a second `om up` in another folder, which ended because of the first one's Flower."""
    with socket.socket() as first:
        first.bind(("127.0.0.1", reserve_port()))
        first.listen()
        taken = first.getsockname()[1]
        moved = _first_free(taken)
        with pytest.raises(SettingsError, match=f"port {taken} is taken: set OM_FLOWER_PORT"):
            Flower.of(load_settings(environ={"OM_FLOWER_PORT": str(taken)}))

    assert taken < moved <= taken + 20 or is_free(moved)


def test_a_password_that_was_chosen_is_not_made():
    flower = Flower.of(load_settings(environ={"OM_FLOWER_PASSWORD": "secret", "OM_FLOWER_PORT": str(reserve_port())}))

    assert (flower.user, flower.password, flower.made) == ("om", "secret", False)
    assert flower.environ(Path("data"))["FLOWER_BASIC_AUTH"] == "om:secret"


def test_without_a_password_each_start_makes_its_own():
    settings = load_settings(environ={"OM_FLOWER_PORT": str(reserve_port())})

    assert Flower.of(settings).made
    assert Flower.of(settings).password != Flower.of(settings).password


def test_a_port_for_a_store_that_is_not_ours_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("OM_DATA_DIR", str(tmp_path))
    result = CliRunner().invoke(main, ["--url", "redis://127.0.0.1:1/0", "up", "--port", "6400"])

    assert result.exit_code == 2
    assert "--port is for the embedded store" in result.output


@pytest.mark.parametrize(
    ("environ", "shown"),
    [
        ({"OM_MODEL": "extractive"}, "extractive"),
        ({"OM_MODEL": "gpt-4o", "OPENAI_API_KEY": "k"}, "gpt-4o"),
        ({"OM_MODEL": "gpt-4o"}, "gpt-4o (OPENAI_API_KEY is not set); the extractive one answers"),
        ({"GEMINI_API_KEY": "k"}, "gemini-2.5-flash"),
        ({}, "gemini-2.5-flash (GEMINI_API_KEY is not set); the extractive one answers"),
        ({"OM_MODEL": "[deepseek, extractive]"}, "deepseek (DEEPSEEK_API_KEY is not set), extractive"),
        (
            {"OM_OBSERVER_MODEL": "extractive", "OM_REFLECTOR_MODEL": "m", "OPENAI_API_KEY": "k"},
            "extractive (observer); m (reflector)",
        ),
    ],
)
def test_who_is_asked_is_shown_and_whose_key_is_missing(environ, shown):
    assert _models(load_settings(environ=environ)) == shown


def test_an_archive_is_a_file_beside_the_data_where_it_is_asked_for_or_was_before(tmp_path):
    """Catches a second start without `--archive`, from which the past could not be read any more."""
    settings, file = load_settings(environ={}), tmp_path / "archive.db"
    before = [archive_beside(settings, tmp_path, asked=asked) for asked in (False, True)]
    file.touch()

    assert before == [None, f"sqlite:///{file}"]
    assert archive_beside(settings, tmp_path, asked=False) == f"sqlite:///{file}"


def test_an_archive_that_is_configured_is_used_and_no_other_beside_it(tmp_path):
    own = load_settings(environ={"OM_ARCHIVE__URL": f"sqlite:///{tmp_path}/archive.db"})
    other = load_settings(environ={"OM_ARCHIVE__URL": "postgresql://om:hunter2@db/archive"})

    assert archive_beside(own, tmp_path, asked=True) == own.archive_url
    assert archive_beside(other, tmp_path, asked=False) == other.archive_url
    with pytest.raises(click.UsageError, match=r"archive\.url is postgresql") as refused:
        archive_beside(other, tmp_path, asked=True)
    assert "hunter2" not in refused.value.message


def test_a_folder_with_a_blank_is_named(tmp_path):
    with pytest.raises(SettingsError, match="holds a blank"):
        archive_beside(load_settings(environ={}), tmp_path / "my data", asked=True)


@linux
def test_with_an_archive_everything_that_runs_knows_it_and_it_is_said_where_it_is(alone, wait_until, tmp_path):
    one = alone("--no-flower", "--no-api", "--archive")
    wait_until(lambda: NEXT[-1] in one.text, "the announcement")
    file = tmp_path / ".om" / "archive.db"

    assert f"archive sqlite:///{file}   takes what is older than 7 days" in one.text
    assert f"export OM_ARCHIVE__URL=sqlite:///{file}" in one.text
    wait_until(file.exists, "a worker to lay the archive out", 60)
