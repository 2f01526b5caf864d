"""The settings that a record carries are written by workers, and read whatever else stands there."""

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
