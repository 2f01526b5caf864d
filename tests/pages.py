"""The pages, read as a test of them needs it: code blocks, spans, sections, tables."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks in one of these languages."""
    return [body for language, body in FENCE.findall(text) if language in languages]


def spans(text: str) -> list[str]:
    """What stands in backticks, outside of fenced blocks."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
