"""Whoever reads what is wrong with a file is told on which line."""

import pytest

from om_api.settings.places import placed

TEXT = """\
observational_memory:
  observer: &one
    timeout: 5s
  reflection: *one

models:
  gemini-2.5-flash:
    limits: {requests_per_minute: 1}
"""


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "memory.yaml"
    file.write_text(TEXT)
    return str(file)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("observer.timeout", 3),
        ("observer.nowhere", 2),
        ("reflection.timeout", 3),
        ("models.gemini-2.5-flash.limits.requests_per_minute", 8),
        ("models.gemini-2.5-flash.prices", 7),
        ("ttl_days", 1),
        ("models", 6),
    ],
)
def test_a_key_stands_on_a_line_or_in_what_does(file, key, line):
    assert placed(file, key) == f"{file}, line {line}"


@pytest.mark.parametrize("origin", ["default", "environment OM_TTL_DAYS", "preset small", "not/there.yaml"])
def test_who_is_no_file_has_no_lines(origin):
    assert placed(origin, "ttl_days") == origin


def test_a_file_that_can_no_longer_be_read_is_named_all_the_same(tmp_path):
    file = tmp_path / "memory.yaml"
    file.write_text("a: [")

    assert placed(str(file), "ttl_days") == str(file)


def test_a_file_that_changed_is_looked_at_again(tmp_path):
    file = tmp_path / "memory.yaml"
    file.write_text("ttl_days: 5")
    before = placed(str(file), "ttl_days")
    file.write_text("\nttl_days: 5")

    assert (before, placed(str(file), "ttl_days")) == (f"{file}, line 1", f"{file}, line 2")
