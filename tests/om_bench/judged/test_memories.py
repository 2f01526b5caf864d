from om_bench.harness.talks import Talk, TalkQuestion, turn
from om_bench.judged.memories import asked_at, sittings

HOUR = 3_600_000
START = 1_710_000_000_000


def said(number, at, thread="talk"):
    return turn(f"m{number}", "user", f"Words number {number} about gates.", START + at, thread)


def test_a_sitting_ends_with_an_idle_hour_or_its_thread():
    messages = [said(1, 0), said(2, 1000), said(3, HOUR + 1000), said(4, HOUR + 2000, "other")]

    assert [[m.id for m in sitting] for sitting in sittings(messages)] == [["m1", "m2"], ["m3"], ["m4"]]
    assert list(sittings([])) == []


def test_a_question_without_a_day_is_asked_a_day_after_the_last_message():
    talk = Talk("t", (said(1, 0),), ())

    assert asked_at(TalkQuestion("q", "a", ()), talk) == START + 24 * HOUR
    assert asked_at(TalkQuestion("q", "a", (), asked_at=5), talk) == 5
