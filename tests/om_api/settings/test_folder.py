"""Whatever one agent's file holds, it ends in one line about that file, and everybody else's settings are taken up."""

import itertools
import os
from pathlib import Path

import pytest
from configured import VALUES, Folder, om

from om_api.settings import load_settings, loaded
from om_api.settings.catalogue import GROUPS, SETTINGS, dotted

KEYS = [*map(dotted, SETTINGS), *(dotted(group) for group in GROUPS if group), "models", "no_such_key"]


class Fleet:
    def __init__(self, path):
        self.path, self._writes = path, itertools.count(1)
        (path / "observational-memory.yaml").write_text("")
        self.good(1)
        self.file = self.evil(under("observer.timeout", "5s"))

    def evil(self, text):
        return self.write("evil", text)

    def good(self, days):
        self.write("good", f"observational_memory: {{ttl_days: {days}}}")

    def write(self, name, text):
        file = self.path / "agents" / name / "memory.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(file, ns=(written := next(self._writes) * 10**9, written))
        return file


def under(key, value):
    data = value if isinstance(value, bytes) else value.encode()
    for name in reversed(key.split(".")):
        data = b"{" + name.encode() + b": " + data + b"}"
    return data if key == "models" else b"observational_memory: " + data


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


def _is_line(text):
    return 10 < len(text) < 1_100 and text.isprintable()


def _lines(settings):
    return [line for problem in settings.problems for line in f"{problem.file}: {problem.text}".splitlines()]


def test_whatever_agents_files_hold_is_a_line_for_each_and_everybody_else_goes_on(fleet):
    """Catches a value that raises, hangs or is put in force: each key has some of the values, and each value some keys."""
    fine, wrong, broken = under("observer.timeout", "5s"), [], {}
    files = {name: fleet.write(f"evil-{n}", fine) for n, name in enumerate(VALUES)}
    settings = load_settings(fleet.path, {})
    was = [settings.for_agent(file.parent.name) for file in files.values()]
    for days, key in enumerate(KEYS[::5], start=2):
        for file in broken.values():
            fleet.write(file.parent.name, fine)
        broken = dict(list(files.items())[days % 6 :: 6])
        for name, file in broken.items():
            fleet.write(file.parent.name, under(key, VALUES[name]))
        fleet.good(days)
        changed, lines = settings.refresh(), {problem.file: problem.text for problem in settings.problems}
        wrong += [(key, name) for name, file in broken.items() if not _is_line(lines.pop(str(file), ""))]
        wrong += [] if changed and not lines and settings.for_agent("good").ttl_days == days else [(key, "others")]
        wrong += [] if was == [settings.for_agent(file.parent.name) for file in files.values()] else [(key, "before")]
    assert wrong == []


def test_what_nobody_thought_of_is_the_problem_of_the_file_that_has_it(fleet, monkeypatch):
    compose = loaded.compose

    def stumble(layers, source):
        if source == str(fleet.file):
            raise ZeroDivisionError
        return compose(layers, source)

    settings = load_settings(fleet.path, {})
    monkeypatch.setattr(loaded, "compose", stumble)
    fleet.evil("observational_memory: {}")
    fleet.good(7)
    settings.refresh()
    assert settings.for_agent("good").ttl_days == 7
    assert [line.startswith(f"{fleet.file}: cannot be used: ZeroDivisionError") for line in _lines(settings)] == [True]


def test_what_is_no_file_is_not_waited_for(tmp_path):
    """Catches a pipe that nobody writes to, opened, and a folder whose list fails with one of its entries."""

    def folder_in_itself(file):
        file.parent.rmdir()
        file.parent.symlink_to(file.parent.name)

    made = {"pipe": os.mkfifo, "folder": Path.mkdir, "loop": lambda file: file.symlink_to(file.name),
            "device": lambda file: file.symlink_to("/dev/zero"), "folder in itself": folder_in_itself}  # fmt: skip
    for name, make in made.items():
        (tmp_path / name).mkdir()
        fleet = Fleet(tmp_path / name)
        settings = load_settings(fleet.path, {})
        fleet.file.unlink()
        make(fleet.file)
        fleet.good(7)
        settings.refresh()
        assert settings.for_agent("good").ttl_days == 7, name
        assert [line.startswith(f"{fleet.file}: cannot be read: ") for line in _lines(settings)] == [True], name


def test_a_folder_that_no_agent_can_be_called_is_named_in_one_printable_line(fleet):
    settings = load_settings(fleet.path, {})
    for name in ("a\nb", "a b", "\x1b[31m", b"\xff".decode("utf-8", "surrogateescape")):
        fleet.write(name, "observational_memory: {}")
    fleet.good(7)
    settings.refresh()
    assert [(line.isprintable(), "no agent has such a name" in line) for line in _lines(settings)] == [(True, True)] * 4
    assert (settings.agents(), settings.for_agent("good").ttl_days) == (("evil", "good"), 7)


def _agent(place, name, days):
    return Folder(place).agent(name, om(f"ttl_days: {days}"))


@pytest.fixture
def seed(tmp_path):
    Folder(tmp_path / "config").settings("ttl_days: 5")
    return tmp_path


def test_an_agents_file_beside_config_counts_like_one_within(seed, monkeypatch):
    monkeypatch.chdir(seed)
    _agent(seed, "harold", 6)
    _agent(seed / "config", "worker-*", 7)
    for named in (seed / "config", None):
        settings = load_settings(named, {})
        assert [settings.for_agent(name).ttl_days for name in ("harold", "worker-1", "ada")] == [6, 7, 5], named
    _agent(seed, "harold", 8)
    os.utime(seed / "agents" / "harold" / "memory.yaml", ns=(1, 1))
    assert (settings.refresh(), settings.for_agent("harold").ttl_days) == (True, 8)
    (seed / "config").rename(seed / "etc")
    assert load_settings(seed / "etc", {}).agents() == ("worker-*",)


def test_of_an_agent_with_both_files_neither_is_taken_up_and_both_are_named(seed):
    """Catches one of two files that is passed over without a word."""
    first = _agent(seed / "config", "harold", 6)
    settings = load_settings(seed / "config", {})
    second = _agent(seed, "harold", 7)
    changed = settings.refresh()
    assert (changed, settings.for_agent("harold").ttl_days) == (False, 6)
    assert {problem.file for problem in settings.problems} == {str(first), str(second)}
    assert all(str(first) in line and str(second) in line for line in _lines(settings))
    first.unlink()
    assert (settings.refresh(), settings.for_agent("harold").ttl_days, settings.problems) == (True, 7, ())
