"""Figures say what raw is, and why there are none of an agent."""


def test_an_agent_without_figures_is_told_what_to_set(sign_in, world):
    world.say("Mine.", resource="harold", tokens=10)
    world.settle()
    told = sign_in("reader", "harold").get("/ui/agents/harold/figures").text

    assert "measure the first 200 agents" in told
    assert "Set metrics.resources" in told


def test_what_is_sealed_has_a_column_of_its_own(sign_in, world):
    world.say(*["x"] * 3, resource="harold", tokens=10)
    world.settle()
    told = sign_in("reader", "*").get("/ui/figures").text

    assert "Raw tokens, unsealed" in told
    assert "Raw, in chunks" in told
