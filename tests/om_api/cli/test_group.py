"""`om` as a whole: its commands are found, exit codes, and one line for what went wrong."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from om_api.cli.group import PLACES

NOWHERE = "redis://:s3cret@127.0.0.1:1/0"


def test_a_command_whose_module_is_missing_takes_nothing_else_with_it(bare, monkeypatch):
    monkeypatch.setitem(PLACES, "demo", "om_api.cli.not_there")

    assert bare("demo").exit_code == 2
    assert "  demo " not in bare("--help").stdout
    assert bare("config").exit_code == 0


def test_a_module_that_misses_something_else_says_so(bare, monkeypatch, tmp_path):
    (tmp_path / "om_broken_command.py").write_text("import not_there_either")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(PLACES, "demo", "om_broken_command")

    assert bare("demo").exception.name == "not_there_either"
    assert "(cannot be loaded: No module named 'not_there_either')" in " ".join(bare("--help").stdout.split())


_ABSENT = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *where: None if name == {package!r} else find(name, *where)
from om_api.cli import main
main()
"""


@pytest.mark.parametrize(
    ("package", "command", "extra"),
    [
        ("fastapi", "api", "http"),
        ("rich", "stats", "cli"),
        ("click", "stats", "cli"),
        ("celery", "up", "workers"),
        ("flower", "up", "workers"),
    ],
)
def test_a_command_whose_package_is_missing_says_in_a_line_what_brings_it(here, package, command, extra):
    code = _ABSENT.format(package=package)
    done = subprocess.run([sys.executable, "-c", code, command], capture_output=True, text=True, check=False)
    line = f"Error: {package} is not installed: pip install 'cortex-om[{extra}]' brings it\n"

    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def test_the_help_of_om_says_what_a_command_lacks_and_lists_the_others():
    code = "import sys; sys.modules['fastapi'] = None; from om_api.cli import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    text = " ".join(done.stdout.split())

    assert "api (cannot be loaded: fastapi is not installed: pip install" in text
    assert " keys Make, list, revoke" in text


@pytest.mark.parametrize(
    ("typed", "end"),
    [("contxt", "'contxt': did you mean context?\n"), ("up-", "did you mean up?\n"), ("nonsense", "'nonsense'.\n")],
)
def test_of_a_mistyped_command_the_nearest_name_is_told(bare, typed, end):
    result = bare(typed)

    assert result.exit_code == 2
    assert result.stderr.endswith(end)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("staats",), "stats"),
        (("config", "shwo"), "show"),
        (("rejected", "lst"), "list"),
        (("stats", "--jsn"), "--json"),
    ],
    ids=" ".join,
)
def test_of_anything_mistyped_the_nearest_is_told(bare, typed, meant):
    result = bare(*typed)

    assert result.exit_code == 2
    assert meant in result.stderr.split("id you mean")[1]


def test_only_the_command_that_is_asked_for_is_loaded():
    code = (
        "import sys; from om_api.cli import main\n"
        "try: main(['pause', '--help'])\n"
        "except SystemExit: print(sorted(name for name in sys.modules if name.startswith('om_api.cli.commands.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "['om_api.cli.commands.force']"


def test_an_unreachable_store_is_one_line_and_exit_code_3(bare):
    result = bare("--url", NOWHERE, "stats", "harold")

    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("Error: the store did not answer")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [("nonsense",), ("stats", "--nonsense"), ("push",), ("--config", "not-there", "stats"), ("replay", "not-there")],
)
def test_wrong_usage_is_exit_code_2(bare, args):
    assert bare(*args).exit_code == 2


def test_its_version_is_that_of_the_distribution(bare):
    assert bare("--version").stdout == f"om {version('cortex-om')}\n"


def test_an_interruption_is_exit_code_130(bare, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("om_api.cli.target.ObservationalMemory", interrupted)

    assert bare("stats").exit_code == 130
