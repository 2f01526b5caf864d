"""What the documents name exists: links, paths, commands, variables, tests; and examples of settings can be in force."""

import importlib
import json
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest
from adapters.frameworks import FRAMEWORKS
from celery.bin.celery import celery
from celery.worker.control import Panel
from click.testing import CliRunner
from pages import FENCE, ROOT, blocks, spans

from om_api import load_settings
from om_api.cli import main
from om_api.domain.errors import SettingsError
from om_api.settings.environment import environment_layer
from om_api.settings.model_settings import DEFAULT_MODELS
from om_bench.__main__ import bench
from om_workers.calls.registry import Registry

PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("config/**/*.md")])
GUIDES = [ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md")]
TEXTS = {page: page.read_text() for page in PAGES}
ALL_TEXTS = TEXTS | {page: page.read_text() for page in GUIDES}
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_ABSOLUTE = re.compile(r"(?<![\w.:/<*)}])/(?!v1/|(?:opt|etc|run)/(?:cortex-om|systemd))[a-z]\w*/[\w./-]*")
_CELERY = "celery -A om_workers.app "


def _commands(text: str) -> list[list[str]]:
    """Every `om …` that a page shows, as words."""
    lines = [line.strip() for block in blocks(text, "sh") for line in block.splitlines()]
    shown = [line for line in [*lines, *spans(text)] if line.startswith("om ") and "COMMAND" not in line]
    return [shlex.split(line, comments=True)[1:] for line in shown]


def test_every_relative_link_leads_to_a_file_and_every_anchor_to_a_heading():
    links = [(page, link) for page, text in ALL_TEXTS.items() for link in _LINK.findall(FENCE.sub("", text))]
    ours = [(page, link) for page, link in links if not link.startswith("http")]

    assert [(page, link) for page, link in ours if not _leads_somewhere(page, *link.partition("#")[::2])] == []


def _leads_somewhere(page: Path, name: str, anchor: str) -> bool:
    target = page.parent / name if name else page
    return target.exists() and (not anchor or anchor in _anchors(target.read_text()))


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_path_and_every_target_of_make_that_a_guide_names_exists():
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for guide in GUIDES:
        text = guide.read_text()
        named = {span for span in spans(text) if re.fullmatch(r"(om_\w+|tests|config|docs)/[\w./-]*", span)}

        assert [path for path in named if not (ROOT / path).exists()] == [], guide
        assert set(re.findall(r"`make ([a-z-]+)", text)) - made == set(), guide


def test_every_test_that_a_page_names_exists():
    """The guide to security claims nothing that no test holds."""
    files = {path.relative_to(ROOT / "tests").as_posix(): path.read_text() for path in ROOT.glob("tests/**/test_*.py")}
    known = {file: set(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE)) for file, text in files.items()}
    every = set().union(*known.values())
    for page, text in ALL_TEXTS.items():
        named = re.findall(r"`(?:tests/)?([\w/]+\.py)::(test_\w+)`", text)
        assert [each for each in named if each[1] not in known.get(each[0], ())] == [], page
        assert set(re.findall(r"`(test_\w+)`", text)) - every == set(), page


def test_every_om_command_exists_and_has_the_options_shown():
    for words in (words for text in TEXTS.values() for words in _commands(text)):
        command, context = main, click.Context(main)
        for word in words:
            found = command.get_command(context, word) if isinstance(command, click.Group) else None
            command = bench if found and word == "bench" else found or command  # which hands its words on
        options = {name for option in command.params for name in option.opts} | {"--help"}

        assert command is not main, f"om {' '.join(words)}: there is no such command"
        assert {word for word in words if word.startswith("--")} <= options, f"om {' '.join(words)}"


def test_every_celery_command_exists_and_so_does_what_it_asks_of_a_worker():
    lines = [line.strip() for text in TEXTS.values() for line in [*text.splitlines(), *spans(text)]]
    shown = [shlex.split(line.removeprefix(_CELERY)) for line in lines if line.startswith(_CELERY)]
    asked = {words[1] for words in shown if words[0] in {"inspect", "control"}}

    assert {words[0] for words in shown} <= set(celery.commands)
    assert len(asked) >= 3
    assert asked <= {name for name, _ in Panel.meta.items()}


def test_every_variable_is_known_to_the_settings():
    for name in sorted(set(re.findall(r"\bOM_[A-Z0-9][A-Z0-9_<>]*", "\n".join(TEXTS.values())))):
        try:
            environment_layer({name.replace("<NAME>", "ANY"): "x"}, DEFAULT_MODELS)
        except SettingsError as error:
            if "no such setting" in str(error):  # else it is one that an x cannot be
                pytest.fail(str(error))


def test_no_page_names_a_path_of_somebodys_machine():
    assert {page: found for page, text in TEXTS.items() if (found := _ABSOLUTE.findall(text))} == {}


def test_examples_of_settings_can_be_in_force_and_their_models_be_used(tmp_path):
    for name in ("costs", "hooks", "models"):
        text = TEXTS[ROOT / "docs" / f"{name}.md"]
        keys = dict.fromkeys(("GEMINI_API_KEY", "OPENAI_API_KEY", *re.findall(r"api_key_env: (\w+)", text)), "k")
        for n, block in enumerate(blocks(text, "yaml")):
            folder = tmp_path / f"{name}-{n}"
            folder.mkdir()
            (folder / "observational-memory.yaml").write_text(block)
            settings = load_settings(folder, keys)
            models = Registry(settings)

            assert settings.problems == (), (name, block)
            if name == "models":
                assert [each for each in settings.models if models.model_for(each, 200_000) is None] == [], block


def test_every_framework_has_a_page_an_extra_and_an_adapter():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name, framework in FRAMEWORKS.items():
        assert f"cortex-om[{framework.extra}" in TEXTS[ROOT / "docs" / "frameworks" / f"{name}.md"]
        assert framework.extra in extras, name
        assert (ROOT / "om_api" / "integrations" / f"{name}.py").exists(), name


def test_configurations_of_mcp_hosts_start_a_command_that_there_is():
    page = TEXTS[ROOT / "docs" / "mcp.md"]
    configurations = [*map(json.loads, blocks(page, "json")), *map(tomllib.loads, blocks(page, "toml"))]
    holders = {"mcpServers", "servers", "context_servers", "mcp_servers"}
    servers = [each[name]["memory"] for each in configurations for name in holders & each.keys()]
    (line,) = [line for block in blocks(page, "sh") for line in block.splitlines() if line.startswith("claude ")]
    words = shlex.split(line)
    started = [each["args"] for each in servers if "command" in each] + [words[words.index("--") + 2 :]]

    assert len(configurations) == len(servers) == 9
    assert len(started) == 5
    for args in started:
        assert CliRunner().invoke(main, [*args, "--help"]).exit_code == 0, args
    for server in servers:
        if "command" not in server:
            assert (server.get("url") or server["serverUrl"]).endswith("/mcp"), server


def test_a_generated_page_is_what_the_code_says(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / ".ci")
    pages = importlib.import_module("generated_pages")
    stale = [page.name for page, made in pages.made().items() if page.read_text() != made]

    assert stale == [], "run make docs"


def test_install_lines_of_framework_pages_bring_what_the_page_uses():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for page in (ROOT / "docs" / "frameworks").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        lines = [set(each.split(",")) for each in re.findall(r"pip install 'cortex-om\[(.+?)\]'", text)]
        assert set.union(*lines) <= extras.keys(), page.name
        assert any({"workers", "http", "cli", "embedded"} <= each for each in lines), page.name
