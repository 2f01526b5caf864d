"""What tests of `om bench` share: its commands, and the conversations they are given."""

from datetime import UTC, datetime
from pathlib import Path

from click.testing import CliRunner, Result

from om_api.domain.messages import Message
from om_bench.__main__ import bench

_DATA = Path(__file__).parent / "data"
TALKS = _DATA / "bench"
PLANTED = (_DATA / "planted_facts.json", _DATA / "planted.jsonl", _DATA / "planted_holdout.jsonl")
SMALL = ("--calls=24", "--set=message_threshold=4000", "--set=observation_threshold=2000", "--actor=claude-sonnet-4-6")


def cost(*words: object) -> Result:
    """What `om bench cost` says to these words."""
    return CliRunner().invoke(bench, ["cost", *map(str, words)])


def memory(*words: object) -> Result:
    """What `om bench memory` says to these words."""
    return CliRunner().invoke(bench, ["memory", *map(str, words)])


def day(message: Message) -> str:
    """The day of a message, UTC."""
    return datetime.fromtimestamp(message.at / 1000, UTC).date().isoformat()
