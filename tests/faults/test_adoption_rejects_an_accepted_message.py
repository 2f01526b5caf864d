"""An id used again after ten minutes is a new message. One plain ZADD in the thread, and adoption throws the first one out."""

import json
import time

from world import World


def test_adoption_rejects_no_message_that_was_accepted(client, prefix):
    house = World(client, prefix)
    base = f"{prefix}:{{harold}}"
    house.say("the first", id="X", timestamp=time.time() - 1_300)
    client.delete(*client.scan_iter(f"{base}:seen:*"))  # twenty minutes pass
    house.say("the second", id="X")
    assert client.zcard(f"{base}:messages:t-1") == 2
    client.zadd(
        f"{base}:messages:t-1", {json.dumps({"id": "Y", "role": "user", "content": "plain"}): time.time() * 1000}
    )
    house.sweep()
    texts = {message.content for message in house.context().messages}
    assert texts == {"the first", "the second", "plain"}
    assert client.llen(f"{base}:rejected") == 0


def test_adoption_rejects_neither_of_two_that_were_accepted_long_ago(client, prefix):
    house = World(client, prefix)
    base = f"{prefix}:{{harold}}"
    for text in ("the first", "the second"):
        house.say(text, id="X")
        client.delete(*client.scan_iter(f"{base}:seen:*"))
    client.zadd(
        f"{base}:messages:t-1", {json.dumps({"id": "Y", "role": "user", "content": "plain"}): time.time() * 1000}
    )
    house.sweep()
    assert {message.content for message in house.context().messages} == {"the first", "the second", "plain"}
