"""A YAML document is read within bounds, with the fast parser and without it, and says what JSON could say."""

import runpy

import pytest
import yaml
from configured import VALUES

from om_api.domain.errors import SettingsError
from om_api.settings import documents
from om_api.settings.documents import MOST_BYTES, MOST_LEVELS, MOST_VALUES, parse


@pytest.fixture(params=["fast", "plain"])
def read(request, monkeypatch):
    """The parser of this machine, and that of one whose PyYAML was built without libyaml."""
    if request.param == "fast":
        return parse
    monkeypatch.delattr(yaml, "CSafeLoader")
    return runpy.run_path(documents.__file__)["parse"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", None),
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("{1: a, true: b, 2026-01-01: c, ~: d}", {"1": "a", "true": "b", "2026-01-01": "c", "~": "d"}),
        ("a: [1, 0x10, 1:30, 1.5, yes, ~, '5', =, <<]", {"a": [1, 16, 90, 1.5, True, None, "5", "=", "<<"]}),
        ("{a: &x {b: 1, c: 1}, d: {<<: *x, c: 2}}", {"a": {"b": 1, "c": 1}, "d": {"b": 1, "c": 2}}),
        ("{o: {b: &b {<<: {x: 1}, x: 2}}, c: {<<: *b}}", {"o": {"b": {"x": 2}}, "c": {"x": 2}}),
        ("{a: &x 5, *x : 6}", {"a": 5, "5": 6}),
        ("[&x [1], *x, *x]", [[1], [1], [1]]),
    ],
)
def test_a_document_says_what_json_could_say(read, text, says):
    assert read(text, "file") == says


@pytest.mark.parametrize(
    ("at_most", "beyond", "why"),
    [
        ("a: " + "x" * (MOST_BYTES - 3), "a: " + "x" * (MOST_BYTES - 2), "larger than 65,536 bytes"),
        (f"[{'1,' * (MOST_VALUES - 1)}]", f"[{'1,' * MOST_VALUES}]", "permitted: 2,048 keys and values"),
        ("[" * MOST_LEVELS + "]" * MOST_LEVELS, "[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1), "20 levels"),
        (f"[[], {'[' * 19}{']' * 19}]", f"[[], {'[' * 20}{']' * 20}]", "20 levels"),
        ("9" * 100, "9" * 101, "a number of 101 characters; permitted: 100"),
        (f"[&x [{'1,' * 500}], *x, *x, *x]", f"[&x [{'1,' * 500}], *x, *x, *x, *x]", "aliases written out"),
    ],
)
def test_a_bound_is_what_it_says(read, at_most, beyond, why):
    read(at_most, "file")

    with pytest.raises(SettingsError, match=why):
        read(beyond, "file")


def test_half_a_character_is_one_of_the_surrogates():
    assert [documents.halved(chr(code)) for code in (0xD7FF, 0xD800, 0xDFFF, 0xE000)] == [False, True, True, False]


def test_no_document_raises_anything_else_with_either_parser(read):
    """Catches a value that one of the parsers, or what makes values of what it found, stumbles over."""
    texts = [text if isinstance(text, bytes) else text.encode() for text in VALUES.values()]
    said = [_said(read, text) for text in texts]

    assert said == [_said(parse, text) for text in texts]
    assert said.count("refused") >= 25


def _said(read, data):
    try:
        return repr(read(data, "file"))
    except SettingsError as error:
        return "refused" if str(error).isprintable() else f"refused: {error}"
