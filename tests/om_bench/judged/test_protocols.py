from om_bench.harness.talks import TalkQuestion
from om_bench.judged.protocols import PROTOCOLS, mark, verdict


def asked(kind, **more):
    return TalkQuestion("q", "a", (), kind, **more)


def test_a_question_is_judged_by_the_rule_of_its_kind():
    for name, question, rule in [
        ("longmemeval", asked("single-session-user"), "plain"),
        ("longmemeval", asked("temporal-reasoning"), "temporal"),
        ("longmemeval", asked("knowledge-update"), "update"),
        ("longmemeval", asked("single-session-preference"), "preference"),
        ("longmemeval", asked("temporal-reasoning", declined=True), "declined"),
        ("locomo", asked("category 2"), "generous"),
        ("locomo", asked("category 5", declined=True), "declined"),
        ("beam", asked("summarization", rubric=("it says so",)), ""),
        ("beam", asked("abstention", declined=True), "declined"),
    ]:
        assert PROTOCOLS[name].rule(question) == rule, (name, question)


def test_what_is_to_be_declined_is_told_apart_and_counts_where_its_protocol_counts_it():
    declined = asked("multi-session", declined=True)

    assert PROTOCOLS["longmemeval"].kinds(declined) == ("multi-session", "abstention")
    assert PROTOCOLS["longmemeval"].counts(declined)
    assert not PROTOCOLS["locomo"].counts(asked("category 5", declined=True))
    assert PROTOCOLS["locomo"].counts(asked("category 1"))
    assert PROTOCOLS["locomo"].kinds(asked("category 4")) == ("single-hop",)


def test_a_verdict_and_a_mark_are_read_from_what_a_judge_says():
    verdicts = {
        "yes": 1.0,
        "**Yes.**": 1.0,
        "No, it says Ghent": 0.0,
        "The answer is: yes": 1.0,
        "perhaps": None,
        "": None,
    }
    marks = {"1": 1.0, "0.5": 0.5, "Score: 0": 0.0, "0.7": None, "1 of 2": None, "good": None}

    assert {said: verdict(said) for said in verdicts} == verdicts
    assert {said: mark(said) for said in marks} == marks
