"""`python -m mutants.stand warm|cold …`: a process that has everything imported, and forks for every mutant it is asked about.

Warm, it has collected the tests, and a mutant is put into its functions: that takes milliseconds. Cold, only what others wrote
is imported, and the child imports the product as the mutant has it: what a module works out when it is imported differs too.
"""

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TextIO

import coverage
import hypothesis
import pytest


class Functions:
    """Every function of the product in this process, by file; look once, when all is imported."""

    def __init__(self, folder: str) -> None:
        self._found: dict[str, list[FunctionType]] = {}
        gc.unfreeze()  # conftest.py froze what was collected, and get_objects leaves that out
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(folder):
                self._found.setdefault(each.__code__.co_filename, []).append(each)
        if not self._found:
            raise RuntimeError(f"no function of {folder} is imported: no mutant could be put into one")

    def swap(self, file: str, source: str, mutated: str) -> int:
        """Give a file's functions the code that they have in its mutated text; how many changed."""
        changed = 0
        swaps = _swaps(_compiled(source, file), _compiled(mutated, file))
        for function in self._found.get(file, ()):
            if new := swaps.get(function.__code__):
                function.__code__ = new
                changed += 1
        return changed


def _compiled(text: str, file: str) -> CodeType:
    return compile(text, file, "exec", dont_inherit=True)


def _swaps(old: CodeType, new: CodeType) -> dict[CodeType, CodeType]:
    """Code as it was -> as it is, where that differs; of a name that several functions have only if none came or went."""
    before, after = _by_name(old), _by_name(new)
    alike = [name for name in before if len(before[name]) == len(after.get(name, ()))]
    pairs = (pair for name in alike for pair in zip(before[name], after[name], strict=True))
    return {was: now for was, now in pairs if was != now and was.co_freevars == now.co_freevars}


def _by_name(code: CodeType) -> dict[str, list[CodeType]]:
    found: dict[str, list[CodeType]] = {}
    for each in _walk(code):
        found.setdefault(each.co_qualname, []).append(each)
    return found


def _walk(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _walk(const)


class Watch:
    """Watches one test after the other; see `end`."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._now = ""
        self._scripts: dict[str, set[str]] = {}
        self._coverage = coverage.Coverage(
            data_file=None, include=[f"{folder}/om_api/*", f"{folder}/om_workers/*"], config_file=False
        )
        self._coverage.start()
        self._listen()

    def turn_to(self, test: str) -> None:
        """What is run from now on is run by this test."""
        self._now = test
        self._coverage.switch_context(test)

    def end(self) -> dict[str, dict[str, Any]]:
        """By test: the lines of each file as bits, and the scripts."""
        self._coverage.stop()
        with warnings.catch_warnings(action="ignore"):  # a file may have no test that runs anything of ours
            data = self._coverage.get_data()
        found: dict[str, dict[str, Any]] = {}
        for file in data.measured_files():
            name = Path(file).relative_to(self._folder).as_posix()
            for line, tests in data.contexts_by_lineno(file).items():
                for test in filter(None, tests):
                    lines = found.setdefault(test, {"lines": {}, "scripts": []})["lines"]
                    lines[name] = lines.get(name, 0) | 1 << line
        for test, scripts in self._scripts.items():
            found.setdefault(test, {"lines": {}, "scripts": []})["scripts"] = sorted(scripts)
        return {
            test: {**saw, "lines": {name: hex(bits) for name, bits in saw["lines"].items()}}
            for test, saw in found.items()
        }

    def _listen(self) -> None:
        """Every call of a script has its number of keys checked first."""
        script = importlib.import_module("om_api.store.driver.scripts").Script
        check = script.check

        def checked(self_: Any, keys: int) -> None:
            self._scripts.setdefault(self._now, set()).add(self_.name)
            check(self_, keys)

        script.check = checked


_OTHERS = "celery openai google.genai fastapi starlette.testclient uvicorn redis rich limits pydantic.v1 tiktoken"
_OPTIONS = (
    "-q",
    "--tb=no",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:schemathesis",
    "-p",
    "no:xdist",
    "--hypothesis-seed=0",
)
_SLACK_S = 20.0
_PR_SET_PDEATHSIG = 1


class Tests:
    """A plugin of pytest: what is collected is run when somebody says so, until one test fails."""

    def __init__(self, run: "Callable[[Tests], None]") -> None:
        self._run = run
        self.items: dict[str, pytest.Item] = {}
        self.failed: list[str] = []
        self.took: dict[str, float] = {}

    def pytest_sessionstart(self) -> None:
        """Let hypothesis find a failure and not make it smaller; nothing of one mutant is tried with the next."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutants", hypothesis.settings(), phases=phases, database=None)
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In the place of running everything in its order."""
        self.items = {item.nodeid: item for item in session.items}
        self._run(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notice the first failure, and how long each test took."""
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    def ask(self, names: list[str], seconds: dict[str, float], watch: Watch | None = None) -> str:
        """Run tests in this order; the first that fails, or ''."""
        items = [self.items[name] for name in names if name in self.items]
        for item, following in zip(items, [*items[1:], None], strict=False):  # no items where all are nightly
            if item.nodeid in seconds:
                item.add_marker(pytest.mark.timeout(seconds[item.nodeid]), append=False)
            if watch:
                watch.turn_to(item.nodeid)
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            except KeyboardInterrupt:  # a test that simulates a crash raises it, and the mutant lets it through
                self.failed.append(item.nodeid)
            if self.failed and not watch:
                break
        return self.failed[0] if self.failed else ""


def main() -> None:
    """Answer requests, a line of JSON each, until there are no more."""
    asks, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")  # pytest takes these two for itself
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    folder, mode, *files = sys.argv[1:]
    os.chdir(folder)
    sys.dont_write_bytecode = True
    if mode == "cold":
        for name in _OTHERS.split():
            importlib.import_module(name)
        _serve(asks, answers, lambda asked: _cold(asked, folder))
    else:
        pytest.main([*_OPTIONS, *files], plugins=[Tests(lambda tests: _warm(tests, folder, asks, answers))])


def _warm(tests: Tests, folder: str, asks: TextIO, answers: TextIO) -> None:
    functions = Functions(f"{folder}/om_")
    _serve(asks, answers, lambda asked: _answered(tests, asked, folder, functions))


def _cold(asked: dict[str, Any], folder: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    files = list(dict.fromkeys(name.partition("::")[0] for name in asked["tests"]))
    code = pytest.main(
        [*_OPTIONS, *files], plugins=[Tests(lambda tests: found.update(_answered(tests, asked, folder)))]
    )
    return found or {"killer": f"the tests cannot be collected ({int(code)})"}


def _answered(tests: Tests, asked: dict[str, Any], folder: str, functions: Functions | None = None) -> dict[str, Any]:
    if functions and asked["path"].endswith(".py"):
        functions.swap(f"{folder}/{asked['path']}", asked["source"], asked["mutated"])
    if asked["path"].endswith(".lua"):
        importlib.import_module("om_api.store.driver.scripts").load_all.cache_clear()
    watch = Watch(folder) if asked["watch"] else None
    files = set(asked["files"])
    names = asked["tests"] or [name for name in tests.items if name.partition("::")[0] in files]
    killer = tests.ask(names, asked["seconds"], watch)
    return {"killer": killer, "failed": tests.failed, "took": tests.took, "saw": watch.end() if watch else {}}


def _serve(asks: TextIO, answers: TextIO, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    print("{}", file=answers, flush=True)
    for line in asks:
        asked = json.loads(line)
        print(_in_a_child(asked, answer), file=answers, flush=True)


def _in_a_child(asked: dict[str, Any], answer: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """What a child of ours answers; whatever it started ends with it, and one that never ends has noticed the mutant."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        _be_a_child(asked, answer, theirs)
    os.close(theirs)
    said, end = b"", time.monotonic() + asked["limit"] + _SLACK_S
    with os.fdopen(ours, "rb", buffering=0) as answered:
        while (left := end - time.monotonic()) > 0 and select.select([answered], [], [], left)[0]:
            if not (part := answered.read(1 << 20)):
                break
            said += part
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return (
        said.decode() if said.endswith(b"}") else json.dumps({"killer": "no end" if left <= 0 else "the process died"})
    )


def _be_a_child(asked: dict[str, Any], answer: Callable[[dict[str, Any]], dict[str, Any]], pipe: int) -> None:
    os.setsid()
    with suppress(OSError, AttributeError):  # Linux ends it with its parent
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        said = answer(asked)
    except BaseException:  # noqa: BLE001 - told to who asked
        said = {"broken": traceback.format_exc()}
    with os.fdopen(pipe, "w") as out:
        out.write(json.dumps(said))
    os._exit(0)


if __name__ == "__main__":
    main()
