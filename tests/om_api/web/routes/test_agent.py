"""One agent's pages: an observation with what is behind it, and one that is gone."""

import pytest
from attacks import planted


@pytest.fixture
def noted(world):
    world.say("The boat leaves at nine.")
    world.om.force_observe(None, "harold")
    world.settle()
    (observation,) = world.om.observations("harold")
    return observation


def test_an_observation_is_shown_with_its_messages_and_the_generation_that_took_it_in(sign_in, world, noted):
    who, at = sign_in("reader", "harold"), "/ui/agents/harold/observations"
    answer = who.get(f"{at}/{noted.id}").text
    assert "In force" in answer
    assert noted.text.split("\n")[-1].removeprefix("* ").split(" ", 1)[1] in answer
    assert "The boat leaves at nine." in answer
    gone = who.get(f"{at}/zzz")
    assert (gone.status_code, "harold keeps no observation zzz" in gone.text) == (404, True)

    world.om.force_reflect("harold")
    world.settle()
    answer = who.get(f"{at}/{noted.id}").text
    assert "generation 1</a>" in answer
    assert "The boat leaves at nine." in answer


def test_a_marked_line_is_seen_as_what_is_only_quoted(sign_in, world):
    planted(world)
    answer = sign_in("reader", "harold").get("/ui/agents/harold")
    assert answer.text.count('class="quoted"') == 1
    assert "no fact about the user" in answer.text
