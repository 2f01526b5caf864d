import pytest

from om_bench.judged.rules import NOTHING, judge, read
from om_workers.llm.base import Request


def reading(question, *contexts):
    return read(Request(purpose="try", system="", prompt="", task=question, observations=contexts)).text


def judging(right, answer, rule="plain"):
    return judge(Request(purpose="try", system="", prompt="", task=rule, observations=("question", right, answer))).text


def test_the_line_with_most_of_the_question_is_the_answer():
    assert reading("Where does Tom keep bees?", "* Ilse welds\n* Tom keeps bees in Ghent") == "Tom keeps bees in Ghent"


def test_what_no_line_is_sure_of_is_looked_up_once():
    assert reading("Where does Tom keep his bees?", "* Tom sings").startswith("RECALL: ")
    assert reading("Where does Tom keep his bees?", "* Tom sings", "> user: Tom keeps bees in Ghent").endswith("Ghent")
    assert reading("Where does Tom keep his bees?", "* Ilse welds", "nothing") == NOTHING


@pytest.mark.parametrize(
    ("right", "answer", "rule", "said"),
    [
        ("a greyhound", "She adopted a greyhound", "plain", "yes"),
        ("a greyhound called Biscuit", "a cat", "plain", "no"),
        ("", "It was not said.", "declined", "yes"),
        ("", "Ghent", "declined", "no"),
        ("greyhound Biscuit", "a greyhound", "", "0.5"),
        ("greyhound", "a greyhound", "", "1"),
        ("greyhound", "a cat", "", "0"),
    ],
)
def test_the_judge_compares_words(right, answer, rule, said):
    assert judging(right, answer, rule) == said
