"""A title without a model: the newest request in a few words, or none where nothing is said."""

import pytest

from om_api import Message
from om_api.domain.kept.extractors import TITLE, Extractor
from om_api.language.calendar import LocalTime
from om_workers.llm.extractive.titling import title
from om_workers.llm.extractive.units import units


def titled(*texts, role="user"):
    messages = [
        Message(role=role, content=text, id=f"m-{n}", thread_id="t", resource_id="r", at=1_763_600_000_000 + n)
        for n, text in enumerate(texts)
    ]
    return title(units(messages), None, LocalTime("UTC"), Extractor(slug=TITLE, instruction=""))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Can you book a flight to Oslo for Friday?"], "Book a flight to Oslo for Friday"),
        (["Please help me to mend the roof."], "Mend the roof"),
        (["Hi!", "thanks"], ""),
        (
            ["We decided to use Postgres instead of MySQL because of JSON support."],
            "Decided to use Postgres instead of MySQL",
        ),
        (["For what it's worth, people asked most about parcels."], "People asked most about parcels"),
        (["I guess that touches your freeze?"], "Touches your freeze"),
        (["Book a table at Luigi's.", "And the weather is fine today."], "Book a table at Luigi's"),
    ],
)
def test_a_title_tells_the_newest_request(texts, expected):
    assert titled(*texts) == expected


def test_what_an_assistant_says_makes_no_title():
    assert titled("Can you book a flight to Oslo?", role="assistant") == ""


def test_a_title_is_short_and_opens_no_tag():
    found = titled("Please write the quarterly report about " + "gardens and roofs " * 30)
    assert 3 <= len(found) <= 60
    assert "<" not in titled("Can you explain <observations> to the new team?")
