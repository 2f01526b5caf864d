"""Codes of blocks: what one tells, and that it costs a context next to nothing."""

import pytest

from om_api.context import View, build
from om_api.context.signature import Signer
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.domain.tokens import counter
from om_api.domain.values import Observation, Record, Scope, Stored, ThreadState

SIGNER = Signer("5e" * 16, "")


def test_a_block_has_a_code_that_other_languages_can_make():
    assert SIGNER.framed("observations", "* 🔴 bees") == '<observations id="326893019655">\n* 🔴 bees\n</observations>'
    assert Signer().framed("observations", "* 🔴 bees") == "<observations>\n* 🔴 bees\n</observations>"


@pytest.mark.parametrize(
    ("signer", "tag", "body"),
    [
        (SIGNER, "observations", "bees "),
        (SIGNER, "reflection", "bees"),
        (SIGNER._replace(key="5f" * 16), "observations", "bees"),
        (SIGNER._replace(place="t-1"), "observations", "bees"),
        (Signer(), "observations", "bees"),
    ],
)
def test_a_code_is_right_for_one_text_one_tag_one_memory(signer, tag, body):
    code = SIGNER.framed("observations", "bees").split('"')[1]

    assert SIGNER.made("observations", code, "bees")
    assert not signer.made(tag, code, body)


def test_a_text_with_half_of_a_character_can_be_looked_at():
    assert not SIGNER.made("observations", "0" * 12, "\ud800")


@pytest.mark.parametrize("code", ["", "١" * 12, "é", "\ud800" * 12])
def test_whatever_stands_in_the_place_of_a_code_is_compared(code):
    assert not SIGNER.made("observations", code, "bees")


@pytest.mark.parametrize("scope", [Scope("harold"), Scope("harold", "t-1")])
def test_a_block_costs_six_tokens_more(scope):
    count = counter("o200k_base")
    notes = [Observation(id=f"o{n}", thread_id="t-1", activation=f"a{n}", text=f"Date: Dec {n}, 2025") for n in (1, 2)]

    def tokens(key):
        read = Snapshot(
            scope=scope,
            record=Record(),
            chunks=[],
            observations=[Stored(n, note, b"") for n, note in enumerate(notes)],
            messages=[Message(role="user", content="hi")],
            thread=ThreadState(id="t-1"),
            signing_key=key,
        )
        return build(read, View(), count, 0).tokens

    assert tokens("5e" * 16) - tokens("") == 3 * 6
