"""What others wrote, made fit to stand in one line of ours: short, and without characters that do something."""

from __future__ import annotations

SHORT = 60


def plain(text: str, longest: int = SHORT) -> str:
    """The text in one line of printable characters, others spelled out, cut off with `…` after about `longest`."""
    kept = text[:longest]
    shown = kept if kept.isprintable() else "".join(map(_spelled, kept))
    return shown if len(text) <= longest else f"{shown}…"


def _spelled(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def halved(text: str) -> bool:
    """Whether half of a character (a lone surrogate) stands in a text: no UTF-8 says it."""
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)
