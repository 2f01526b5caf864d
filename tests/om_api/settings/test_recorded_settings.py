"""The settings that a record carries are written by workers, and read whatever else stands there."""

import msgspec
import pytest

from om_api.settings import MemorySettings, recorded_settings


def test_what_was_written_is_read():
    said = recorded_settings.of(MemorySettings(message_threshold=500))

    assert recorded_settings.read(recorded_settings.write(said)) == said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"limits": 5}',
        '{"view": {"timezone": "Mars"}}',
        '{"limits":' * 100_000,
        f'{{"retention_s": {"9" * 5_000}}}',
    ],
)
def test_what_cannot_be_read_counts_as_not_written(text):
    """Catches a record that ends a sweep of everybody's, by more brackets than Python can count."""
    assert recorded_settings.read(text) is None


def test_what_is_longer_than_any_record_is_not_read():
    written = recorded_settings.write(recorded_settings.of(MemorySettings()))
    room = recorded_settings.LONGEST - len(written)

    assert recorded_settings.read(written + " " * room) is not None
    assert recorded_settings.read(written + " " * (room + 1)) is None


@pytest.mark.parametrize(
    ("said", "whole", "raw"),
    [({}, None, 1_000), ({"context_max_tokens": 700}, 700, None), ({"context_max_tokens": None}, None, None)],
)
def test_a_context_has_room_for_raw_messages_of_twice_the_threshold_unless_somebody_says_otherwise(said, whole, raw):
    written = recorded_settings.write(recorded_settings.of(MemorySettings(message_threshold=500, **said)))
    view = recorded_settings.read(written).view_of(0)

    assert (view.context_max_tokens, view.raw_max_tokens) == (whole, raw)


@pytest.mark.parametrize(("observed", "raw"), [(0, 9_000), (1_000, 7_000), (4_000, 1_000), (9_000, 1_000)])
def test_a_shared_budget_moves_the_room_with_what_observations_leave_free(observed, raw):
    settings = MemorySettings(message_threshold=500, observation_threshold=4_000, share_token_budget=True)

    assert recorded_settings.of(settings).view_of(observed).raw_max_tokens == raw


def test_a_record_of_before_gives_the_room_that_is_usual_today():
    """A worker of before wrote `null` for what nobody had set; the next look of one of today's writes what is set."""
    older = msgspec.json.decode(recorded_settings.write(recorded_settings.of(MemorySettings(message_threshold=500))))
    del older["bounded"], older["view"]["raw_max_tokens"]

    assert recorded_settings.read(msgspec.json.encode(older).decode()).view_of(0).raw_max_tokens == 1_000
