"""Whatever one agent's file holds, it ends in one line about that file, and everybody else's settings are taken up."""

import itertools
import os
import tracemalloc
from pathlib import Path

import pytest
from configured import ROOT, VALUES, om

from om_api.settings import load_settings, loaded
from om_api.settings.catalogue import GROUPS, SETTINGS, dotted
from om_api.settings.live import rows

KEYS = [*map(dotted, SETTINGS), *(dotted(group) for group in GROUPS if group), "models", "no_such_key"]
VOLUMES = {
    "one text many times": ("model", f"[&t {'x' * 40_000}, {', '.join(['*t'] * 900)}]"),
    "many keys": ("budget", f"{{{', '.join(f'k{n}: 1' for n in range(3_000))}}}"),
    "as many keys as are read": ("budget", f"{{{', '.join(f'k{n}: 1' for n in range(1_000))}}}"),
    "many values": ("model", f"[{'1,' * 30_000}]"),
    "as many values as are read": ("model", f"[{'a,' * 2_000}]"),
    "deep lists": ("model", "[" * 30_000),
    "a key of many dots": ("budget", f"{{? {'a.' * 30_000} : 1}}"),
    "an address of many passwords": ("storage.redis.url", f'"@{"://:" * 15_000}"'),
}


class Fleet:
    """A folder of agents' files; `evil` and `good` say what those of two hold now."""

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
    """A file that states one value under a dotted key."""
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
    """Catches every value that raises, hangs or is put in force: each under each key, in 2,592 files."""
    files = {name: fleet.write(f"evil-{n}", under("observer.timeout", "5s")) for n, name in enumerate(VALUES)}
    settings, wrong = load_settings(fleet.path, {}), []
    was = [settings.for_agent(file.parent.name) for file in files.values()]
    for days, key in enumerate(KEYS, start=2):
        for name, file in files.items():
            fleet.write(file.parent.name, under(key, VALUES[name]))
        fleet.good(days)
        changed, lines = settings.refresh(), {problem.file: problem.text for problem in settings.problems}
        wrong += [(key, name) for name, file in files.items() if not _is_line(lines.pop(str(file), ""))]
        wrong += [] if changed and not lines and settings.for_agent("good").ttl_days == days else [(key, "others")]
        wrong += [] if was == [settings.for_agent(file.parent.name) for file in files.values()] else [(key, "before")]

    assert len(KEYS) * len(VALUES) >= 2_592
    assert wrong == []


@pytest.mark.parametrize("name", VOLUMES)
def test_a_file_that_holds_very_much_costs_little(fleet, name):
    """Catches a file that is read, expanded or explained as a whole: within 10 MB."""
    settings = load_settings(fleet.path, {})
    fleet.evil(under(*VOLUMES[name]))
    tracemalloc.start()
    settings.refresh()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [_is_line(problem.text) for problem in settings.problems] == [True]
    assert most < 10_000_000


def test_a_file_that_cannot_be_from_the_start_leaves_its_agent_with_the_layers_below(fleet):
    """Catches a start that fails, and a command that shows settings and cannot show these."""
    evil = [fleet.write(f"evil-{n}", under("observer_model", value)) for n, value in enumerate(VALUES.values())]
    settings = load_settings(fleet.path, {})

    assert {problem.file: _is_line(problem.text) for problem in settings.problems} == dict.fromkeys(
        map(str, evil), True
    )
    assert {settings.for_agent(file.parent.name) for file in evil} == {settings.memory}
    assert settings.for_agent("good").ttl_days == 1
    assert all(row.shown().isprintable() for file in evil for row in rows(settings, file.parent.name))


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


def _pipe(file):
    os.mkfifo(file)


def _folder(file):
    file.mkdir()


def _loop(file):
    file.symlink_to(file.name)


def _device(file):
    file.symlink_to("/dev/zero")


def _folder_in_itself(file):
    file.parent.rmdir()
    file.parent.symlink_to(file.parent.name)


@pytest.mark.parametrize("make", [_pipe, _folder, _loop, _device, _folder_in_itself])
def test_what_is_no_file_is_not_waited_for(fleet, make):
    """Catches a pipe that nobody writes to, opened, and a folder whose list fails with one of its entries."""
    settings = load_settings(fleet.path, {})
    fleet.file.unlink()
    make(fleet.file)
    fleet.good(7)
    settings.refresh()

    assert settings.for_agent("good").ttl_days == 7
    assert [line.startswith(f"{fleet.file}: cannot be read: ") for line in _lines(settings)] == [True]


@pytest.mark.parametrize("name", ["a\nb", "a b", "\x1b[31m", b"\xff".decode("utf-8", "surrogateescape")])
def test_a_folder_that_no_agent_can_be_called_is_named_in_one_printable_line(fleet, name):
    settings = load_settings(fleet.path, {})
    fleet.write(name, "observational_memory: {}")
    fleet.good(7)
    settings.refresh()
    (line,) = _lines(settings)

    assert (line.isprintable(), "no agent has such a name" in line) == (True, True)
    assert (settings.agents(), settings.for_agent("good").ttl_days) == (("evil", "good"), 7)


def test_a_file_that_changes_is_the_only_one_that_is_worked_through_again(fleet, monkeypatch):
    """Catches a thousand agents validated anew, in every process and under its lock, because one file was touched."""
    settings, compose, sources = load_settings(fleet.path, {}), loaded.compose, []
    monkeypatch.setattr(loaded, "compose", lambda layers, source: sources.append(source) or compose(layers, source))
    fleet.evil("observational_memory: [")
    settings.refresh()
    fleet.good(7)
    settings.refresh()

    assert [source.split("/")[-2] for source in sources] == ["good"]


def test_a_file_that_only_goes_on_being_broken_changes_nobodys_settings(fleet):
    """Catches a broken file that has every memory of all agents looked at, as often as it is touched."""
    settings = load_settings(fleet.path, {})
    fleet.evil("observational_memory: [")
    first = settings.refresh()
    fleet.evil("observational_memory: {")

    assert (first, settings.refresh(), len(settings.problems)) == (False, False, 1)


def test_a_problem_is_told_in_full_unless_its_file_or_text_is_longer_than_any_of_ours():
    longest = loaded.problem_of(Path("f" * 4_096), "t" * 1_000)
    longer = loaded.problem_of(Path("f" * 4_097), "t" * 1_001)

    assert longest == ("f" * 4_096, "t" * 1_000)
    assert longer == (f"{'f' * 4_096}…", f"{'t' * 1_000}…")


def test_a_broken_override_is_a_problem_of_that_agent_only(folder):
    file = folder.agent("harold", "observational_memory: [")
    folder.agent("albert", om("ttl_days: 6"))
    settings = folder.load()
    (problem,) = settings.problems

    assert (problem.file, problem.text.startswith("line 2, column 1: not YAML")) == (str(file), True)
    assert settings.for_agent("harold") == settings.memory
    assert settings.for_agent("albert").ttl_days == 6


@pytest.mark.parametrize(
    "text",
    [
        om("storage: {redis: {prefix: other}}"),
        om("observer_interval: 5s"),
        om("reflector_interval: 5s"),
        om("total_budget: {calls_per_day: 5}"),
        om("events: {keep: 500}"),
        om("metrics: {resources: 5}"),
        "models: {x: {provider: openai}}",
    ],
)
def test_an_override_may_not_change_what_holds_for_the_whole_system(folder, text):
    folder.agent("harold", text)
    (problem,) = folder.load().problems

    assert "holds for the whole system" in problem.text


def test_a_copy_of_the_whole_base_file_is_a_fine_override(folder):
    shipped = (ROOT / "config" / "observational-memory.yaml").read_text()
    folder.base(shipped)
    folder.agent("harold", shipped.replace("ttl_days: 90", "ttl_days: 7"))
    settings = folder.load()

    assert (settings.for_agent("harold").ttl_days, settings.problems) == (7, ())


@pytest.fixture
def seed(tmp_path):
    """The layout of the user's document: config/ and, beside it, agents/."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "observational-memory.yaml").write_text(om("ttl_days: 5"))
    return tmp_path


def _agent(place, name, days):
    file = place / "agents" / name / "memory.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(om(f"ttl_days: {days}"))
    return file


@pytest.mark.parametrize("named", [True, False])
def test_an_agents_file_beside_config_counts_like_one_within(seed, monkeypatch, named):
    monkeypatch.chdir(seed)
    _agent(seed, "harold", 6)
    _agent(seed / "config", "worker-*", 7)
    settings = load_settings(seed / "config" if named else None, {})

    assert [settings.for_agent(name).ttl_days for name in ("harold", "worker-1", "ada")] == [6, 7, 5]
    _agent(seed, "harold", 8)
    os.utime(seed / "agents" / "harold" / "memory.yaml", ns=(1, 1))
    assert (settings.refresh(), settings.for_agent("harold").ttl_days) == (True, 8)


def test_a_folder_of_another_name_has_no_agents_beside_it(seed):
    (seed / "config").rename(seed / "etc")
    _agent(seed, "harold", 6)

    assert load_settings(seed / "etc", {}).agents() == ()


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


def test_what_is_called_agents_beside_config_and_is_no_folder_is_nobodys(seed):
    (seed / "agents").write_text("a list of agents")

    assert load_settings(seed / "config", {}).problems == ()
