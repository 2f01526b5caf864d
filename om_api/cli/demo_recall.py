"""What `om demo` shows of recall: a fact that no note holds any more is asked for, and found, by itself and by the tool."""

from collections.abc import Sequence
from typing import NamedTuple

import click

from om_api.cli.output import print_line
from om_api.cli.passages import Passages
from om_api.client.memory import ObservationalMemory
from om_api.context import Context
from om_api.recall.query import parse_query
from om_api.recall.recalled import RecalledHit

_INDENT = 4


class AskedFact(NamedTuple):
    """Something that was said, a question about it, what the Actor may look up, and a word that only the answer has."""

    agent: str
    thread: str
    question: str
    query: str
    word: str

    def is_in(self, text: str) -> bool:
        """Whether a text holds the answer."""
        return self.word.casefold() in text.casefold()


FACTS = (
    AskedFact(
        "harold",
        "harold-team",
        "Somebody orders a cake for the shop's birthday. What am I allergic to?",
        "cake birthday allergic",
        "walnuts",
    ),
    AskedFact(
        "harold",
        "harold-team",
        "Why is a book with a label on the shelf above the coffee machine?",
        "book shelf coffee machine",
        "the very first parcel",
    ),
    AskedFact(
        "harold",
        "harold-incident",
        "On ordinary days and on newsletter mornings, how busy are the workers?",
        "workers ordinary days newsletter mornings",
        "72 %",
    ),
    AskedFact("albert", "albert-refunds", "Who swears by those envelopes?", "swears envelopes", "Wen swears"),
    AskedFact(
        "albert",
        "albert-forecast",
        "How many parcels can the team pack with a second shift, and where do the tables end?",
        "second shift tables end",
        "not the people",
    ),
)


def show_recall(om: ObservationalMemory, facts: Sequence[AskedFact] = FACTS) -> tuple[int, bool]:
    """Ask for the first of some facts that its agent reads nowhere.

    Returns how many messages that added, and whether it was recalled; asks nothing where every fact is still read.
    """
    left = (fact for fact in facts if not fact.is_in(om.get_context(fact.thread, fact.agent).text))
    fact = next(left, None)
    if fact is None:
        click.echo("\nRecall: the notes still hold every fact that would have been asked for.")
        return 0, True
    click.echo(f"\nWhat {fact.agent}'s notes no longer hold is recalled by its words")
    om.add_message({"role": "user", "content": fact.question}, resource_id=fact.agent, thread_id=fact.thread)
    print_line(f"asked in {fact.thread}, and answered in none of the notes: {fact.question}", _INDENT)
    context = om.get_context(fact.thread, fact.agent)
    by_itself, by_tool = _by_itself(context, fact), _by_tool(om, fact)
    return 1, by_itself and by_tool


def _by_itself(context: Context, fact: AskedFact) -> bool:
    """Show what a context brought of it without being asked: notes are not changed by that."""
    if fact.is_in("\n".join(block.text for block in context.blocks if block.stable)):
        return _lost("the notes hold it")
    found = [hit for hit in context.recalled if fact.is_in(hit.text)]
    if not found or not fact.is_in(context.text):
        return _lost("the context does not bring it")
    click.echo("by itself, at the very end of the context (Context.recalled):")
    _show(found[0], fact)
    return True


def _by_tool(om: ObservationalMemory, fact: AskedFact) -> bool:
    """Show what the tool answers to the Actor."""
    answer = om.answer_recall({"query": fact.query}, fact.agent)
    line = next((line for line in answer.split("\n") if line.startswith("> ") and fact.is_in(line)), "")
    if not line:
        return _lost("the tool does not find it")
    click.echo(f'as a tool of the model, recall(query="{fact.query}") answers:')
    print_line(f"  {line}", _INDENT)
    return True


def _show(hit: RecalledHit, fact: AskedFact) -> None:
    Passages(parse_query(fact.question, hit.at, "UTC")).hit(hit)


def _lost(why: str) -> bool:
    click.echo(f"BROKEN: {why}")
    return False
