"""Pages of notes, lines and threads."""

import pytest
from attacks import planted
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


WRITTEN = "/ui/agents/harold/lines"


@pytest.fixture
def who(sign_in, world):
    world.om.add_line("User never flies", "harold", "t-1")
    return sign_in("operator", "harold")


def test_a_line_that_says_so_already_is_not_called_corrected(who, world):
    answer = who.send(f"{WRITTEN}/correct", {"was": "User never flies", "now": "User never flies"})
    assert answer.status_code == 303
    assert "already" in answer.headers["set-cookie"]
    newest = world.om.audit(count=1).entries[0]
    assert (newest.did, newest.ended) == ("line_corrected", "rest")


def test_what_was_typed_and_refused_is_shown_again_with_the_way_back_to_our_pages_only(who):
    line = {"was": "User owns a boat", "now": "Two <b>boats"}
    before = {"referer": "http://127.0.0.1:8000/ui/agents/harold?thread=t-1"}
    answer = who.send(f"{WRITTEN}/correct", line, headers=before)
    assert answer.status_code == 404
    assert "Two &lt;b&gt;boats" in answer.text
    assert 'href="/ui/agents/harold?thread=t-1"' in answer.text
    for before in ("https://elsewhere.example/ui/agents", "http://127.0.0.1:8000/v1/x", "::", "http://[::1/ui/", ""):
        answer = who.send(f"{WRITTEN}/correct", line, headers={"referer": before})
        assert "Back to the page before" not in answer.text, before
        assert "Go to the agents" in answer.text, before


def test_a_line_is_added_pinned_let_go_and_taken_back(who, world):
    who.send(WRITTEN, {"thread": "t-1", "text": "User owns a boat"})
    added, line = world.om.observations("harold")[-1], {"was": "User owns a boat"}
    who.send("/ui/agents/harold/pins", line)
    shown = who.get("/ui/agents/harold").text
    (pin,) = world.om.pins("harold")
    who.send("/ui/agents/harold/pins/remove", line)
    who.send(f"/ui/agents/harold/observations/{added.id}/undo")

    assert (added.origin, "owns a boat" in shown) == ("added", True)
    assert (pin.text.endswith("User owns a boat"), pin.by == added.by != "") == (True, True)
    assert (world.om.pins("harold"), len(world.om.observations("harold"))) == ([], 1)


SAID = "/ui/agents/harold/threads"


def test_a_thread_is_named_and_archived(sign_in, world):
    world.say("one", thread="a")
    who = sign_in("writer", "harold")
    named = who.send(f"{SAID}/title", {"thread": "a", "title": "The <roof>"})
    hidden = who.send(f"{SAID}/archive", {"thread": "a", "archived": "yes"})
    (state,) = world.om.threads("harold", archived=True)

    assert (named.status_code, hidden.status_code, state.title) == (303, 303, "The <roof>")
    shown = who.get("/ui/agents/harold?thread=a").text
    assert "The &lt;roof&gt; (archived)" in shown
    assert "Unarchive" in shown
    who.send(f"{SAID}/archive", {"thread": "a", "archived": "no"})
    assert world.om.threads("harold")[0].archived_at == 0


def test_recall_page_shows_excerpts(sign_in, world):
    """A message of 1 MB in which every word is marked took 1.8 s on the event loop."""
    world.say("kiwi " * 5_000, "fig " * 5_000)
    answer = sign_in("reader", "harold").get("/ui/agents/harold/recall", query="kiwi").text
    assert 500 < answer.count("<mark>kiwi</mark>") <= 800
    assert 100 < answer.count("fig ") <= 250
