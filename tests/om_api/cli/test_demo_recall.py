"""The demo asks for a fact that is in no note, and says so where recall does not bring it."""

from datetime import UTC, datetime

import pytest

from om_api.cli.demo import recording
from om_api.cli.demo_recall import FACTS, AskedFact, show_recall
from om_api.recall.searching import SURE
from om_workers.llm.scripted import Scripted

SAID = "For the birthday cake: I am allergic to walnuts."
CAKE = AskedFact("harold", "t-1", "What am I allergic to, for the birthday cake?", "allergic cake", "walnuts")
TEA = AskedFact("harold", "t-1", "Which tea do I like?", "tea", "Darjeeling")


@pytest.fixture
def left(world):
    """Harold's memory, whose notes hold nothing of what was said first."""
    world.model = Scripted.echo(answer="<observations>\n* 🟡 (09:30) User talked about the shop.\n</observations>")
    world.say(SAID, *[f"turn {n}" for n in range(12)])
    world.settle()
    assert "walnuts" not in world.context().text
    return world


def test_a_fact_that_left_the_notes_is_recalled_by_itself_and_by_the_tool(left, capsys):
    done = show_recall(left.om, [CAKE])
    shown = capsys.readouterr().out

    assert done == (1, True)
    assert "What harold's notes no longer hold is recalled by its words" in shown
    assert "  > user: For the «birthday cake»: I am «allergic» to walnuts." in shown.splitlines()
    assert 'recall(query="allergic cake") answers:\n  > [' in shown
    assert left.om.get_context("t-1", "harold").messages[-1].content == CAKE.question


def test_what_the_agent_still_reads_is_not_asked_for(left, capsys):
    left.say("I like Darjeeling.")

    assert show_recall(left.om, [TEA, CAKE]) == (1, True)
    assert TEA.question not in capsys.readouterr().out
    assert show_recall(left.om, [TEA]) == (0, True)
    assert "still hold every fact" in capsys.readouterr().out


def test_what_is_not_recalled_is_said(left, capsys):
    """Catches a demo that shows a success whatever happens."""
    done = show_recall(left.om, [TEA])

    assert done == (1, False)
    assert "BROKEN: the context does not bring it\nBROKEN: the tool does not find it" in capsys.readouterr().out


@pytest.mark.parametrize("fact", FACTS, ids=[fact.word for fact in FACTS])
def test_each_fact_was_said_once_and_its_question_does_not_tell_it(fact):
    said = {(each.resource_id, each.id) for each in recording(datetime.now(UTC)) if fact.word in str(each.content)}

    assert [agent for agent, _ in said] == [fact.agent]
    assert fact.word.casefold() not in f"{fact.question} {fact.query}".casefold()


def test_each_fact_is_found_by_its_question_surely_and_by_what_the_model_asks(world):
    """Whichever of them left the notes, the demo shows a find."""
    world.om.add_messages(each for each in recording(datetime.now(UTC)) if each.resource_id in {"harold", "albert"})

    for fact in FACTS:
        sure = [hit.text for hit in world.om.recall(fact.question, fact.agent, limit=8).hits if hit.certainty >= SURE]
        assert any(fact.word in text for text in sure), fact
        assert fact.word in world.om.answer_recall({"query": fact.query}, fact.agent), fact
