"""The TypeScript package: its own tests on a real store, what npm would publish, and the quick start as a user runs it."""

import contextlib
import functools
import json
import os
import random
import re
import subprocess
import sys
from importlib.metadata import version
from urllib.parse import quote

import pytest
from hostile import HALVES, HOSTILE
from key_ring import KeyRing
from node_package import FOR_ADAPTERS, OLDEST, ROOT, SOURCE, copied, found, installed, packed
from processes import BEAT, OM, WORKER, api_started, inherited, started
from servers import Server
from world import wait_until

from om_api import ObservationalMemory, load_settings
from om_api.domain.api_keys import Role
from om_api.domain.tags import escape
from om_api.store.driver.connection import connected
from om_api.store.fleet import acl
from om_api.store.memory.keys import Keys

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(420)]
_SMALL = {"MESSAGE_THRESHOLD": "1000", "OBSERVATION_THRESHOLD": "4000", "MIN_RECENT_MESSAGES": "0"}
_QUICK = {"TOKENIZER": "estimate", "OBSERVER_INTERVAL": "0.2s", "REFLECTOR_INTERVAL": "0.3s"}
_AGENTS = {
    "keeps-fields": '{working_memory: {template: "- Name:\\n- City:"}, compose: [{resource: its-team, share: [decisions]}]}',
    "its-team": "{composed_by: [keeps-fields], shared_by: [keeps-fields]}",
}
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
_IDS = """
import { readFileSync } from "node:fs";
import { escapeId, unescapeId } from "cortex-om";
const examples = JSON.parse(readFileSync("examples.json", "utf8"));
console.log(JSON.stringify(examples.map(([text, id]) => [unescapeId(id), escapeId(text)])));
"""
_ESCAPED = """
import { readFileSync } from "node:fs";
import { escape } from "./dist/esm/prompts/escape.js";
console.log(JSON.stringify(JSON.parse(readFileSync("texts.json", "utf8")).map(escape)));
"""
_OF_TAGS = [*"<<<</> ,;)]|&x\n\u200b\uff1c\uff0f\u2800\x85\x1c", "x<", "x <", "Task", "task", "current_task",
    "ta\u017fk", "MEMORY"]  # fmt: skip
_STRICT = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--lib",
    "es2023,dom"]  # fmt: skip


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """A Node from the Python index, where this machine has none that is new enough: in CI, and by `make typescript`."""
    return functools.cache(lambda: installed(tmp_path_factory.mktemp("node")))


def _node(least, fetched):
    if here := found(least):
        return here
    if os.environ.get("CI"):
        return fetched()
    pytest.skip(f"Node {least} or newer was not found, with npm: make typescript fetches one")


@pytest.fixture(scope="module")
def node(fetched):
    """A Node that runs the client."""
    return _node(OLDEST, fetched)


@pytest.fixture(scope="module")
def newer_node(fetched):
    """A Node that runs the adapters' packages."""
    return _node(FOR_ADAPTERS, fetched)


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
        for agent, settings in _AGENTS.items():
            file = folder / "config" / "agents" / agent / "memory.yaml"
            file.parent.mkdir(parents=True)
            file.write_text(f"observational_memory: {settings}\n")
        own["OM_CONFIG_DIR"] = str(folder / "config")
        own |= {"OM_REDIS_URL": server.url, "OM_BROKER_URL": server.url.replace("/0", "/1")}
        log = crew.enter_context((folder / "workers.log").open("wb"))
        for words in (WORKER, BEAT):
            celery = [sys.executable, "-m", "celery", "-A", "om_workers.app", *words, "-l", "INFO"]
            crew.enter_context(started(celery, env={**inherited(), **own}, cwd=folder, stdout=log, stderr=log))
        wait_until(lambda: b" ready." in (folder / "workers.log").read_bytes(), "the worker", 60)
        settings = load_settings(environ=own)
        _, token = KeyRing(settings).create(["*"], "operator")
        yield {**own, "TEST_KEY": str(token), "TEST_API": json.dumps([OM, "api"]), "TEST_STORE_PID": str(server.pid),
            "TEST_ACL_URL": server.url.replace("//", f"//{_user(settings)}@")}  # fmt: skip


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


def test_a_text_is_escaped_as_the_library_does_it(node, package):
    dice = random.Random(17)
    texts = [*HOSTILE, *map("".join, HALVES), *("".join(dice.choices(_OF_TAGS, k=8)) for _ in range(5_000))]
    (package / "texts.json").write_text(json.dumps(texts))
    escaped = json.loads(node.run(package, "--input-type=module", "-e", _ESCAPED))
    assert [(text, was) for text, was in zip(texts, escaped, strict=True) if was != escape(text)] == []


def test_ids_are_escaped_as_the_library_does_it(node, package):
    examples = json.loads((ROOT / "tests" / "data" / "ids.json").read_text())
    (package / "examples.json").write_text(json.dumps(examples))
    assert json.loads(node.run(package, "--input-type=module", "-e", _IDS)) == examples


def test_the_client_does_what_it_promises_on_a_real_store(node, package, environ):
    node.run(package, "--test", "--test-reporter=spec", "test/all.mjs", environ=environ)


@pytest.mark.usefixtures("cluster_client")  # which removes what is left
def test_what_is_pushed_on_a_cluster_is_known_to_the_library(node, package, cluster, prefix):
    told = {"TEST_CLUSTER": f"redis://127.0.0.1:{cluster.primaries[0].port}", "TEST_PREFIX": prefix}
    node.run(package, "test/cluster.mjs", environ=told)
    settings = load_settings(environ={"OM_REDIS_URL": cluster.url, "OM_PREFIX": prefix, "OM_TOKENIZER": "estimate"})
    said = {"role": "user", "content": "hello", "id": "m-1"}
    with ObservationalMemory(settings) as memory:
        receipts = [memory.add_message(said, resource_id=name, thread_id="t-1") for name in ("node-redis", "ioredis")]
    assert [(receipt.added, receipt.duplicates) for receipt in receipts] == [(0, ("m-1",))] * 2


def test_talks_through_the_ai_sdk_and_mastra_lose_nothing(newer_node, package, environ):
    mastra = package / "test" / "mastra"
    newer_node.run_npm(mastra, "ci", "--ignore-scripts")
    newer_node.run(mastra, *_checked(package, mastra,
        _snippets("ts")[1] .replace('"cortex-om"', '"../../dist/esm/index.js"') .replace('"cortex-om/mastra"',
        '"../../dist/esm/mastra.js"')))  # fmt: skip
    newer_node.run(package, "--test", "--test-reporter=spec", "test/adapters.mjs", environ=environ)


@pytest.fixture(scope="module")
def installed_package(node, package, tmp_path_factory):
    """An empty folder in which the tarball was installed, with the quick start of its page; and the files of the tarball."""
    tarball, files = packed(node, package)
    tmp_path = tmp_path_factory.mktemp("empty")
    (tmp_path / "package.json").write_text('{"private": true}')
    node.run_npm(tmp_path, "install", str(tarball))
    (tmp_path / "agent.mjs").write_text(_snippets("js")[0])
    return tmp_path, files


def test_programs_of_the_page_have_the_types_of_redis_and_the_ai_sdk(node, package):
    ai, _, redis = _snippets("ts")
    ours = 'import { MockLanguageModelV4 } from "ai/test";\nconst openai = (_: string) => new MockLanguageModelV4();'
    own = ai.replace('import { openai } from "@ai-sdk/openai";', ours)
    node.run(package / "test", *_checked(package, package / "test", own, redis))


def _snippets(language):
    page = (SOURCE / "README.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def _checked(package, folder, *programs):
    """The words by which Node checks programs as if they stood in a folder of the package."""
    files = [folder / f"program-{n}.ts" for n in range(len(programs))]
    for file, text in zip(files, programs, strict=True):
        file.write_text(text)
    modules = package / "node_modules"
    types = ["--types", "node", "--typeRoots", str(modules / "@types")]
    return [str(modules / "typescript" / "bin" / "tsc"), *_STRICT, *types, *map(str, files)]


def test_the_tarball_holds_what_it_should_with_types_in_esm_and_cjs_and_brings_nothing_with_it(
    node, package, installed_package
):
    folder, files = installed_package
    entries = [f"dist/{kind}/{entry}" for kind in ("esm", "cjs") for entry in ("index", "redis", "ai-sdk", "mastra")]
    said = json.loads((SOURCE / "package.json").read_text("utf-8"))
    assert {path.split("/")[0] for path in files} == {"README.md", "dist", "package.json"}
    assert {f"{entry}{ending}" for entry in entries for ending in (".js", ".d.ts")} <= {*files}
    assert sorted(each.name for each in (folder / "node_modules").iterdir()) == [".package-lock.json", "cortex-om"]
    assert said["version"] == version("cortex-om")
    assert "dependencies" not in said
    assert node.run(folder, "-p", "new (require('cortex-om').NotFoundError)('x') instanceof Error").strip() == "true"
    for name in ("esm.mts", "cjs.cts"):
        (folder / name).write_text(_TYPED)
    options = ["--noEmit", "--strict", "--module", "nodenext", "--lib", "es2022,dom"]
    node.run(folder, str(package / "node_modules" / "typescript" / "bin" / "tsc"), *options, "esm.mts", "cjs.cts")


def test_the_quick_start_runs_as_its_page_shows_it(node, installed_package, environ):
    folder, _ = installed_package
    with api_started({name: text for name, text in environ.items() if name.startswith("OM_")}, cwd=folder) as url:
        said = node.run(folder, "agent.mjs", environ={"CORTEX_URL": url, "CORTEX_KEY": environ["TEST_KEY"]})
    assert said.splitlines() == ["I have read 1 messages.", "I have read 3 messages.",
        "My flight to Oslo is on Friday."]  # fmt: skip
