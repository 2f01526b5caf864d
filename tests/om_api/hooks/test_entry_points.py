"""Entry points of our group, by their names, and of no other: what is not installed, or cannot be imported, is missing."""

import re
from importlib.metadata import EntryPoint

import pytest

from om_api.hooks import entry_points
from om_api.hooks.entry_points import GROUP, function_of
from om_api.hooks.faults import MissingHookError


@pytest.fixture
def installed(monkeypatch):
    values = {"dumps": "json:dumps", "gone": "no_such_module:f", "lacks": "json:no_such_function"}
    found = {name: EntryPoint(name, value, GROUP) for name, value in values.items()}
    monkeypatch.setattr(entry_points, "installed", lambda: found)


def test_a_name_leads_to_what_was_installed_under_it(installed):
    assert function_of("dumps")([1]) == "[1]"


@pytest.mark.parametrize("name", ["other", "json:dumps", "json.dumps", "gone", "lacks"])
def test_any_other_name_leads_nowhere(installed, name):
    with pytest.raises(MissingHookError, match=re.escape(name)):
        function_of(name)


def test_only_our_group_is_looked_at():
    assert all(each.group == GROUP for each in entry_points.installed().values())
