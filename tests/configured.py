"""Configurations that tests load: a folder that they write to, and files that nobody should write."""

import os
from pathlib import Path

import pytest

from om_api.domain.errors import SettingsError
from om_api.settings import load_settings

ROOT = Path(__file__).parents[1]
_BOMB = "[&b0 [x], {}]".format(", ".join(f"&b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 9)))
_MERGES = ", ".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}], k{n}: 1}}" for n in range(1, 9))
VALUES = {
    "a list in itself": "&a [*a]",
    "a mapping as its own key": "&a {*a : b}",
    "a mapping merged into itself": "&a {<<: *a}",
    "the same as a key": f"{{? {_BOMB} : 1}}",
    "merges of merges": f"{{m0: &m0 {{x: 1}}, {_MERGES}}}",
    "an unknown alias": "*nobody",
    "a date as a key": "{2026-01-01: x}",
    "a mapping as a key": "{? {a: b} : c}",
    "a key of two lines": '{"a\\nb\\u2028c\\x1b": 1}',
    "a key of many dots": f"{{? {'a.' * 20_000} : 1}}",
    "a key twice": "{a: 1, a: 2}",
    "a large file": "x" * 70_000,
    "400 digits": "9" * 400,
    "many numbers to the base 60": "1" + ":1" * 300,
    "no number": ".nan",
    "a large exponent": "1.0e+400",
    "an object": "!!python/object/apply:os.getcwd []",
    "no boolean": "!!bool maybe",
    "an unknown tag": "!own x",
    "deep lists": "[" * 300 + "]" * 300,
    "a mapping without an end": "{a: " * 1_000,
    "a set": "!!set {a, b}",
    "lists in lists": "[[x]]",
    "half a character": '"\\ud800"',
    "no text": b"\xff\x00",
}


class Folder:
    """A configuration folder that tests write to; every write changes what a look at the file shows."""

    def __init__(self, path):
        self.path = path
        self.writes = 0

    def base(self, text):
        return self._write(self.path / "observational-memory.yaml", text)

    def settings(self, text):
        return self.base(f"observational_memory: {{{text}}}")

    def agent(self, name, text):
        return self._write(self.path / "agents" / name / "memory.yaml", text)

    def load(self, **environ):
        return load_settings(self.path, environ)

    def refused(self, **environ):
        with pytest.raises(SettingsError) as error:
            self.load(**environ)
        return str(error.value)

    def _write(self, file, text):
        self.writes += 1
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, ns=(self.writes * 10**9, self.writes * 10**9))
        return file


def om(text):
    return f"observational_memory: {{{text}}}"
