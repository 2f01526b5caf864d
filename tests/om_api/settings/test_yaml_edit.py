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
    was, now = before.splitlines(), after.splitlines()
    return [line for line in was if line not in now], [line for line in now if line not in was]


def test_a_value_changes_and_every_other_character_stays_and_what_was_added_can_be_taken_out_again():
    after = change(FILE, message_threshold=20_000, observer_model=["a", "b"], timezone="UTC")
    assert after == (
        FILE.replace("50000", "20000").replace("[deepseek, gemini-2.5-flash]", "[a, b]").replace("Europe/Berlin", "UTC")
    )
    for text in ("", "# words\n", "observational_memory:\n", "observational_memory: {}\r\n", "x: 1", "# words\r\n"):
        added = change(text, observer__timeout="5m", ttl_days=3)
        gone = change(added, ["observer.timeout", "ttl_days"])
        assert parse(added, "")["observational_memory"] == {"observer": {"timeout": "5m"}, "ttl_days": 3}, text
        assert not (parse(gone, "") or {}).get("observational_memory"), text
        assert ("# words" in gone.splitlines()) == ("# words" in text.splitlines()), text


VALUES = [
    *("plain", "a: b, [c] {d} # e", "yes", "null", "1e3", "2026-01-01", "12:30", "", " blank ", "'\"", "&a *a !x %", "- x"),
    *("two\nlines\n", "a\tb", "\u2028\x85 \u202e 🔴", "x" * 5_000, 0, -1, 1.5, 1e300, True, None, [], ["a, b", "c"]),
]  # fmt: skip


def test_whatever_a_value_holds_it_is_read_as_it_was_meant_and_what_cannot_be_changed_for_sure_is_left_to_an_editor():
    for value in VALUES:
        for key in ["message_threshold", "observer__instruction", "reflection__instruction", "recall__auto"]:
            found = parse(change(FILE, **{key: value}), "")["observational_memory"]
            for name in key.split("__"):
                found = found[name]
            assert found == value, (value, key)
    # Catches a document that says something else than was asked for, or nothing any more.
    for text, key in (("a: &a {timeout: 3m}\nobservational_memory:\n  observer: *a\n", "observer__timeout"),
                      ("observational_memory:\n  message_threshold: &a 3000\n  ttl_days: *a\n", "message_threshold"),
                      ("observational_memory:\n  observer: [x]\n", "observer__timeout")):  # fmt: skip
        with pytest.raises(SettingsError, match="by hand"):
            change(text, **{key: 5})
    with pytest.raises(SettingsError, match="here, line 3, column"):
        change("observational_memory:\n  ttl_days: [\n", message_threshold=5)


def test_a_key_comes_where_its_neighbours_stand_and_goes_with_its_own_line_alone():
    observer, block = "  observer: {instruction: 'Keep it: all', timeout: 3m}", ["", "      be brief", "      and kind"]
    for change_, went, came in (
        ({"ttl_days": 7}, [], ["  ttl_days: 7"]),
        ({"reflection__drain": True}, [], ["    drain: true"]),
        ({"budget__calls_per_day": 5}, [], ["  budget:", "    calls_per_day: 5"]),
        ({"reflection__instruction": None}, [*block, "    instruction: |"], ["    instruction: null"]),
        ({"observer__style": "terse"}, [observer], [observer.replace("3m", "3m, style: terse")]),
        (["message_threshold"], ["  message_threshold: 50000   # tokens"], []),
        (["observer.timeout"], [observer], ["  observer: {instruction: 'Keep it: all'}"]),
        (["observer.instruction"], [observer], ["  observer: {timeout: 3m}"]),
        (["reflection.instruction"], [*block, "    instruction: |"], []),
    ):
        after = change(FILE, **change_) if isinstance(change_, dict) else change(FILE, change_)
        assert tuple(map(sorted, lines_of(FILE, after))) == (sorted(went), sorted(came)), change_


def test_any_sequence_of_changes_comes_to_what_was_asked_for_and_loses_no_comment():
    keys = ("message_threshold", "ttl_days", "observer.timeout", "observer.instruction", "reflection.max_loss")
    comments = [line.strip() for line in FILE.splitlines() if line.strip().startswith("#")]
    for seed in range(12):
        rng, text, meant = random.Random(seed), FILE, {}
        for _ in range(12):
            key = rng.choice(keys)
            if rng.random() < 0.4 and meant.get(key) is not None:
                text, meant[key] = change(text, [key]), None
            else:
                value = rng.choice(VALUES[:-3])
                text, meant[key] = change(text, **{key.replace(".", "__"): value}), (value,)
        says = parse(text, "")["observational_memory"]
        for key, value in meant.items():
            group, _, name = key.rpartition(".")
            found = (says.get(group) or {}) if group else says
            assert (found[name],) == value if value else name not in found, (seed, key)
        assert [line.strip() for line in text.splitlines() if line.strip().startswith("#")] == comments, seed
