from __future__ import annotations

import pytest
from extracts import load

from om_workers.llm.extractive.sizes import counted, size_of, tokens


@pytest.mark.parametrize(
    ("text", "size"), [("", 0), ("hello world", 2), ("internationalisation", 2), ("12345", 2), ("a, b", 3), ("👍", 2)]
)
def test_a_text_is_worth_its_words_digits_and_signs(text, size):
    assert tokens(text) == size


def test_the_quick_size_of_talk_is_about_what_models_count():
    messages = [message for message in load("planted") if isinstance(message.content, str)]

    assert size_of(messages) == pytest.approx(sum(counted(message.content) + 4 for message in messages), rel=0.05)
