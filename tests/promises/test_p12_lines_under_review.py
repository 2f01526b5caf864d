"""P12: a reflection that waits for its review takes nothing away that people wrote or pinned, however it comes to count."""

import pytest
from world import World

from om_api.domain.values import Outcome
from om_workers.llm.scripted import Scripted

FORGETFUL = "<observations>\nDate: Nov 20, 2026\n* 🟡 (09:00) Something else was talked about\n</observations>"


class Reviewed(World):
    """A house whose reflections wait, made by a model that forgets everything."""

    def __init__(self, client, prefix, **changed):
        limits = {"observation_threshold": "100000", "message_threshold": "100000", "reflection__drain": "false"}
        super().__init__(
            client, prefix, **limits | {"reflection__review": "ask", "reflection__max_loss": "1"} | changed
        )

    def observed(self, *texts):
        self.model = Scripted.echo()
        self.say(*texts)
        self.om.force_observe("t-1", "harold")
        self.settle()
        return self.om.observations("harold", "t-1")[-1]

    def proposed(self):
        """A reflection that waits, of all that was observed; no model is there for another one."""
        self.model = Scripted(FORGETFUL)
        self.om.force_reflect("harold", "t-1")
        self.settle()
        self.model = Scripted()
        return self.om.proposal("harold", "t-1")

    def due(self):
        """Who looks at the scope again does it now."""
        self.client.zadd(str(self.services.keys.due_reflect.of("harold")), {self.scope(): 1})
        self.settle()

    def expire(self):
        self.client.hset(self.record(), "proposed_until", 1)
        self.due()

    def scope(self):
        return "harold|t-1" if self.settings.for_agent("harold").scope == "thread" else "harold"

    def record(self):
        thread = ":t-1" if "|" in self.scope() else ""
        return f"{self.services.keys.of('harold').base}:record{thread}"


@pytest.fixture(params=["resource", "thread"])
def house(request, client, prefix) -> Reviewed:
    return Reviewed(client, prefix, scope=request.param)


def _line(observation, word):
    return next(line for line in observation.text.split("\n") if word in line)


def _switched_off(house):
    house.__init__(house.client, house.prefix, scope=house.settings.for_agent("harold").scope, reflection__review="off")
    house.model = Scripted()
    house.due()


HOW = {
    "approved": lambda house: house.om.approve("harold", "t-1"),
    "with another text": lambda house: house.om.approve("harold", "t-1", text="* 🟡 Something of my own"),
    "in time by nobody": Reviewed.expire,
    "review switched off": _switched_off,
}


@pytest.mark.parametrize("how", HOW)
def test_what_was_pinned_while_it_waited_stands_in_it(house, how):
    line = _line(house.observed("My flight to Oslo is on Friday"), "Oslo")
    assert "Oslo" not in house.proposed().generation.text
    house.om.pin(line, "harold", "t-1", by="lotte")

    HOW[how](house)
    (made,) = house.om.generations("harold", "t-1")
    assert [each.strip() for each in made.text.split("\n")].count(line.strip()) == 1
    assert ("of my own" in made.text) == (how == "with another text")
    assert made.tokens == house.services.count(made.text)
    assert house.context().text.count("Oslo") == 1
    assert house.model.requests == []
    assert house.om.observations("harold", "t-1") == []
    assert house.om.verify() == []


def test_a_proposal_shows_the_pinned_lines_that_it_will_have(house):
    line = _line(house.observed("My flight to Oslo is on Friday"), "Oslo")
    waiting = house.proposed()
    pin = house.om.pin(line, "harold", "t-1").pin

    shown = house.om.proposal("harold", "t-1")
    assert shown.id == waiting.id
    assert line.strip() in map(str.strip, shown.generation.text.split("\n"))
    assert shown.generation.tokens == house.services.count(shown.generation.text)
    house.om.unpin(pin.id, "harold")
    assert house.om.proposal("harold", "t-1") == waiting


def test_a_reviewer_cannot_edit_a_pinned_line_away(house):
    line = _line(house.observed("My flight to Oslo is on Friday"), "Oslo")
    house.om.pin(line, "harold", "t-1")
    assert "Oslo" in house.proposed().generation.text

    house.om.approve("harold", "t-1", text="* 🟡 Nothing of flights")
    (made,) = house.om.generations("harold", "t-1")
    assert made.text.count("Oslo") == made.text.count("Nothing of flights") == 1


def test_what_is_sent_back_is_thought_again_with_what_is_pinned_by_then(house):
    line = _line(house.observed("My flight to Oslo is on Friday"), "Oslo")
    house.proposed()
    house.om.pin(line, "harold", "t-1")
    house.om.send_back("harold", "t-1", comment="zebrafinch")
    house.model = Scripted(FORGETFUL)
    house.settle()

    (request,) = house.model.requests
    assert line.strip() in request.prompt.split("<pinned>")[1].split("</pinned>")[0]
    assert "zebrafinch" in request.prompt
    assert "Oslo" in house.om.proposal("harold", "t-1").generation.text


@pytest.mark.parametrize("undone", [False, True])
def test_a_proposal_of_a_corrected_line_counts_no_more_and_is_thought_anew(house, undone):
    own = house.observed("I live in Oslo")
    line = _line(own, "Oslo")
    if undone:
        house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1")
    waiting = house.proposed()
    if undone:
        house.om.undo_line(own.id, "harold")
    else:
        house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1")

    assert house.om.proposal("harold", "t-1") is None
    assert house.om.reviews() == []
    assert house.om.approve("harold", "t-1", proposal=waiting.id) is Outcome.SUPERSEDED
    assert house.om.generations("harold", "t-1") == []
    again = house.proposed()
    assert again.id != waiting.id
    house.om.approve("harold", "t-1")
    assert len(house.om.generations("harold", "t-1")) == 1
    assert house.om.verify() == []


def test_what_is_added_while_it_waits_stays_beside_it(house):
    house.observed("My flight to Oslo is on Friday")
    waiting = house.proposed()
    added = house.om.add_line("User never flies", "harold", "t-1", priority=5)

    assert house.om.proposal("harold", "t-1") == waiting
    assert house.om.approve("harold", "t-1", proposal=waiting.id) is Outcome.REFLECTED
    assert [each.id for each in house.om.observations("harold", "t-1")] == [added.observation_id]
    assert "User never flies" in house.context().text
    assert house.om.verify() == []


def test_a_line_that_was_added_is_taken_back_while_a_proposal_waits(house):
    added = house.om.add_line("User never flies", "harold", "t-1")
    waiting = house.proposed()
    assert house.om.undo_line(added.observation_id, "harold").outcome is Outcome.CLEARED

    assert house.om.proposal("harold", "t-1") is None
    assert house.om.approve("harold", "t-1", proposal=waiting.id) is Outcome.SUPERSEDED
    assert house.om.generations("harold", "t-1") == []


def test_a_correction_by_hand_waits_for_nobody(house):
    """It is somebody's word already; what was proposed instead of the text that it corrects is no next one any more."""
    house.observed("I live in Oslo")
    house.proposed()
    house.om.approve("harold", "t-1", text="* 🔴 User lives in Oslo")
    house.observed("The weather is fine today")
    waiting = house.proposed()

    done = house.om.correct_line("User lives in Oslo", "User lives in Bergen", "harold", "t-1", by="lotte")
    assert (done.outcome, done.generation) == (Outcome.CORRECTED, 2)
    made = house.om.generations("harold", "t-1")[-1]
    assert (made.n, made.origin, made.text) == (2, "correction", "* 🔴 User lives in Bergen")
    assert house.om.proposal("harold", "t-1") is None
    assert house.om.approve("harold", "t-1", proposal=waiting.id) is Outcome.SUPERSEDED
    assert "Bergen" in house.context().text
    assert [event.kind for event in house.om.events("0", count=1000).events].count("review_asked") == 2
    assert house.om.verify() == []


def test_what_was_dropped_is_not_left_until_its_review_would_have_ended(client, prefix):
    """Its scope is due again a day later: the sweep sees that nothing waits for that."""
    house = Reviewed(client, prefix, observation_threshold="100")
    own = house.observed("I live in Oslo", *(f"message {n} " + "x" * 40 for n in range(20)))
    if not (waiting := house.om.proposal("harold")):
        waiting = house.proposed()
    line = _line(own, "Oslo")
    house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1")
    house.model = Scripted(FORGETFUL)
    house.client.zadd(str(house.services.keys.due_reflect.of("harold")), {"harold": waiting.expires_at})
    house.client.zadd(str(house.services.keys.resources.of("harold")), {"harold": 1})
    house.sweep()
    house.settle()

    assert len(house.model.requests) == 1
    assert house.om.proposal("harold").id != waiting.id
