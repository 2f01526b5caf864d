"""Which answers can be used, and what those took that cannot."""

import pytest

from om_workers.llm.base import BilledError, Usage
from om_workers.llm.provider import ProviderAnswer, usable


class Told(ProviderAnswer, frozen=True):
    text: str = ""
    cut: str = ""

    def _usage(self):
        return Usage(input=1)

    def _text(self, model):
        return usable(model, self.text, self.cut)


@pytest.mark.parametrize(("text", "cut"), [("", ""), ("half", "ran out of room")])
def test_an_answer_without_notes_is_unusable_also_where_it_is_billed(text, cut):
    with pytest.raises(BilledError) as failed:
        Told(text=text, cut=cut).reply("m")

    assert failed.value.why == "unusable"
