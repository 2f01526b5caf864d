"""What the documents say of the code is true of the code: links, commands, variables, tasks, events, words, numbers."""

import ast
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from pages import FENCE, ROOT, blocks, section, spans, table

from om_api import ObservationalMemory
from om_api.cli import main
from om_api.cli.up import _LAST_S
from om_api.domain.errors import SettingsError
from om_api.domain.values import Outcome
from om_api.settings.environment import environment_layer
from om_api.settings.model_settings import DEFAULT_MODELS
from om_api.store.memory import due
from om_bench.__main__ import bench
from om_workers.process import heartbeat
from om_workers.tasks import wiring
from om_workers.work import rounds

PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("config/**/*.md")])
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_ABSOLUTE = re.compile(r"(?<![\w.:/<*)}])/(?!v1/|(?:opt|etc|run)/(?:cortex-om|systemd))[a-z]\w*/[\w./-]*")
TEXTS = {page: page.read_text() for page in PAGES}


def commands(text: str) -> list[list[str]]:
    """Every `om …` that a page shows, as words."""
    lines = [line.strip() for block in blocks(text, "sh") for line in block.splitlines()]
    shown = [line for line in [*lines, *spans(text)] if line.startswith("om ") and "COMMAND" not in line]
    return [shlex.split(line, comments=True)[1:] for line in shown]


def trees() -> list[ast.Module]:
    files = [*ROOT.glob("om_api/**/*.py"), *ROOT.glob("om_workers/**/*.py")]
    return [ast.parse(file.read_text()) for file in files]


def assigned(file: str, name: str) -> Any:
    """The literal value of a name that a module of the workers assigns; importing app.py would read this shell's settings."""
    body = ast.parse((ROOT / "om_workers" / file).read_text()).body
    return next(
        ast.literal_eval(node.value) for node in body if isinstance(node, ast.Assign) and node.targets[0].id == name
    )


# -- every page --------------------------------------------------------------------------------------------------------


def test_every_relative_link_leads_to_a_file_and_every_anchor_to_a_heading():
    links = [(page, link) for page, text in TEXTS.items() for link in _LINK.findall(FENCE.sub("", text))]
    ours = [(page, link) for page, link in links if not link.startswith("http")]

    assert [(page, link) for page, link in ours if not _leads_somewhere(page, *link.partition("#")[::2])] == []


def _leads_somewhere(page: Path, name: str, anchor: str) -> bool:
    target = page.parent / name if name else page
    return target.exists() and (not anchor or anchor in _anchors(target.read_text()))


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_om_command_exists_and_has_the_options_shown():
    for words in (words for text in TEXTS.values() for words in commands(text)):
        command, context = main, click.Context(main)
        for word in words:
            found = command.get_command(context, word) if isinstance(command, click.Group) else None
            command = bench if found and word == "bench" else found or command  # which hands its words on
        options = {name for option in command.params for name in option.opts} | {"--help"}

        assert command is not main, f"om {' '.join(words)}: there is no such command"
        assert {word for word in words if word.startswith("--")} <= options, f"om {' '.join(words)}"


def test_every_variable_is_known_to_the_settings():
    for name in sorted(set(re.findall(r"\bOM_[A-Z0-9][A-Z0-9_<>]*", "\n".join(TEXTS.values())))):
        try:
            environment_layer({name.replace("<NAME>", "ANY"): "x"}, DEFAULT_MODELS)
        except SettingsError as error:
            if "no such setting" in str(error):  # else it is one that an x cannot be
                pytest.fail(str(error))


def test_no_page_names_a_path_of_somebodys_machine():
    assert {page: found for page, text in TEXTS.items() if (found := _ABSOLUTE.findall(text))} == {}


# -- operations --------------------------------------------------------------------------------------------------------


def test_every_task_is_in_the_table_with_its_queue_and_no_page_names_another_one():
    tasks = set(re.findall(r'_task\(name="([\w.]+)"', (ROOT / "om_workers/tasks/ticks.py").read_text()))
    told = {name: queue for name, queue in table(OPERATIONS).items() if name in tasks}
    pages = [page for page in PAGES if page.name != "tracing.md"]  # whose names are of spans, some of them a task's
    named = {span for page in pages for span in spans(page.read_text()) if re.fullmatch(r"om\.[a-z_]+", span)}

    assert told == assigned("app.py", "_ROUTES")
    assert tasks == named


def test_command_lines_of_workers_name_queues_that_exist():
    lines = [line for page in PAGES for block in blocks(page.read_text(), "sh") for line in block.splitlines()]
    named = [queue for line in lines for found in re.findall(r" -Q (\S+)", line) for queue in found.split(",")]

    assert sorted(set(named)) == sorted(assigned("app.py", "_QUEUES"))


def test_every_event_of_the_log_is_in_the_table_and_every_one_in_the_table_is_in_the_code():
    ticks = {
        node.args[0].value
        for node in (*_calls("_tick"), *_calls("_dispatch"))
        if isinstance(node.args[0], ast.Constant)
    }
    logged = [node.args[0] for level in ("debug", "info", "warning", "error", "exception") for node in _calls(level)]
    events = {
        arg.value for arg in (*logged, *(node.args[0] for node in _calls("unit"))) if isinstance(arg, ast.Constant)
    }
    made = [arg for arg in logged if isinstance(arg, ast.JoinedStr)]
    events |= {tick + arg.values[-1].value for arg in made for tick in ticks}

    assert set(table(section(OPERATIONS, "Logs"))) - {"event", "---"} == events


@cache
def _all_calls() -> list[ast.Call]:
    return [node for tree in trees() for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]


def _calls(name: str) -> list[ast.Call]:
    """Every call of a function, or of a logger's method, of this name that has a first argument."""
    plain = [node for node in _all_calls() if isinstance(node.func, ast.Name) and node.func.id == name]
    methods = [node for node in _all_calls() if isinstance(node.func, ast.Attribute) and node.func.attr == name]
    return plain + [node for node in methods if ast.unparse(node.func.value) in {"_log", "library_log()", "self"}]


def test_every_outcome_is_explained():
    assert list(table(section(OPERATIONS, "Outcomes")))[2:] == [str(outcome) for outcome in Outcome]


def test_the_fixed_times_and_numbers_are_those_of_the_code():
    told = table(OPERATIONS)

    assert told["lease of a scope, and of a lock"] == f"{due.LEASE_MS // 1000} s"
    assert told["interval of the heartbeat"] == f"{heartbeat.LEASE_S / heartbeat._BEATS_A_LEASE:g} s"
    assert told["interval of the sweep"] == f"{rounds.SWEEP_S:g} s"
    assert told["tasks at a time in one worker, unless `-c` says otherwise"] == str(assigned("app.py", "_CONCURRENCY"))
    assert told["a client's round trip, unless its `timeout` says otherwise"] == f"{_client_timeout():g} s"
    assert told["a worker's round trip"] == f"{wiring._STORE_TIMEOUT_S:g} s"
    assert told["what `om up` waits beyond `stop_grace` when it stops"] == f"{_LAST_S:g} s"


def _client_timeout() -> float:
    return float((ObservationalMemory.__init__.__kwdefaults__ or {})["timeout"])


def test_what_redis_must_be_told_is_what_our_configuration_of_redis_says():
    lines = next(block for block in blocks(OPERATIONS, "") if "appendonly" in block).splitlines()
    told = {line.partition("#")[0].strip() for line in lines}

    assert told <= set((ROOT / "config" / "redis.conf").read_text().splitlines())
