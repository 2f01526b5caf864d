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
        self.observe_now()
        return self.om.observations("harold", "t-1")[-1]

    def proposed(self):
        """A reflection that waits, of all that was observed; no model is there for another one."""
        self.model = Scripted(FORGETFUL)
        self.reflect_now("harold", "t-1")
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


HOW = {"with another text": lambda house: house.om.approve("harold", "t-1", text="* 🟡 Something of my own"),
    "in time by nobody": Reviewed.expire, "review switched off": _switched_off}  # fmt: skip


@pytest.mark.parametrize("how", HOW)
def test_what_was_pinned_while_it_waited_stands_in_it(client, prefix, how):
    house = Reviewed(client, prefix, scope="thread" if how == "in time by nobody" else "resource")
    line = _line(house.observed("My flight to Oslo is on Friday"), "Oslo")
    assert "Oslo" not in house.proposed().generation.text
    house.om.pin(line, "harold", "t-1", by="lotte")
    added = house.om.add_line("User never flies", "harold", "t-1", priority=5)
    HOW[how](house)
    (made,) = house.om.generations("harold", "t-1")
    assert [each.strip() for each in made.text.split("\n")].count(line.strip()) == 1
    assert ("of my own" in made.text) == (how == "with another text")
    assert made.tokens == house.services.count(made.text)
    assert (house.context().text.count("Oslo"), house.model.requests) == (1, [])
    assert [each.id for each in house.om.observations("harold", "t-1")] == [added.observation_id]
    assert house.om.verify() == []


def test_a_proposal_of_a_corrected_line_counts_no_more_and_is_thought_anew(house):
    own = house.observed("I live in Oslo")
    line = _line(own, "Oslo")
    waiting = house.proposed()
    changes = [lambda: house.om.correct_line(line, line.replace("Oslo", "Bergen"), "harold", "t-1"),
        lambda: house.om.undo_line(own.id, "harold")]  # fmt: skip
    for change in changes:
        change()
        assert house.om.proposal("harold", "t-1") is None
        assert house.om.reviews() == []
        assert house.om.approve("harold", "t-1", proposal=waiting.id) is Outcome.SUPERSEDED
        assert house.om.generations("harold", "t-1") == []
        again = house.proposed()
        assert again.id != waiting.id
        waiting = again
    house.om.approve("harold", "t-1")
    assert (len(house.om.generations("harold", "t-1")), house.om.verify()) == (1, [])


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
