"""What the end of a help text is made of."""

from __future__ import annotations


def examples(*commands: str) -> str:
    """Commands to copy, a line each."""
    return listing("Examples:", *commands)


def listing(title: str, *lines: str) -> str:
    """Lines under a title that click leaves as they are."""
    return "\n".join(("\b", title, *(f"  {line}" for line in lines)))
