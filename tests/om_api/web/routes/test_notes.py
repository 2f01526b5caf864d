"""Pages of notes, lines and threads."""

import pytest
from attacks import planted
from served import settings_of
from world import World

from om_api.domain.values import Outcome


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


AT = "/ui/agents/harold"


@pytest.fixture
def group(world):
    world.om.add_line("the <b>harbour</b> opens at nine", "harold", "t-1")
    house = World(world.client, world.prefix, reflection__mode="archive")
    house.om.force_reflect("harold")
    house.settle()
    (found,) = house.om.groups("harold")
    return found


def test_groups_are_listed_and_each_is_read(sign_in, group):
    who = sign_in("reader", "harold")

    assert f'href="{AT}/groups"' in who.get(f"{AT}/generations").text
    listed = who.get(f"{AT}/groups").text
    assert f'href="{AT}/groups/{group.id}"' in listed
    assert "&lt;b&gt;harbour" in listed
    assert "opens at nine" in who.get(f"{AT}/groups/{group.id}").text
    assert who.get(f"{AT}/groups/aaaaaaaa").status_code == 404


@pytest.fixture
def proposed(client, prefix, sign_in):
    world = World(client, prefix, reflection__review="ask")
    world.say("The boat leaves at nine.")
    world.om.force_observe(None, "harold")
    world.settle()
    world.om.force_reflect("harold")
    world.settle()
    return world, world.om.proposal("harold"), sign_in("operator", "harold")


def test_what_waits_is_listed_shown_and_thought_again_with_a_comment(proposed, sign_in):
    world, proposal, who = proposed
    (noted,) = world.om.observations("harold")
    reader = sign_in("reader", "harold")
    assert 'href="/ui/agents/harold/review"' in reader.get("/ui/reviews").text
    assert "Approve" not in reader.get("/ui/agents/harold/review").text
    page = who.get("/ui/agents/harold/review").text
    assert proposal.generation.observation_ids == (noted.id,)
    assert f"/ui/agents/harold/observations/{noted.id}" in page
    assert "<ins>" in page
    assert "The boat leaves at nine." in page
    assert "nothing of it is left" not in page

    sent = who.send("/ui/agents/harold/review/send-back", {"proposal": proposal.id, "comment": "Say <where>."})
    world.settle()
    again = world.om.proposal("harold")
    assert (sent.status_code, again.id != proposal.id, world.om.stats("harold").generation) == (303, True, 0)
    assert "Say <where>." in repr(world.model.requests[-1])


def test_an_approval_that_comes_too_late_is_told_as_superseded(proposed):
    world, proposal, who = proposed
    world.om.send_back("harold", proposal=proposal.id, comment="once more")
    form = {"proposal": proposal.id, "text": proposal.generation.text, "proposed": proposal.generation.text}
    answer = who.send("/ui/agents/harold/review/approve", form)

    assert answer.status_code == 303
    assert "waits%20no%20longer" in answer.headers["set-cookie"] or "waits no longer" in answer.headers["set-cookie"]
    told = world.om.audit(count=1).entries[0]
    assert (told.did, told.ended) == ("approved", Outcome.SUPERSEDED)


SECRET = "ada@example.com"


@pytest.fixture
def settings(settings):
    return settings_of(settings, redaction__before="store")


def test_what_was_stored_before_is_redacted_by_a_button_once_it_was_seen_how_much(sign_in, client, prefix):
    World(client, prefix).say(f"write to {SECRET}")
    session = sign_in("operator", "harold")
    would = session.send("/ui/agents/harold/redact", {})
    before = World(client, prefix).om.messages("harold", "t-1")[0].content
    done = session.send("/ui/agents/harold/redact", {"sure": "yes"})
    again = session.send("/ui/agents/harold/redact", {})

    assert "<li>1 email</li><li>messages: 1 place</li>" in would.text
    assert SECRET in before
    assert SECRET not in would.text + done.text
    assert World(client, prefix).om.messages("harold", "t-1")[0].content == "write to [email]"
    assert "There is nothing of it." in again.text
