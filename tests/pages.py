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


def section(text: str, title: str) -> str:
    """What stands under a heading of the second level."""
    return re.split(r"^## ", text.split(f"\n## {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def table(text: str) -> dict[str, str]:
    """The second cells of a section's tables by their first ones, without backticks."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0].strip("`"): row[1].strip("`") for row in rows}
