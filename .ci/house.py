"""Checks of the package structure: import cycles, modules outside every contract, duplicate class names (`make house`)."""

import ast
import fnmatch
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = ("om_api", "om_workers", "om_bench")
Graph = Mapping[str, set[str]]


class Measure(NamedTuple):
    """One line of the table: what was measured, its value, the goal, and whether it is met."""

    what: str
    found: str
    reach: str
    met: bool


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module of ours by its dotted name, packages among them."""
    paths = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    return {dotted(path.relative_to(root)): path for path in paths}


def dotted(path: Path) -> str:
    """A file's name as imports write it."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imports(known: Mapping[str, Path]) -> dict[str, set[str]]:
    """Which modules each module imports, wherever in it: within functions and under TYPE_CHECKING too."""
    return {name: set(_imported(path, known)) - {name} for name, path in known.items()}


def _imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def by_folder(graph: Graph, known: Mapping[str, Path]) -> dict[str, set[str]]:
    """Which folders each folder imports from."""
    folders: dict[str, set[str]] = {}
    for name, targets in graph.items():
        own = folders.setdefault(_folder(known[name]), set())
        own |= {_folder(known[target]) for target in targets}
    return {folder: targets - {folder} for folder, targets in folders.items()}


def _folder(path: Path) -> str:
    return str(path.parent.relative_to(ROOT))


def cycles(graph: Graph) -> list[list[str]]:
    """Cycles of imports, until none would be left if each were cut once."""
    left, found = {name: set(targets) for name, targets in graph.items()}, []
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = error.args[1]  # each is imported by the one behind it
            found.append(circle)
            left[circle[1]].discard(circle[0])
        else:
            return found


def uncovered(names: Iterable[str], contracts: Iterable[Mapping[str, list[str]]]) -> list[str]:
    """Modules that no contract of import-linter names, by themselves or by a folder of theirs."""
    patterns = [pattern for contract in contracts for pattern in _patterns(contract)]
    return [name for name in names if not any(_is_within(name, pattern) for pattern in patterns)]


def _patterns(contract: Mapping[str, list[str]]) -> Iterator[str]:
    """The modules that a contract holds. Root packages are no room: a contract over all of a package names none of its rooms."""
    layers = [part.strip(" ()") for layer in contract.get("layers", []) for part in layer.replace(":", "|").split("|")]
    for name in layers:
        yield from (f"{container}.{name}" for container in contract.get("containers", []))
    yield from (name for name in layers if "." in name)


def _is_within(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"{pattern}.*")


def classes_twice(known: Mapping[str, Path]) -> list[str]:
    """Names that more than one class has."""
    trees = (ast.parse(path.read_text("utf-8")) for path in known.values())
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return sorted(name for name, times in names.items() if times > 1)


def narrow_handlers(known: Mapping[str, Path]) -> list[str]:
    """Modules that catch OMError and ValueError one by one: what `UNREADABLE` has besides would end a loop over resources."""
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in known.items()}
    return sorted(name for name, tree in trees.items() if any(map(_is_narrow, ast.walk(tree))))


def _is_narrow(node: ast.AST) -> bool:
    types = node.type if isinstance(node, ast.ExceptHandler) else None
    names = {each.id for each in types.elts if isinstance(each, ast.Name)} if isinstance(types, ast.Tuple) else set()
    return "ValueError" in names and bool(names & {"OMError", "StoreError", "ForeignDataError"})


def contracts() -> list[dict[str, list[str]]]:
    """The import-linter contracts."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found: list[dict[str, list[str]]] = settings["tool"]["importlinter"]["contracts"]
    return found


def measured() -> list[Measure]:
    """Every line of the table."""
    known = modules()
    graph = imports(known)
    flat = Counter(_folder(path) for path in known.values())
    folder, most = flat.most_common(1)[0]
    roots = flat["om_api"], flat["om_workers"]
    loops = len(cycles(graph)), len(cycles(by_folder(graph, known)))
    loose, twice = uncovered(known.keys() - set(PACKAGES), contracts()), classes_twice(known)
    return [
        Measure("modules at the root of om_api / om_workers", "{} / {}".format(*roots), "1 / 2", roots == (1, 2)),
        Measure("largest flat folder", f"{most} ({folder})", "29", most <= 29),
        Measure("cycles of modules / of folders", "{} / {}".format(*loops), "0 / 0", loops == (0, 0)),
        Measure("modules that no contract covers", str(len(loose)), "0", not loose),
        Measure(
            "handlers that should use UNREADABLE", ", ".join(narrow := narrow_handlers(known)) or "0", "0", not narrow
        ),
        Measure("class names defined twice", ", ".join(twice) or "0", "0", not twice),
    ]


def main() -> None:
    """Print the table; exit with 1 if a line is not met."""
    table = measured()
    width = max(len(line.what) for line in table)
    for line in table:
        sys.stdout.write(f"{line.what:<{width}}  {line.found:<40} {line.reach:<10} {'yes' if line.met else 'NO'}\n")
    sys.exit(not all(line.met for line in table))


if __name__ == "__main__":
    main()
