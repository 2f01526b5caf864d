"""P14: no answer of a model replaces what it was made from unless it says something of it."""

import re

import pytest
from world import World

from om_api.domain.errors import ModelError
from om_api.domain.values import Outcome
from om_api.ops import diagnosis, recent_faults
from om_workers.llm.base import TooLongError
from om_workers.llm.scripted import Scripted

BOXES = [f"The code of box {n} is {n * 37}." for n in range(6)]
BAD = {
    "echo": lambda request: request.system,  # a small model repeats what it was asked
    "refusal": "<observations>\nI'm sorry, I cannot help with that.\n</observations>",
    "empty": "<observations>\n</observations>",
    "nothing": "<observations>\n* 🟢 No new observations.\n</observations>",
}


def faults(world):
    return [
        finding.says
        for finding in diagnosis.of_model_faults(world.services.run(recent_faults.of_models(world.services.keys)))
    ]


def test_an_echo_a_refusal_a_nothing_and_an_empty_answer_leave_messages_as_they_were_and_doctor_names_them(
    client, prefix_for
):
    says = {"echo": "repeats its instructions", "refusal": "declines, "}
    for n, (kind, answer) in enumerate(BAD.items()):
        world = World(client, prefix_for(n), model=Scripted(*[answer] * 100))
        said, before = world.say(*BOXES), world.context().text
        world.until_given_up()  # what is harmless is answered as badly: no message is to blame
        assert (world.context().text, world.covering()) == (before, sorted(said)), kind
        assert world.om.stats("harold").rejected == 0, kind
        (found, *_) = faults(world)
        assert f"harold: scripted as Observer {says.get(kind, 'notes nothing')}" in found, kind
        quote = {"refusal": "I'm sorry, I cannot help", "echo": "User stated they have three children"}.get(kind, "")
        assert found.partition(' within two hours: "')[2].startswith(quote), kind
        why = {"nothing": "empty"}.get(kind, kind)
        events = world.om.events(kinds="answer_unusable").events
        assert {(event.why, event.task, event.model) for event in events} == {(why, "observe", "scripted")}, kind
        assert client.hget(f"{world.prefix}:counted-by:harold", f"unusable|{why}") == str(len(events)).encode(), kind


def test_an_answer_with_a_note_counts_and_small_talk_may_be_noted_with_nothing(client, prefix_for):
    example = "* 🔴 (09:15) User stated they have three children: Ada (12), Milo (9) and Ines (5)"
    mixed = f"<observations>\n{example}\n* 🔴 The code of box 3 is 111\n</observations>"
    for n, (answer, texts) in enumerate([(mixed, BOXES), (BAD["empty"], ["Hi!"]), (BAD["nothing"], ["haha, thanks"])]):
        world = World(client, prefix_for(n), model=Scripted(*[answer] * 9))
        world.say(*texts)
        world.observe_now()
        noted = {observation.text for observation in world.om.observations("harold")}
        assert noted == {"* 🔴 The code of box 3 is 111" if texts is BOXES else ""}, texts
        assert faults(world) == []


def test_answers_without_content_of_a_message_are_asked_again_and_at_last_the_built_in_observer_notes_it(
    client, prefix_for
):
    filler = "<observations>\n* 🟡 Das kann ich nicht.\n</observations>"
    for n, (answer, text) in enumerate([(BAD["empty"], BOXES[1]), (filler, BOXES[1]), (filler, "我对青霉素过敏。")]):
        world = World(client, prefix_for(n))
        echo, asked = world.model.complete, []

        def complete(request, *, echo=echo, asked=asked, answer=answer, text=text):
            asked.append(request)
            is_meant = any(text in message.text() for message in request.messages)
            return Scripted(answer).complete(request) if is_meant else echo(request)

        world.model.complete = complete
        (name,) = world.say(text)
        world.until_given_up()
        assert (world.covering(), world.om.stats("harold").rejected) == ([name], 0), answer
        (noted,) = world.om.observations("harold")
        assert noted.model == "extractive"
        assert text.rstrip(".。") in noted.text
        assert {event.why for event in world.om.events(kinds="answer_unusable").events} == {"empty"}
        assert len(asked) == 4  # three attempts, and a harmless sentence


def test_a_reflection_that_says_nothing_leaves_notes_as_they_were_and_doctor_says_that_it_fails(client, prefix_for):
    for n, (kind, answer) in enumerate(BAD.items()):
        world = World(client, prefix_for(n))
        world.say(*BOXES)
        world.observe_now()
        before, world.model = world.context().text, Scripted(*[answer] * 10)
        world.om.force_reflect("harold")
        with pytest.raises(ModelError, match="stays as it is") as failed:
            world.reflector().reflect("harold")
        world.services.events.failed("harold", "reflect", failed.value)
        assert (world.context().text, world.om.generations("harold")) == (before, []), kind
        said, fails = faults(world)
        assert said.startswith("harold: scripted as Reflector "), kind
        assert (
            fails
            == "harold: its reflections fail (unusable), 1 time within two hours; its observations stay as they are"
        )
        world.model = Scripted.echo()
        world.reflector().reflect("harold")
        assert len(faults(world)) == 1, kind  # the reflection came since


def block(lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


def boxes(days):
    opened = "was opened with great care and at length by"
    return [f"Box {n} {opened} {['Ada', 'Bo', 'Cy', 'Di'][n % 4]} for Zoe in May {n + 1900}" for n in range(days)]


OPENED = tuple(boxes(40))


def condensing(client, prefix, answer, texts=OPENED, mark=""):
    """A memory of as many observations, of which a reflection is asked for: `answer` makes it of their lines."""

    def answered(request):
        if request.purpose == "observe":
            return block(f"* {mark}{message.text()}" for message in request.messages)
        return block(answer("\n".join(request.observations).split("\n")))

    model = Scripted(*[answered] * 999)
    world = World(client, prefix, model, message_threshold="300", buffer_tokens="100", observation_threshold="9000")
    for text in texts:
        world.say(text)
        world.tick()
    world.observe_now()
    world.om.force_reflect("harold")
    return world


def short(lines):
    return [line.replace(" was opened with great care and at length", "") for line in lines]


def lossy(_lines):
    return ["* 🔴 User opened boxes"]


def test_notes_of_which_a_reflection_loses_too_much_are_condensed_in_parts_or_by_rules_and_else_stay(
    client, prefix_for
):
    asked = []

    def of_few(lines):  # loses what matters of many notes, and not of few
        asked.append(sum("Box" in line for line in lines))
        return lossy(lines) if asked[-1] > 20 else short(lines)

    world = condensing(client, prefix_for(0), of_few)
    before = {each.id for each in world.om.observations("harold")}
    assert world.reflector().reflect("harold") is Outcome.REFLECTED
    (made,) = world.om.generations("harold")
    assert (made.loss, made.model, set(made.observation_ids)) == (0, "scripted", before)
    assert asked == [40, 40, 20, 20]  # a model that says the same is not asked a third time
    assert [*map(int, re.findall(r"Box (\d+)", made.text))] == [*range(40)]  # in their order, each once
    assert world.om.verify() == []
    assert "scripted as Reflector loses more than reflection.max_loss permits, 1 time" in faults(world)[0]

    def of_none(lines):
        asked.append(sum("Box" in line for line in lines))
        return lossy(lines)

    asked.clear()
    world = condensing(client, prefix_for(1), of_none)
    assert world.reflector().reflect("harold") is Outcome.REFLECTED
    assert min(asked) == 20  # halves that do not help are not halved again
    (made,) = world.om.generations("harold")
    assert made.loss <= 0.2
    assert "extractive" in made.model

    world = condensing(client, prefix_for(2), lossy, boxes(1))  # so few that no part is shorter
    text = world.context().text
    with pytest.raises(ModelError, match=r"lost more than reflection\.max_loss"):
        world.reflector().reflect("harold")
    assert (world.context().text, world.om.generations("harold")) == (text, [])


def test_reflection_with_support_for_almost_no_line_is_never_committed(client, prefix_for):
    tastes = [
        f"User prefers {thing} tiles" for thing in ["red", "green", "blue", "white", "black", "brown", "grey", "pink"]
    ]
    bought = [f"用户决定购买{thing}" for thing in ["咖啡", "红茶", "面条", "米饭", "苹果", "香蕉", "足球", "篮球"]]
    for n, (mark, texts, answer) in enumerate([("🟡 ", tastes, "* 🟡 OK"), ("🔴 ", bought, f"* 🔴 {bought[0]}")]):
        world = condensing(client, prefix_for(n), lambda _lines, answer=answer: [answer], texts, mark)
        assert world.reflector().reflect("harold") is Outcome.REFLECTED
        (made,) = world.om.generations("harold")
        assert (made.model, made.dropped_ids) == ("extractive", ()), mark
        assert all(text in made.text for text in texts)


def test_a_half_of_notes_that_loses_too_much_is_halved_again_if_the_other_does_not(client, prefix):
    asked = []

    def of_fewer(lines):  # of the older half, only a quarter of all
        asked.append(sum("Box" in line for line in lines))
        older = any(line.endswith(" 1900") for line in lines)
        return lossy(lines) if asked[-1] > (10 if older else 20) else short(lines)

    world = condensing(client, prefix, of_fewer)
    assert world.reflector().reflect("harold") is Outcome.REFLECTED
    (made,) = world.om.generations("harold")
    assert (made.loss, made.model, asked) == (0, "scripted", [40, 40, 20, 20, 20, 10, 10])


def test_notes_that_are_larger_than_a_models_window_are_condensed_in_parts(client, prefix):
    def small(lines):
        if sum("Box" in line for line in lines) > 12:
            raise TooLongError("refused (400): maximum context length")
        return short(lines)

    world = condensing(client, prefix, small)
    assert world.reflector().reflect("harold") is Outcome.REFLECTED
    (made,) = world.om.generations("harold")
    assert (made.loss, made.model, faults(world)) == (0, "scripted", [])
    assert world.om.observations("harold") == []
