"""A document changes in the characters that were meant: comments, order, quotes and all else stay."""

import random

import pytest

from om_api.domain.errors import SettingsError
from om_api.settings.documents import parse
from om_api.settings.yaml_edit import edited

FILE = """\
# harold, since May
observational_memory:  # all of it
  # why so many: é 🔴
  message_threshold: 50000   # tokens
  observer_model: [deepseek, gemini-2.5-flash]   # the second steps in
  observer: {instruction: 'Keep it: all', timeout: 3m}
  reflection:
    # say less
    instruction: |
      be brief

      and kind
    max_loss: 0.2
  # at the end
  timezone: Europe/Berlin
# bye
"""


def change(text, unset=(), **stated):
    def path(key):
        return ("observational_memory", *key.replace("__", ".").split("."))

    return edited(text, {path(key): value for key, value in stated.items()}, [*map(path, unset)], "here")


def lines_of(before, after):
    """Which lines went, and which came."""
    was, now = before.splitlines(), after.splitlines()
    return [line for line in was if line not in now], [line for line in now if line not in was]


def test_a_value_changes_and_every_other_character_stays():
    after = change(FILE, message_threshold=20_000, observer_model=["a", "b"], timezone="UTC")

    assert after == (
        FILE.replace("50000", "20000").replace("[deepseek, gemini-2.5-flash]", "[a, b]").replace("Europe/Berlin", "UTC")
    )


@pytest.mark.parametrize(
    ("key", "value", "went", "came"),
    [
        ("ttl_days", 7, [], ["  ttl_days: 7"]),
        ("reflection__drain", True, [], ["    drain: true"]),
        ("budget__calls_per_day", 5, [], ["  budget:", "    calls_per_day: 5"]),
        ("observer_model", "x", ["  observer_model: [deepseek, gemini-2.5-flash]   # the second steps in"],
         ["  observer_model: x   # the second steps in"]),
        ("reflection__instruction", None, ["    instruction: |", "      be brief", "", "      and kind"],
         ["    instruction: null"]),
        ("observer__style", "terse", ["  observer: {instruction: 'Keep it: all', timeout: 3m}"],
         ["  observer: {instruction: 'Keep it: all', timeout: 3m, style: terse}"]),
    ],
)  # fmt: skip
def test_a_key_comes_where_its_neighbours_stand(key, value, went, came):
    assert lines_of(FILE, change(FILE, **{key: value})) == (went, came)


@pytest.mark.parametrize(
    ("key", "went", "came"),
    [
        ("message_threshold", ["  message_threshold: 50000   # tokens"], []),
        ("observer.timeout", ["  observer: {instruction: 'Keep it: all', timeout: 3m}"],
         ["  observer: {instruction: 'Keep it: all'}"]),
        ("observer.instruction", ["  observer: {instruction: 'Keep it: all', timeout: 3m}"],
         ["  observer: {timeout: 3m}"]),
        ("reflection.instruction", ["    instruction: |", "      be brief", "", "      and kind"], []),
    ],
)  # fmt: skip
def test_a_key_goes_with_its_own_line_and_no_comment_above_it(key, went, came):
    assert lines_of(FILE, change(FILE, [key])) == (went, came)


@pytest.mark.parametrize("text", ["", "# words\n", "observational_memory:\n", "observational_memory: {}\n", "x: 1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_was_added_can_be_taken_out_again(text, newline):
    text = text.replace("\n", newline)
    added = change(text, observer__timeout="5m", ttl_days=3)
    gone = change(added, ["observer.timeout", "ttl_days"])

    assert parse(added, "")["observational_memory"] == {"observer": {"timeout": "5m"}, "ttl_days": 3}
    assert not (parse(gone, "") or {}).get("observational_memory")
    assert [line for line in gone.splitlines() if "#" in line] == [line for line in text.splitlines() if "#" in line]


VALUES = [
    *("plain", "a: b, [c] {d} # e", "yes", "null", "1e3", "2026-01-01", "12:30", "", " blank ", "'\"", "&a *a !x %", "- x"),
    *("two\nlines\n", "a\tb", "\u2028\x85 \u202e 🔴", "x" * 5_000, 0, -1, 1.5, 1e300, True, None, [], ["a, b", "c"]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize(
    "key", ["message_threshold", "observer__instruction", "reflection__instruction", "recall__auto"]
)
def test_whatever_a_value_holds_it_is_read_as_it_was_meant(key, value):
    found = parse(change(FILE, **{key: value}), "")["observational_memory"]
    for name in key.split("__"):
        found = found[name]

    assert found == value


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a: &a {timeout: 3m}\nobservational_memory:\n  observer: *a\n", "observer__timeout"),
        ("observational_memory:\n  message_threshold: &a 3000\n  ttl_days: *a\n", "message_threshold"),
        ("observational_memory: [x]", "ttl_days"),
        ("observational_memory:\n  observer: [x]\n", "observer__timeout"),
    ],
)
def test_what_cannot_be_changed_for_sure_is_left_to_an_editor(text, key):
    """Catches a document that says something else than was asked for, or nothing any more."""
    with pytest.raises(SettingsError, match="by hand"):
        change(text, **{key: 5})


def test_what_is_no_yaml_is_named_and_not_changed():
    with pytest.raises(SettingsError, match="here, line 3, column"):
        change("observational_memory:\n  ttl_days: [\n", message_threshold=5)


KEYS = ["message_threshold", "ttl_days", "observer.timeout", "observer.instruction", "reflection.max_loss", "timezone"]


@pytest.mark.parametrize("seed", range(40))
def test_any_sequence_of_changes_comes_to_what_was_asked_for_and_loses_no_comment(seed):
    rng, text, meant = random.Random(seed), FILE, {}
    comments = [line.strip() for line in FILE.splitlines() if line.strip().startswith("#")]
    for _ in range(12):
        key = rng.choice(KEYS)
        if rng.random() < 0.4 and meant.get(key) is not None:
            text, meant[key] = change(text, [key]), None
        else:
            value = rng.choice(VALUES[:-3])
            text, meant[key] = change(text, **{key.replace(".", "__"): value}), value or "said"
            meant[key] = (value,)
    says = parse(text, "")["observational_memory"]

    for key, value in meant.items():
        group, _, name = key.rpartition(".")
        found = (says.get(group) or {}) if group else says
        assert (name in found) == (value is not None)
        assert value is None or found[name] == value[0]
    assert [line.strip() for line in text.splitlines() if line.strip().startswith("#")] == comments
