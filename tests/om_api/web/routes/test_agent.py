"""One agent's pages: an observation with what is behind it, and one that is gone."""

import pytest
from attacks import planted
from world import World


@pytest.fixture
def noted(world):
    world.say("The boat leaves at nine.")
    world.om.force_observe(None, "harold")
    world.settle()
    (observation,) = world.om.observations("harold")
    return observation


def test_an_observation_is_shown_with_its_messages(sign_in, noted):
    answer = sign_in("reader", "harold").get(f"/ui/agents/harold/observations/{noted.id}")
    assert "In force" in answer.text
    assert noted.text.split("\n")[-1].removeprefix("* ").split(" ", 1)[1] in answer.text
    assert "The boat leaves at nine." in answer.text


def test_one_that_nobody_keeps_is_not_there_and_the_page_says_so(sign_in, noted):
    answer = sign_in("reader", "harold").get("/ui/agents/harold/observations/zzz")
    assert answer.status_code == 404
    assert "harold keeps no observation zzz" in answer.text


def test_one_that_a_generation_took_in_says_which(sign_in, world, noted):
    world.om.force_reflect("harold")
    world.settle()
    answer = sign_in("reader", "harold").get(f"/ui/agents/harold/observations/{noted.id}")
    assert "generation 1</a>" in answer.text
    assert "The boat leaves at nine." in answer.text


def test_when_the_prompt_cache_is_cold_is_told_while_chunks_wait_for_that(sign_in, client, prefix):
    waiting = World(client, prefix, prompt_cache__timing="cache", prompt_cache__minimum="0")
    page = sign_in("reader", "harold")
    waiting.say("one")
    before = page.get("/ui/agents/harold").text
    waiting.say(*[f"turn {n}" for n in range(6)])
    waiting.settle()

    assert "Prompt cache" not in before
    assert "<dt>Prompt cache</dt><dd>cold <time" in page.get("/ui/agents/harold").text


def test_a_marked_line_is_seen_as_what_is_only_quoted(sign_in, world):
    planted(world)
    answer = sign_in("reader", "harold").get("/ui/agents/harold")
    assert answer.text.count('class="quoted"') == 1
    assert "no fact about the user" in answer.text
