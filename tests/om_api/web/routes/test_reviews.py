"""Reviews on the pages: what a proposal leaves out is named, and a word that comes too late is told as that."""

import pytest
from world import World

from om_api.domain.values import Outcome


@pytest.fixture
def proposed(client, prefix, sign_in):
    world = World(client, prefix, reflection__review="ask")
    world.say("The boat leaves at nine.")
    world.om.force_observe(None, "harold")
    world.settle()
    world.om.force_reflect("harold")
    world.settle()
    return world, world.om.proposal("harold"), sign_in("operator", "harold")


def test_the_observations_that_it_would_take_in_are_shown(proposed):
    world, proposal, who = proposed
    (noted,) = world.om.observations("harold")
    answer = who.get("/ui/agents/harold/review")
    assert proposal.generation.observation_ids == (noted.id,)
    assert "The observations it would take in" in answer.text
    assert f"/ui/agents/harold/observations/{noted.id}" in answer.text
    assert "nothing of it is left" not in answer.text


def test_an_approval_that_comes_too_late_is_told_as_superseded(proposed):
    world, proposal, who = proposed
    world.om.send_back("harold", proposal=proposal.id, comment="once more")
    form = {"proposal": proposal.id, "text": proposal.generation.text, "proposed": proposal.generation.text}
    answer = who.send("/ui/agents/harold/review/approve", form)

    assert answer.status_code == 303
    assert "waits%20no%20longer" in answer.headers["set-cookie"] or "waits no longer" in answer.headers["set-cookie"]
    told = world.om.audit(count=1).entries[0]
    assert (told.did, told.ended) == ("approved", Outcome.SUPERSEDED)
