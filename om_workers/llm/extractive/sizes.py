"""Sizes in tokens: of texts as recent models count them, and quickly about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.tokens import counter

counted = counter()  # as recent models do, where their vocabulary is at hand
_PIECE = re.compile(r"['’]?[A-Za-z]{1,12}|\d{1,3}|[^\sA-Za-z0-9]")
_PICTURE = re.compile("[\U00010000-\U0010ffff]")  # two tokens each


def tokens(text: str) -> int:
    """About how many tokens a text is worth: one for a word of up to twelve letters, three digits, or another sign.

    Fitted to o200k_base on English talk, with articles and without; a text of few blanks counts as its characters do.
    """
    return len(_PIECE.findall(text)) + len(_PICTURE.findall(text))


def size_of(messages: Iterable[Message]) -> int:
    """About how many tokens messages are worth."""
    return sum(count_message(message, tokens) for message in messages)
