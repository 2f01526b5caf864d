"""Write what the TypeScript client is made of: `typescript_sources.py --write`, or without it say which files are stale.

Types come from the OpenAPI document of `om api`, by openapi-typescript; the script that pushes, the tool of recall and what a tag
looks like from our sources. A folder in which `npm ci` was run may be named; else it is `clients/typescript`.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from om_api.context.recall_tool import recall_tool
from om_api.context.tool_formats import ToolFormat
from om_api.domain.tags import BRACKETS, COMPARED, GENERIC, NAMED
from om_api.http.app import make_app
from om_api.settings import load_settings
from om_api.store.driver.scripts import load_all

PACKAGE = Path(__file__).parents[1] / "clients" / "typescript"
GENERATED = PACKAGE / "src" / "generated"
_MADE = "// Made by `make typescript-sources`. Change om_api instead.\n"
_REF = "#/components/schemas/"
ASKED = {  # what the client asks for
    "add_messages",
    "list_messages",
    "sync",
    "get_context",
    "recall",
    "around",
    "answer_recall",
    "list_threads",
    "read_extracted",
    "list_hooks",
    "redact",
    "read_working_memory",
    "replace_working_memory",
    "undo_working_memory",
    "update_working_memory",
    "change_thread",
    "copy_thread",
    "list_aliases",
    "alias_thread",
    "unalias_thread",
    "list_observations",
    "list_sources",
    "list_reflections",
    "list_groups",
    "read_group",
    "get_stats",
    "observe",
    "reflect",
    "get_events",
}
Document = dict[str, Any]


def document() -> Document:
    """Our OpenAPI document, without the operations that the client does not ask for, and what only they need."""
    whole = make_app(load_settings(environ={})).openapi()
    paths = {
        path: asked
        for path, methods in whole["paths"].items()
        if (asked := {method: told for method, told in methods.items() if told["operationId"] in ASKED})
    }
    schemas, needed, left = whole["components"]["schemas"], dict[str, Any](), [*_named(paths)]
    while left:
        if (name := left.pop()) not in needed:
            needed[name] = schemas[name]
            left += _named(schemas[name])
    return {
        "openapi": whole["openapi"],
        "info": {"title": whole["info"]["title"], "version": "v1"},
        "paths": _without_examples(paths),
        "components": {"schemas": _without_examples({name: needed[name] for name in sorted(needed)})},
    }


def _named(told: Any) -> Iterator[str]:
    """The schemas that a piece of the document refers to."""
    if isinstance(told, dict):
        if str(told.get("$ref", "")).startswith(_REF):
            yield told["$ref"].removeprefix(_REF)
        told = told.values()
    elif not isinstance(told, list):
        return
    for each in told:
        yield from _named(each)


def _without_examples(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _without_examples(each) for name, each in told.items() if name not in {"example", "examples"}}
    return [*map(_without_examples, told)] if isinstance(told, list) else told


def made() -> dict[Path, str]:
    """Every generated file, as the code says it."""
    push, tools = load_all()["push"], {name: recall_tool(name) for name in get_args(ToolFormat)}
    clustered = load_all(cluster=True)["push"]
    scripts = {
        "PUSH": {"source": push.source, "sha": push.sha},
        "PUSH_ON_CLUSTER": {"source": clustered.source, "sha": clustered.sha},
    }
    lines = [f"export const {name} = {json.dumps(value, indent=2)} as const;\n" for name, value in scripts.items()]
    patterns = {
        "TAG": (f"[{BRACKETS}]{NAMED}", "giu"),
        "GENERIC": (GENERIC.replace("(?-i:", "(?:"), "uy"),
        "COMPARED": (COMPARED, "iuy"),
    }
    tags = [
        f'export const {name} = new RegExp({json.dumps(_in_javascript(pattern))}, "{flags}");\n'
        for name, (pattern, flags) in patterns.items()
    ]
    return {
        GENERATED / "tags.ts": _MADE + "".join(tags),
        GENERATED / "api.ts": _MADE + _types(),
        GENERATED / "scripts.ts": _MADE + "".join(lines),
        GENERATED / "recall_tool.ts": f"{_MADE}export const RECALL_TOOLS = {json.dumps(tools, indent=2)} as const;\n",
    }


def _in_javascript(pattern: str) -> str:
    """A regular expression of Python's as JavaScript writes it; there is no possessive `*+` there."""
    pattern = re.sub(r"\\U000([0-9a-f]{5})", r"\\u{\1}", pattern).replace("*+", "*")
    return pattern.replace(r"[\w.:-]", r"[\p{L}\p{N}_.:\-]")


def _types() -> str:
    installed = next((Path(word) for word in sys.argv[1:] if word != "--write"), PACKAGE)
    with tempfile.TemporaryDirectory() as folder:
        told, types = Path(folder) / "openapi.json", Path(folder) / "api.ts"
        told.write_text(json.dumps(document()), "utf-8")
        command = ["node", "node_modules/openapi-typescript/bin/cli.js", str(told), "-o", str(types)]
        done = subprocess.run(command, cwd=installed, capture_output=True, text=True, check=False)  # noqa: S603  ours
        if done.returncode:
            sys.exit(f"openapi-typescript failed (run npm ci in {installed.name} first): {done.stderr or done.stdout}")
        return types.read_text("utf-8")


def main() -> None:
    """Write what is stale, or name it and fail."""
    found = {file: text for file, text in made().items() if not file.exists() or file.read_text("utf-8") != text}
    for file, text in found.items():
        if "--write" in sys.argv:
            file.write_text(text, "utf-8")
        state = "written" if "--write" in sys.argv else "is stale: make typescript-sources"
        sys.stdout.write(f"{file.name} {state}\n")
    sys.exit(bool(found) and "--write" not in sys.argv)


if __name__ == "__main__":
    main()
