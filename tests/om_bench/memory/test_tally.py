from om_bench.memory.tally import Scored, Tally


def test_a_tally_is_a_share_in_percent():
    tally = Tally()
    tally.add(1, 2)
    tally.add(1, 1)

    assert (tally.percent, tally.shown) == (66.7, "66.7")
    assert (Tally().percent, Tally().shown) == (0.0, "-")


def test_a_question_counts_for_every_role_whose_words_are_its_evidence():
    scored = Scored()
    scored.add(1, {"user"})
    scored.add(0, ["tool", "user", "tool"])

    assert scored.all == Tally(of=2, did=1)
    assert [scored.of(role) for role in ("user", "tool", "assistant")] == ["50.0", "0.0", "-"]
