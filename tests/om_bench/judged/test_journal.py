import pytest

from om_api.domain.errors import InvalidInputError
from om_bench.judged.journal import FILE, Answered, JudgedAnswer, MemoryMade, RunPlan, SpentTokens, journal

PLAN = RunPlan("locomo", ("a.json 12",), "m", "j", "extractive", {}, (), 3, "f")
ANSWER = Answered("0-a#0", "Ghent", 900, ("gates",), "", SpentTokens(2, 30, 4, 0.5, 0))


def written(folder, *entries):
    with journal(folder, PLAN) as kept:
        for entry in entries:
            kept.add(entry)


def test_what_was_written_is_there_again(tmp_path):
    written(tmp_path / "run", ANSWER, JudgedAnswer("0-a#0", 0.5, ("0.5",)), MemoryMade("0", SpentTokens(1, 2, 3)))

    with journal(tmp_path / "run", PLAN) as kept:
        assert kept.answers == {"0-a#0": ANSWER}
        assert kept.judgements["0-a#0"].score == 0.5
        assert kept.memories["0"].spent == SpentTokens(1, 2, 3)


def test_a_last_line_that_was_cut_off_is_dropped_and_what_comes_next_is_whole(tmp_path):
    written(tmp_path, ANSWER)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"type":"judgement","key":"0-a#0","sco')
    written(tmp_path, JudgedAnswer("0-a#0", 1.0))

    with journal(tmp_path, PLAN) as kept:
        assert (kept.answers["0-a#0"], kept.judgements["0-a#0"].score) == (ANSWER, 1.0)


def test_another_run_in_the_same_folder_is_refused_with_what_differs(tmp_path):
    for field, value, told in [
        ("settings", ("message_threshold=1",), 'settings was [] and is ["message_threshold=1"]'),
        ("files", ("a.json 13",), 'files was ["a.json 12"] and is ["a.json 13"]'),
        ("judge", "other", 'judge was "j" and is "other"'),
        ("models", {"m": "2"}, 'models was {} and is {"m":"2"}'),
    ]:
        written(tmp_path, ANSWER)
        before = (tmp_path / FILE).read_bytes()
        other = RunPlan(**{name: getattr(PLAN, name) for name in PLAN.__struct_fields__} | {field: value})

        with pytest.raises(InvalidInputError) as refused, journal(tmp_path, other):
            pass
        assert told in str(refused.value), (field, value)
        assert "--out" in str(refused.value), (field, value)
        assert (tmp_path / FILE).read_bytes() == before, (field, value)
