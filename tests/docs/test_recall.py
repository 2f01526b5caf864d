"""The page of recall: its programs run, and print what it says."""

import pytest
from pages import ROOT, blocks

PAGE = (ROOT / "docs" / "recall.md").read_text()
ASK, TOOL, RANKER = blocks(PAGE, "python")
NOW = 1_795_167_000_000


@pytest.fixture
def printed(own_store, capsys):
    """What a program of the page prints, by lines."""

    def run(code):
        exec(compile(code, "docs/recall.md", "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out.splitlines()

    return run


def test_asking_finds_the_message_and_browsing_its_turns(printed):
    assert printed(ASK) == [
        "thread-1 user My passport number is X1234567. read as it was said",
        "None ",
        "['Which number do you mean?', 'My passport number is X1234567.', 'Noted.'] False False",
    ]


def test_the_tool_answers_the_models_of_three_providers(printed):
    answers = "\n".join(printed(TOOL)).split("I looked it up: ")[1:]

    assert len(answers) == 3
    assert all("Thread t-1, message " in each and "user: My passport number is X1234567." in each for each in answers)


def test_a_ranker_orders_what_words_found(printed):
    assert printed(RANKER) == ["['My passport expired.', 'A passport, a map and a tent for the journey to Oslo.']"]
