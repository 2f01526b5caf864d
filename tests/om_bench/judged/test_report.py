import pytest

from om_bench.harness.talks import Talk, TalkQuestion, turn
from om_bench.judged.journal import Answered, JudgedAnswer, RunPlan, SpentTokens, journal
from om_bench.judged.protocols import PROTOCOLS
from om_bench.judged.report import report
from om_bench.judged.running import chosen

QUESTIONS = (
    TalkQuestion("Which pet?", "a greyhound", ("m1",), "category 4"),
    TalkQuestion("Which gate?", "an iron one", ("m2",), "category 4"),
    TalkQuestion("Where did she park?", "", ("m3",), "category 5", declined=True),
)
ASKED = chosen(
    [Talk("t", (turn("m1", "user", "hello", 1_710_000_000_000, "t"),), QUESTIONS)], (), None, PROTOCOLS["locomo"]
)


@pytest.fixture
def found(tmp_path):
    with journal(tmp_path, RunPlan("locomo", (), "m", "j", "o", {}, (), 3, "")) as kept:
        kept.add(Answered("0-t#0", "a greyhound", 100, ("pet",), "", SpentTokens(2, 10, 5, 0.25, 0)))
        kept.add(Answered("0-t#1", "", 300, (), "it answered nothing", SpentTokens(1, 10, 0, 0.0, 1)))
        kept.add(Answered("0-t#2", "in | Ghent", 200))
        for number, score in enumerate((1.0, 0.0, 0.0)):
            kept.add(JudgedAnswer(f"0-t#{number}", score, ("said",), int(number == 2)))
        return report(ASKED, kept, PROTOCOLS["locomo"], ("m", "scripted", "o"))


def test_what_is_to_be_declined_is_told_apart(found):
    assert (found.whole.of, found.whole.score) == (2, 50.0)
    assert (found.kinds["adversarial"].of, found.kinds["adversarial"].score) == (1, 0.0)
    assert found.kinds["adversarial"].f1 is None
    assert found.whole.f1 == 50.0
    assert found.whole.low < 50 < found.whole.high
