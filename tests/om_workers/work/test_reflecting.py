"""Reflections: condensed, put up, set aside."""

import json
import threading
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from rewrites import NOTES, PLANTED
from snapshots import count as words
from transcripts import AT, message
from world import World, wait_until

from om_api.domain.errors import ModelError
from om_api.domain.values import Outcome, Scope
from om_api.store.reviews.drafts import reflection_input
from om_workers.llm.extractive import Extractive
from om_workers.llm.scripted import Scripted
from om_workers.prompts.render import observer_request, reflector_request
from om_workers.work.answers import AnswerReader
from om_workers.work.committing import Thought
from om_workers.work.condensing import Condensing, Task
from om_workers.work.setting_aside import set_aside


def block(text):
    return f"<observations>\n{text}\n</observations>"


def condensing(model, notes=NOTES, start=1, target=1000, max_loss=0.1):
    def form(level, dropped):
        return reflector_request([notes], target_tokens=target, level=level, instruction=None, temperature=0, timeout=1,
                                 timezone="UTC", dropped=dropped)  # fmt: skip

    def ask(request):
        reply = model.complete(request)
        events = SimpleNamespace(answer_unusable=lambda *_: None)
        return reply, AnswerReader(events, Scope("harold"), request).reflected(reply, [])

    return Condensing(Task([notes], words(notes), target, start, max_loss), form, ask, words)


def lossy(*kinds):
    text = NOTES
    for kind in kinds:
        text = text.replace(*PLANTED[kind])
    return block(text)


def test_a_planted_loss_is_caught_asked_for_and_mended_and_the_best_answer_counts_even_if_it_was_the_first():
    for kind, (lost, _) in PLANTED.items():
        model = Scripted(lossy(kind), block(NOTES))
        found = condensing(model).condense()
        assert found.best.loss == 0, kind
        assert [one.loss > 0.1 for one in found.candidates] == [True, False], kind
        asked = model.requests[1].prompt
        told = asked[asked.rindex("<dropped>") : asked.rindex("</dropped>")]
        assert lost.strip().removeprefix("* ").split(") ")[-1] in told, kind
        assert asked.index("</dropped>") < asked.index("<task>")
        assert "dropped" not in model.requests[0].prompt
    answers = [lossy("name"), lossy("name", "number", "🔴"), lossy("name", "url", "✅", "🔴"), lossy("name", "path")]
    found = condensing(Scripted(*answers)).condense()
    assert len(found.candidates) == 3  # it is asked twice more at most for what it lost
    assert found.best.loss == found.candidates[0].loss < found.candidates[1].loss
    assert condensing(Scripted(lossy("name", "url")), max_loss=1.0).condense().best.loss > 0.1


def test_a_model_whose_answers_are_too_long_is_pressed_harder_each_time():
    for start, levels in ((0, [0, 1, 2, 3]), (1, [1, 2, 3, 4]), (2, [2, 3, 4]), (4, [4])):
        model = Scripted(*[block(NOTES)] * 4)
        found = condensing(model, start=start, target=10).condense()
        assert [request.level for request in model.requests] == levels, start
        assert not found.best.fits
    answers = [NOTES + "\n* more" * more for more in (9, 2, 5, 7)]
    assert condensing(Scripted(*map(block, answers)), target=10).condense().best.level == 2  # the shortest
    for target, fits in ((words(NOTES) + 1, True), (words(NOTES), False)):
        assert condensing(Scripted(*[block(NOTES)] * 4), target=target).condense().best.fits is fits, target


LOOP = "* a line that comes again and again\n" * 400


def test_what_is_empty_looping_or_an_excuse_presses_harder_and_is_no_candidate():
    for bad in ("", block(""), LOOP, "I'm sorry, I can't.", block("I can't do that."), "I may not since May 1, 2020."):
        model = Scripted(bad, block(NOTES))
        found = condensing(model).condense()
        assert [request.level for request in model.requests] == [1, 2], bad
        assert len(found.candidates) == 1, bad
        with pytest.raises(ModelError, match="stays as it is") as caught:
            condensing(Scripted(*[bad] * 4)).condense()
        assert not caught.value.retryable, bad


def test_the_built_in_observer_is_in_no_loop_where_the_messages_repeat_a_line():
    said = "Please run the nightly report for the Vienna office again."
    told = [message(said, at=AT + 86_400_000 * n, tokens=50) for n in range(60)]
    request = observer_request(told, [], instruction=None, timezone="UTC", temperature=0, timeout=1, previous_tokens=0,
                               count=words)  # fmt: skip
    reply = Extractive().complete(request)
    events = SimpleNamespace(answer_unusable=lambda *_: None)
    assert AnswerReader(events, Scope("harold"), request).observed(reply).text.count("nightly report") > 20
    with pytest.raises(ModelError, match="scripted was caught in a loop"):
        AnswerReader(events, Scope("harold"), request).observed(replace(reply, model="scripted"))


def test_a_model_that_fails_later_leaves_what_was_good_before():
    assert condensing(Scripted(lossy("name"), ModelError("away"))).condense().best.loss > 0.1


def _house(client, prefix, **changed):
    asks = {"reflection__review": "ask", "reflection__drain": "false", "reflection__review_expires": "2h"}
    return World(client, prefix, **asks | changed)


def _observed(house, n=12):
    for each in range(n):
        house.say(f"message {each} " + "x" * 40)
        house.tick()
    house.settle()


def test_who_asked_hears_that_it_waits(client, prefix):
    house = _house(client, prefix)
    _observed(house)
    record = house.services.keys.of("harold").record(Scope("harold"))

    def work():
        wait_until(lambda: client.hexists(record, "force-reflect"), "the request")
        house.reflector().reflect("harold")

    worker = threading.Thread(target=work)
    worker.start()
    assert house.om.force_reflect("harold", wait=30) is Outcome.PROPOSED
    worker.join()
    assert house.om.stats("harold").reviews == 1


@pytest.mark.parametrize("stopped", ["paused", "read_only"])
def test_of_whom_nothing_is_to_be_written_nothing_counts_by_itself(client, prefix, stopped):
    house = _house(client, prefix)
    _observed(house)
    house.reflect_now()
    of = house.services.keys.of("harold")
    client.hset(of.record(Scope("harold")), "proposed_until", 1)
    if stopped == "paused":
        house.om.pause("harold")
    else:
        house = _house(client, prefix, read_only="true")
    assert house.reflector().reflect("harold") is Outcome.REST
    assert house.om.generations("harold") == []
    if stopped == "paused":
        house.om.resume("harold")
        house.settle()
        assert len(house.om.generations("harold")) == 1


def test_of_two_that_think_at_once_one_is_put_up(client, prefix):
    house = _house(client, prefix)
    _observed(house)

    def overtaken():
        house.model = Scripted.echo()
        client.delete(*client.scan_iter(f"{prefix}:*lock:reflect*"))
        assert house.reflector().reflect("harold") is Outcome.PROPOSED

    house.model = Scripted("<observations>\n* slow\n</observations>")
    house.while_it_thinks(overtaken)
    house.om.force_reflect("harold")
    assert house.reflector().reflect("harold") is Outcome.SUPERSEDED
    assert house.om.proposal("harold").generation.text != "* slow"


HAROLD = Scope("harold")


@pytest.fixture
def world(client, prefix):
    return _world(client, prefix)


def _world(client, prefix, **changed):
    fields = {"message_threshold": "400", "observation_threshold": "400", "reflection__drain": "false", **changed}
    return World(client, prefix, **{"reflection__mode": "archive", **fields})


def _fill(world, turns, start=0):
    for n in range(start, start + turns):
        world.say(f"fact number{n} of it " + "and more " * 8)
        world.tick()


def _read(world):
    return world.services.run(reflection_input(world.services.keys, HAROLD))


def test_a_note_that_is_corrected_meanwhile_is_not_set_aside_as_it_was(world):
    world.om.add_line("lives in Oslo", "harold", "t-1")
    read = _read(world)
    thought = Thought(set_aside(read, world.services.agent(HAROLD), world.services.count, everything=True))
    world.om.correct_line("lives in Oslo", "lives in Bergen", "harold")
    assert world.reflector()._committer.settle(read, thought)[0] is Outcome.SUPERSEDED
    assert world.om.generations("harold") == []


def test_where_everything_fits_beside_the_newest_nothing_is_set_aside(world):
    world.om.add_line("lives in Oslo", "harold", "t-1")
    assert set_aside(_read(world), world.services.agent(HAROLD), world.services.count, everything=False) is None


def test_verify_finds_a_group_that_would_expire_and_a_history_that_would_not(client, prefix, world):
    _fill(world, 24)
    key = f"{prefix}:{{harold}}:reflected:1"
    assert client.expire(key, 1_000)
    assert [breach.what for breach in world.om.verify()] == ["would expire, and what was set aside in it be lost"]
    client.persist(key)
    for member, seq in client.zrange(key, 0, -1, withscores=True):
        client.zrem(key, member)
        client.zadd(key, {json.dumps({**json.loads(member), "group": ""}): seq})
    assert [breach.what for breach in world.om.verify()] == ["has no TTL and would stay for ever"]
    client.delete(key)
