"""Plain values: ids, times and scopes are read as they were written, and nothing else is."""

import subprocess
import sys

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Scope, check_id, is_id, made_at, new_id, to_ms


@pytest.mark.parametrize("name", ["c-1", "", "g" * 32, "é" * 32])
def test_an_id_of_somebody_elses_tells_no_time(name):
    assert made_at(name) is None
    assert made_at(new_id(1_763_600_000_000)) == 1_763_600_000_000


def test_ids_sort_by_when_they_were_made_and_within_a_millisecond_by_order():
    names = [new_id(ms) for ms in (1_000, 1_000, 1_000, 1_001)]

    assert names == sorted(names)
    assert len(set(names)) == 4
    assert all(is_id(name) for name in names)


@pytest.mark.parametrize(
    "value", ["", "a b", "a/b", "a{b", ".", "..", "x" * 201, "ä", "a\n", None, 7, b"harold"], ids=repr
)
def test_what_may_name_no_key_is_refused_and_said(value):
    assert not is_id(value)
    with pytest.raises(InvalidInputError, match=r"thread_id .* is not an id"):
        check_id(value, "thread_id")


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        ("2026-11-20T09:30:00Z", 1_795_167_000_000),
        ("2026-11-20T10:30:00+01:00", 1_795_167_000_000),
        ("2026-11-20 09:30", 1_795_167_000_000),
        (1_795_167_000, 1_795_167_000_000),
        (1_795_167_000_000, 1_795_167_000_000),
        (1_795_167_000_000_000, 1_795_167_000_000),
        (1_795_167_000_000_000_000, 1_795_167_000_000),
        ("1795167000.5", 1_795_167_000_500),
        ("soon", None),
        (True, None),
        (0, None),
        (float("nan"), None),
        (None, None),
    ],
)
def test_a_time_is_read_in_whatever_unit_it_was_written(value, ms):
    assert to_ms(value) == ms


@pytest.mark.parametrize("scope", [Scope("harold"), Scope("harold", "t-1")])
def test_a_scope_is_read_as_it_was_written(scope):
    assert Scope.parse(str(scope)) == scope
    assert Scope.is_one(str(scope))


@pytest.mark.parametrize("text", ["", "|t-1", "harold|", "a b", "harold|t-1|x"])
def test_what_is_no_scope_is_none(text):
    assert not Scope.is_one(text)


FORKED = r"""
import os
from om_api.domain.values import new_id

new_id(1)
child = os.fork()
os.write(1, f"{new_id(1)}\n".encode())
if child:
    os.waitpid(child, 0)
"""


def test_a_process_and_its_fork_make_no_id_twice():
    done = subprocess.run([sys.executable, "-c", FORKED], check=True, capture_output=True, text=True)

    assert len({*done.stdout.split()}) == 2
