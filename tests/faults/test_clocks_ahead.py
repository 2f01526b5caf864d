"""A clock that runs ahead: the order of arrival holds, and the receipt, a counter and doctor name it."""

import time

from world import World

from om_api.ops import diagnosis, recent_faults
from om_api.store.fleet import event_stream
from om_api.store.memory.adopt import adopt

HOUR = 3_600_000
QUESTION, ANSWER = {"role": "user", "thread_id": "t-1"}, {"role": "assistant", "thread_id": "t-1"}


def test_an_answer_stays_behind_its_question_whatever_clock_stamped_the_question(client, prefix):
    world = World(client, prefix)
    ahead = int(time.time() * 1000) + 8760 * HOUR
    for n in range(3):
        receipt = world.om.add_messages([{**QUESTION, "content": f"q{n}", "timestamp": ahead}], resource_id="harold")
        assert receipt.ahead == receipt.ids
        assert 8759 * HOUR < receipt.ahead_ms <= 8760 * HOUR
        answers = [{**QUESTION, "content": f"r{n}", "timestamp": ahead}, {**ANSWER, "content": f"a{n}"}]
        world.om.add_messages(answers, resource_id="harold")
    shown = world.om.get_context("t-1", "harold").messages
    assert [each.content for each in shown] == [f"{who}{n}" for n in range(3) for who in "qra"]
    assert world.om.add_messages([{**ANSWER, "content": "hi"}], resource_id="lotte").ahead == ()
    old = world.om.sync([{**QUESTION, "content": "x", "timestamp": 1_600_000_000}], resource_id="old", thread_id="t-1")
    assert (old.ahead, old.ahead_ms) == ((), 0)
    assert world.om.get_context("t-1", "old").messages[0].at == 1_600_000_000_000

    keys, run = world.services.keys, world.services.run
    assert run(event_stream.counted(keys, ["harold"]))[0]["ahead"] == 6
    (finding,) = diagnosis.of_agents_clocks(run(recent_faults.of_clocks(keys)))
    assert finding.trouble
    assert "harold" in finding.says


def test_what_a_plain_writer_dated_ahead_is_bounded_when_it_is_adopted(client, prefix):
    world = World(client, prefix)
    keys, run, now = world.services.keys, world.services.run, int(time.time() * 1000)
    key = keys.of("harold").messages("t-1")
    said = {f'{{"id":"m-{n}","role":"user","content":"{n}"}}': now + HOUR + n for n in (2, 1, 3)}
    client.zadd(key, {**said, '{"id":"m-0","role":"user","content":"0"}': now - HOUR})
    client.zadd(key, {'{"id":"m-4","role":"user","content":"4"}': float("inf")})
    run(adopt(keys, world.services.clock, "harold", "t-1", len))
    run(adopt(keys, world.services.clock, "harold", "t-1", len))
    scores = client.zrange(key, 0, -1, withscores=True)
    assert [member[7:10] for member, _ in scores] == [b"m-0", b"m-1", b"m-2", b"m-3", b"m-4"]
    assert scores[0][1] == now - HOUR
    assert scores[-1][1] < now + HOUR / 2


def test_a_time_without_a_zone_is_one_of_the_agents(client, prefix):
    world = World(client, prefix, timezone="Europe/Berlin")
    for said in ("2025-11-20T09:30:00", "2025-11-20T09:30:00+01:00", "2025-11-20T08:30:00Z", 1_763_627_400):
        world.om.add_messages([{**QUESTION, "content": str(said), "timestamp": said}], resource_id="harold")
    assert {each.at // 10 for each in world.om.get_context("t-1", "harold").messages} == {176_362_740_000}


def test_what_is_added_faster_than_time_passes_keeps_its_order_and_is_not_reported(client, prefix):
    world = World(client, prefix, context_max_tokens="null")
    for start in (0, 2_000):
        said = [{**QUESTION, "id": f"m-{4_000 - n}", "content": f"{n}"} for n in range(start, start + 2_000)]
        assert world.om.add_messages(said, resource_id="harold").ahead == ()
    world.om.add_messages([{**QUESTION, "content": "4000", "timestamp": time.time() + 60}], resource_id="harold")
    shown = [int(each.content) for each in world.om.get_context("t-1", "harold").messages]
    assert shown == [*range(4_001)]
