"""Every code block and every figure of the README holds; each block runs twice, because a reader may repeat it."""

import re
import shlex
import shutil
import threading
import tomllib

import pytest
from click.testing import CliRunner
from pages import ROOT, blocks
from world import World

from om_api import load_settings
from om_api.cli import main
from om_workers.llm.extractive import Extractive

README = (ROOT / "README.md").read_text()
SHELL = [shlex.split(line, comments=True) for block in blocks(README, "sh") for line in block.splitlines()]


@pytest.fixture
def working(client, prefix):
    """Workers that tick in the background, as those of `om up` do."""
    world, stopped = World(client, prefix, Extractive()), threading.Event()

    def work():
        while not stopped.wait(0.05):
            world.settle()

    thread = threading.Thread(target=work)
    thread.start()
    yield world
    stopped.set()
    thread.join()


def om(*words):
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_readme_fits_one_screen_and_starts_with_a_command():
    assert len(README.split()) <= 900
    assert len(README.partition("```sh")[0].split()) <= 60
    (example,) = blocks(README, "python")
    assert len(example.splitlines()) <= 12


def test_readme_example_prints_what_is_shown(own_store, capsys):
    (example,), shown = blocks(README, "python"), blocks(README, "")[0]
    for _ in range(2):
        exec(compile(example, "README.md", "exec"), {"__name__": "__main__"})
        assert capsys.readouterr().out == shown


def test_readme_om_commands_print_the_note_that_is_shown(own_store, working):
    shown = [words[1:] for words in SHELL if words[:1] == ["om"] and words != ["om", "up"]]
    assert [words[0] for words in shown] == ["push", "observe", "context"]
    for _ in range(2):
        output = [om(*words) for words in shown][-1]
        assert _undated(blocks(README, "")[1]) in _undated(output)


def _undated(text):
    """The text without ids, times, days, and what "Friday" means, which differ from run to run."""
    return re.sub(r'id="\d+"|\(\d\d:\d\d\)|Date: .*| \(meaning [^)]*\)', "", text)


def test_readme_redis_commands_store_a_message_once(client, prefix):
    world = World(client, prefix)
    for _ in range(2):
        for words in (words for words in SHELL if words[:1] == ["redis-cli"]):
            client.execute_command(*(word.replace("cortex:om", prefix) for word in words[1:]))
        world.sweep()
    world.om.force_observe(resource_id="harold")
    world.settle()

    assert world.covering() == ["m-2"]


def test_readme_other_commands_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    others = [words for words in SHELL if words[:1] not in (["redis-cli"], ["om"])]

    assert {words[1] for words in others if words[0] == "make"} == {"demo", "test"} <= targets
    (install,) = (words for words in others if words[0] == "pip")
    name, _, named = install[-1].rstrip("]").partition("[")
    assert name == "cortex-om"
    assert set(named.split(",")) <= set(extras)
    assert {words[0] for words in others} == {"make", "pip"}


def test_readme_settings_are_in_force_for_that_agent(tmp_path):
    (text,) = blocks(README, "yaml")
    shutil.copytree(ROOT / "config", tmp_path / "config")
    file = tmp_path / re.search(r"^# (config/\S+)$", text, re.MULTILINE)[1]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    settings = load_settings(tmp_path / "config", {})

    assert settings.problems == ()
    assert settings.for_agent("harold").observer.instruction == "Keep every ticket number and who owns it."
    assert settings.for_agent("albert") == settings.memory


def test_readme_figures_are_on_the_pages_that_it_links():
    figures = re.findall(r"\[([\d,. %]+)(?: times)?(?: of [\d,]+ messages)?\]\((docs/\S+\.md)\)", README)
    quoted = {*figures, ("9,398", "docs/reliability.md"), ("29.0", "docs/benchmarks.md"), ("3.5", "docs/benchmarks.md")}

    assert len(quoted) >= 8
    for figure, page in quoted:
        text = (ROOT / page).read_text().replace(",", "")
        assert re.search(rf"(?<![\d.]){re.escape(figure.strip(' %').replace(',', ''))}(?![\d])", text), (figure, page)
