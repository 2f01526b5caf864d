"""What is sent with a memory."""


def test_most_of_what_a_memory_sends_is_served_from_the_cache(found):
    line = next(line for line in found["lines"] if line["observer"] == "extractive")

    assert line["answering"]["cached"] > 0.5 * sum(line["answering"][what] for what in ("fresh", "cached", "written"))


def test_an_extractive_memory_costs_the_actors_calls_only_and_a_models_prompts_are_billed(found):
    bills = {line["observer"]: line["remembering"] for line in found["lines"] if line["strategy"] == "memory"}

    assert bills["extractive"]["dollars"] == 0
    assert bills["gemini-2.5-flash-lite"]["fresh"] > 1000
    assert (
        bills["gemini-2.5-flash-lite"]["dollars"]
        < bills["gemini-2.5-flash"]["dollars"]
        < bills["the actor's own model"]["dollars"]
    )
