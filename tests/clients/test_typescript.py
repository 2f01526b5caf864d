"""The TypeScript package: its own tests on a real store, what npm would publish, and the quick start as a user runs it."""

import contextlib
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from key_ring import KeyRing
from node_package import FOR_ADAPTERS, OLDEST, ROOT, SOURCE, copied, found, installed, packed
from processes import BEAT, WORKER, started
from servers import Server
from world import wait_until

from om_api import load_settings
from om_api.cli.embedded import HOST, free_port
from om_api.domain.api_keys import Role
from om_api.store.driver.connection import connected
from om_api.store.fleet import acl
from om_api.store.memory.keys import Keys

pytestmark = pytest.mark.timeout(420)
_SMALL = {"MESSAGE_THRESHOLD": "1000", "OBSERVATION_THRESHOLD": "4000", "MIN_RECENT_MESSAGES": "0"}
_QUICK = {"TOKENIZER": "estimate", "OBSERVER_INTERVAL": "0.2s", "REFLECTOR_INTERVAL": "0.3s"}
_OM = [str(Path(sys.executable).with_name("om")), "api"]
_AGENT = "acl"  # whose user the tests' server knows
_TYPED = """
import { ObservationalMemory, StoreError, type Context } from "cortex-om";
const memory = new ObservationalMemory({ url: "http://127.0.0.1:8000" });
export async function asked(): Promise<string | null> {
  const found: Context<"anthropic"> = await memory.getContext({ threadId: "t", format: "anthropic" });
  const text: Context<"text"> = await memory.getContext({ threadId: "t", format: "text" });
  return found.context.messages.length ? text.context : new StoreError("x").message;
}
"""
_SNIPPET = re.compile(r"^```(?:js|ts)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def node():
    """A Node that runs the client; missing it fails in CI, and is skipped on a laptop."""
    if here := found(OLDEST):
        return here
    if os.environ.get("CI"):
        pytest.fail(f"Node {OLDEST} or newer was not found, with npm: install it")
    pytest.skip(f"Node {OLDEST} or newer was not found, with npm")


@pytest.fixture(scope="module")
def newer_node(tmp_path_factory):
    """A Node that runs the adapters' packages: in CI and by `make typescript` one is fetched."""
    if here := found(FOR_ADAPTERS):
        return here
    if os.environ.get("CI"):
        return installed(tmp_path_factory.mktemp("node"))
    pytest.skip(f"the AI SDK and Mastra need Node {FOR_ADAPTERS}: make typescript fetches it")


@pytest.fixture(scope="module")
def package(node, tmp_path_factory):
    """The package with what its developers need, built."""
    folder = copied(tmp_path_factory.mktemp("package"))
    node.run_npm(folder, "ci", "--ignore-scripts")
    node.run(folder, "scripts/build.mjs")
    return folder


@pytest.fixture(scope="module")
def environ(tmp_path_factory):
    """A store of these tests' own with a worker and a beat, as variables of the tests in Node."""
    folder = tmp_path_factory.mktemp("house")
    with Server(folder) as server, contextlib.ExitStack() as crew:
        own = {f"OM_{name}": value for name, value in (_SMALL | _QUICK).items()}
        own |= {"OM_REDIS_URL": server.url, "OM_BROKER_URL": server.url.replace("/0", "/1")}
        clean = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
        log = crew.enter_context((folder / "workers.log").open("wb"))
        for words in (WORKER, BEAT):
            celery = [sys.executable, "-m", "celery", "-A", "om_workers.app", *words, "-l", "INFO"]
            crew.enter_context(started(celery, env={**clean, **own}, cwd=folder, stdout=log, stderr=log))
        wait_until(lambda: b" ready." in (folder / "workers.log").read_bytes(), "the worker", 60)
        settings = load_settings(environ=own)
        _, token = KeyRing(settings).create(["*"], "writer")
        yield {
            **own,
            "TEST_KEY": str(token),
            "TEST_API": json.dumps(_OM),
            "TEST_STORE_PID": str(server.pid),
            "TEST_ACL_URL": server.url.replace("//", f"//{_user(settings)}@"),
        }


def _user(settings):
    """Name and password of an agent's user of the server, as they stand in an address."""
    user, password = acl.agent(Keys(settings.prefix), _AGENT, Role.WRITER), acl.new_password()
    with connected(settings.redis_url) as connection:
        connection.run(acl.apply(user, [acl.kept(password)], reset=True))
    return f"{quote(user.name, safe='')}:{password}"


def test_what_is_generated_is_what_the_code_says(package):
    sources = ROOT / ".ci" / "typescript_sources.py"
    done = subprocess.run([sys.executable, sources, package], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_client_does_what_it_promises_on_a_real_store(node, package, environ):
    node.run(package, "--test", "--test-reporter=spec", "test/all.mjs", environ=environ)


def test_talks_through_the_ai_sdk_and_mastra_lose_nothing(newer_node, package, environ):
    newer_node.run_npm(package / "test" / "mastra", "ci", "--ignore-scripts")
    newer_node.run(package, "--test", "--test-reporter=spec", "test/adapters.mjs", environ=environ)


@pytest.fixture(scope="module")
def installed_package(node, package, tmp_path_factory):
    """An empty folder in which the tarball was installed, with the quick start of its page; and the files of the tarball."""
    tarball, files = packed(node, package)
    tmp_path = tmp_path_factory.mktemp("empty")
    (tmp_path / "package.json").write_text('{"private": true}')
    node.run_npm(tmp_path, "install", str(tarball))
    quick, *_ = _SNIPPET.findall((SOURCE / "README.md").read_text("utf-8"))
    (tmp_path / "agent.mjs").write_text(quick)
    return tmp_path, files


def test_the_tarball_holds_what_it_should_and_brings_nothing_with_it(node, installed_package):
    folder, files = installed_package
    entries = [f"dist/{kind}/{entry}" for kind in ("esm", "cjs") for entry in ("index", "redis", "ai-sdk", "mastra")]
    said = json.loads((SOURCE / "package.json").read_text("utf-8"))

    assert {path.split("/")[0] for path in files} == {"README.md", "dist", "package.json"}
    assert {f"{entry}{ending}" for entry in entries for ending in (".js", ".d.ts")} <= {*files}
    assert sorted(each.name for each in (folder / "node_modules").iterdir()) == [".package-lock.json", "cortex-om"]
    assert said["version"] == version("cortex-om")
    assert "dependencies" not in said
    assert node.run(folder, "-p", "new (require('cortex-om').NotFoundError)('x') instanceof Error").strip() == "true"


def test_whoever_installs_it_has_types_in_esm_and_cjs(node, package, installed_package):
    folder, _ = installed_package
    for name in ("esm.mts", "cjs.cts"):
        (folder / name).write_text(_TYPED)
    compiler = package / "node_modules" / "typescript" / "bin" / "tsc"
    options = ["--noEmit", "--strict", "--module", "nodenext", "--lib", "es2022,dom"]

    node.run(folder, str(compiler), *options, "esm.mts", "cjs.cts")


def test_the_quick_start_runs_as_its_page_shows_it(node, installed_package, environ):
    folder, _ = installed_package
    port = free_port()
    url = f"http://{HOST}:{port}"
    clean = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
    settings = {name: text for name, text in environ.items() if name.startswith("OM_")}
    with started([*_OM, "--port", str(port)], env={**clean, **settings}, cwd=folder):
        wait_until(lambda: _answers(url), "om api", 60)
        said = node.run(folder, "agent.mjs", environ={"OM_URL": url, "OM_KEY": environ["TEST_KEY"]})

    assert said.splitlines() == [
        "I have read 1 messages.",
        "I have read 3 messages.",
        "My flight to Oslo is on Friday.",
    ]


def _answers(url):
    try:
        return httpx2.get(f"{url}/readyz").is_success
    except httpx2.TransportError:
        return False
