"""What others said, inside a text of ours: none of its lines begins a turn there, and none of its names ends a line."""

from collections.abc import Mapping
from typing import Any

LONGEST_NAME = 120
_ROUND = str.maketrans("[]", "()")


def folded(text: str) -> str:
    """Return the text as one turn shows it: every line but the first stands behind a tab, so that none can pass for a head.

    Whatever ends a line ends one here: carriage returns, form feeds, separators and U+2028 too. Empty lines stay empty.
    """
    lines = text.splitlines()
    return "\n".join([lines[0], *(line and f"\t{line}" for line in lines[1:])]) if lines else ""


def one_line(name: object) -> str:
    """Return a name as it may stand in a line of ours: its visible characters, blanks as one space, at most 120."""
    return "".join(filter(str.isprintable, " ".join(str(name).split())))[:LONGEST_NAME].strip()


def in_brackets(name: object) -> str:
    """Return a name as it may stand in square brackets of ours: on one line, its own brackets round, so that none ends them."""
    return one_line(name).translate(_ROUND)


def placeholder(part: Mapping[str, Any]) -> str:
    """What stands for a part that we cannot show: its type in brackets, `[server_tool_use]`."""
    return f"[{in_brackets(part['type']) or 'unknown'}]"
