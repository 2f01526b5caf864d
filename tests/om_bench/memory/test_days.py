from om_bench.harness.talks import Talk, TalkQuestion
from om_bench.memory.days import named_days, spelled_out


def test_a_day_is_known_however_it_is_spelled():
    for text in ["on May 7", "7 May 2023", "the 7th of may", "2023-05-07T10:00Z", "May the 7th, 2023"]:
        assert named_days(text) == {(5, 7)}, text


def test_what_names_no_day_is_none():
    for text in ["last Friday", "in May", "may 70", "may 7:30", "maybe 7", "2023", "7 mayors"]:
        assert named_days(text) == set(), text


def test_a_question_that_a_day_answers_is_answered_where_the_day_is_spelled_out():
    answers = ("on 7 May", "May 8 and June 9", "Ghent")
    talk = Talk("talk", (), tuple(TalkQuestion("When?", answer, ("m-0",)) for answer in answers))

    assert spelled_out(talk, "It was on May 7. The 8th of May is free.") == (1, 2)
