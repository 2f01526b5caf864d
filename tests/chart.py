"""The manifests of config/helm, rendered by as much of Go's templates and Helm's functions as its templates use.

Helm itself comes with no index that CI reaches; what is not known here raises KeyError.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from pages import ROOT

CHART = ROOT / "config" / "helm"
_WORD = re.compile(r'"[^"]*"|[()|]|[^\s()|]+')
Scope = dict[str, Any]


def rendered(release: str = "om", **values: Any) -> list[dict[str, Any]]:
    """The manifests of a release whose values differ in these from values.yaml."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    top = {
        "Values": merged(yaml.safe_load((CHART / "values.yaml").read_text()), values),
        "Release": {"Name": release},
        "Chart": {"Name": chart["name"], "AppVersion": chart["appVersion"]},
    }
    files = sorted((CHART / "templates").iterdir())
    page = _Templates()
    texts = [page.run(page.parse(file.read_text()), {"$": top, ".": top}) for file in files]
    return [each for text in texts for each in yaml.safe_load_all(text) if each]


def merged(values: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Values, with others above them as `helm --set` lays them."""
    both = {
        name: merged(values[name], some) for name, some in over.items() if isinstance(some, dict) and values.get(name)
    }
    return {**values, **over, **both}


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Templates:
    def __init__(self) -> None:
        self._defined: dict[str, list[Any]] = {}
        self._functions: dict[str, Callable[..., Any]] = {
            "default": lambda otherwise, value: value or otherwise,
            "include": lambda name, at: self.run(self._defined[name], {"$": at, ".": at}),
            "nindent": lambda size, text: (
                "\n" + "\n".join(" " * size + line if line else line for line in text.split("\n"))
            ),
            "not": lambda value: not value,
            "printf": lambda form, *words: form % words,
            "quote": lambda value: json.dumps(_plain(value), ensure_ascii=False),
            "toYaml": lambda value: yaml.safe_dump(value, allow_unicode=True).rstrip("\n"),
        }

    def parse(self, text: str) -> list[Any]:
        parts = re.split(r"(\{\{.*?\}\})", text, flags=re.DOTALL)
        for n, part in enumerate(parts):
            if part.startswith("{{-"):
                parts[n - 1] = parts[n - 1].rstrip()
            if part.endswith("-}}"):
                parts[n + 1] = parts[n + 1].lstrip()
        return self._block(iter(parts))

    def _block(self, parts: Iterator[str]) -> list[Any]:
        nodes: list[Any] = []
        for part in parts:
            if not part.startswith("{{"):
                nodes.append(part)
                continue
            said = part[2:-2].strip("-").strip()
            verb, _, rest = said.partition(" ")
            if verb == "end":
                break
            if verb == "define":
                self._defined[json.loads(rest)] = self._block(parts)
            elif verb in {"if", "range"}:
                nodes.append((verb, rest, self._block(parts)))
            elif not said.startswith("/*"):
                nodes.append(("say", said, []))
        return nodes

    def run(self, nodes: list[Any], scope: Scope) -> str:
        return "".join(node if isinstance(node, str) else self._run(*node, scope) for node in nodes)

    def _run(self, verb: str, said: str, body: list[Any], scope: Scope) -> str:
        if verb == "say":
            return _plain(self._value(said, scope))
        if verb == "if":
            return self.run(body, scope) if self._value(said, scope) else ""
        names, _, several = said.partition(" := ")
        found = self._value(several, scope)
        pairs = sorted(found.items()) if isinstance(found, dict) else enumerate(found)
        key, item = names.split(", ")
        return "".join(self.run(body, {**scope, key: at, item: each}) for at, each in pairs)

    def _value(self, said: str, scope: Scope) -> Any:
        return self._pipe(iter(_WORD.findall(said)), scope)

    def _pipe(self, words: Iterator[str], scope: Scope) -> Any:
        call, piped = list[Any](), list[Any]()
        for word in words:
            if word == ")":
                break
            if word == "|":
                call, piped = [], [self._call([*call, *piped])]
            else:
                call.append(self._pipe(words, scope) if word == "(" else self._term(word, scope))
        return self._call([*call, *piped])

    def _call(self, words: list[Any]) -> Any:
        return words[0](*words[1:]) if callable(words[0]) else words[0]

    def _term(self, word: str, scope: Scope) -> Any:
        if word[0] == '"' or word.isdigit():
            return json.loads(word)
        if word[0] not in ".$":
            return self._functions[word]
        first, *path = word.split(".")
        found = scope[first or "."]
        for name in filter(None, path):
            found = found[name]
        return found
