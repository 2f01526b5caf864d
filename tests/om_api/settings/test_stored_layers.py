"""Entries of the store are read as files are, and tell whose they are."""

import pytest

from om_api.domain.errors import SettingsError
from om_api.settings.stored_layers import layer_of_entry, version_of


def test_an_entry_states_what_a_file_would_and_says_whose_it_is():
    layer = layer_of_entry("worker-*", b"observational_memory: {observer: {timeout: 5m}}")

    assert layer == {("observer", "timeout"): ("5m", "store worker-*")}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a b", b"", "store a b: no agent has such a name"),
        ("x" * 201, b"", "no agent has such a name"),
        ("a\x1b[2J", b"", r"store a\\x1b\[2J: no agent"),
        ("harold", b"observational_memory: [", "store harold, line 2, column"),
        ("harold", b"ttl_days: 3", "store harold: ttl_days stands at the top; did you mean"),
        ("harold", b"\xff\x00", "store harold: not YAML"),
        ("harold", b"x" * 65_537, "store harold: larger than 65,536 bytes"),
        ("harold", b"- x", "store harold: not a mapping"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named(name, text, says):
    with pytest.raises(SettingsError, match=says):
        layer_of_entry(name, text)


def test_versions_tell_texts_apart_and_none_from_an_empty_one():
    assert version_of("é") == version_of("é".encode()) != version_of("e")
    assert (version_of(None), len(version_of(""))) == ("", 40)
