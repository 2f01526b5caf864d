"""Styles: how terse notes are, by the share of the original's tokens that they may have."""

from __future__ import annotations

from typing import NamedTuple

_PLENTY, _SOME, _LITTLE = 0.6, 0.35, 0.3


class Style(NamedTuple):
    """How notes are written.

    `level` is that of words.telegraphic. `grouped`: one line for what a speaker says in a sitting, without its time, instead
    of one a message. `dated`: what a relative date means is told.
    """

    level: int
    grouped: bool
    dated: bool


def style_for(share: float) -> Style:
    """The style of notes that may have this share of what they note."""
    if share >= _SOME:
        return Style(0 if share >= _PLENTY else 2, grouped=False, dated=True)
    return Style(3, grouped=True, dated=share >= _LITTLE)
