"""What a vendor's SDK gives is handed over as it is, and what a context gives goes back to any of them as it is."""

import json

import pytest
from recordings import RECORDED, accepted, called
from world import World

from om_api import InvalidInputError

PLACE = {"thread_id": "t-1", "resource_id": "harold"}


def test_what_a_vendor_gave_is_taken_whole_from_library_and_plain_writer_observed_and_given_to_every_vendor(
    client, prefix
):
    world = World(client, prefix, message_threshold="9000")  # an image weighs 765
    for vendor, messages in RECORDED.items():
        place = {"thread_id": "t-1", "resource_id": vendor}
        bodies = [{"id": f"m-{n:03}", **body} if not body.get("id") else body for n, body in enumerate(messages)]
        assert world.om.add_messages(bodies, **place).added == len(messages)
        key = f"{world.prefix}:{{{vendor}}}:messages:t-2"
        world.client.zadd(key, {json.dumps(body): 1763600000000 + n for n, body in enumerate(bodies)})
        world.sweep()
        by_library, plain = (
            [(m.role, m.content) for m in world.context(thread, vendor).messages] for thread in ("t-1", "t-2")
        )
        assert (world.om.stats(vendor).rejected, plain) == (0, by_library), vendor
        counts = {len(called(form, sent)) for form, sent in accepted(world.context("t-1", vendor)).items()}
        assert len(counts) == 1, vendor
        assert counts != {0}, vendor
        world.observe_now("t-1", vendor)
        for request in world.model.requests:
            parts = [part["type"] for message in request.messages for part in message.parts]
            assert parts.count("tool-call") == parts.count("tool-result"), vendor
        assert {m["id"] for m in bodies} <= set(world.covering(vendor)), vendor


def test_what_is_no_message_is_named_by_its_place_and_nothing_is_kept(world):
    refused = [("hello", "it must be a Message, not str; a dict or an SDK's object will do"),
        ({"role": "robot", "content": "x"}, "role 'robot' is none of user"),
        ({"choices": []}, "content must be text or a list of parts"),
        ({"role": "user", "content": [object()]}, "object is neither JSON nor an SDK's object")]  # fmt: skip
    for given, says in refused:
        with pytest.raises(InvalidInputError, match=rf"^messages\[1\]: .*{says}.*; nothing was kept"):
            world.om.add_messages([{"role": "user", "content": "good"}, given], **PLACE)
    assert list(world.client.scan_iter(f"{world.prefix}*")) == []
