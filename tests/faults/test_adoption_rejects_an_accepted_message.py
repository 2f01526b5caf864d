"""Two messages of one id, accepted when ids were forgotten after twenty minutes. One plain ZADD, and adoption threw one out."""

import json
import time

from world import World


def test_what_an_older_version_accepted_twice_becomes_one_message_and_an_entry(client, prefix):
    """Neither is thrown away without a word: the second one says something else, and stands in the quarantine."""
    house = World(client, prefix)
    base = f"{prefix}:{{harold}}"
    house.say("the first", id="X", timestamp=time.time() - 1_300)
    client.delete(f"{base}:known:t-1")
    client.hdel(f"{base}:tokens", "*ids")  # as an older version leaves it
    second = {"id": "X", "role": "user", "content": "the second", "tokens": 100}
    client.zadd(f"{base}:messages:t-1", {json.dumps(second): time.time() * 1000})
    client.hincrby(f"{base}:tokens", "#t-1", 1)
    client.hincrby(f"{base}:tokens", "t-1", 100)
    client.hincrby(f"{base}:tokens", "*", 100)
    client.zadd(
        f"{base}:messages:t-1", {json.dumps({"id": "Y", "role": "user", "content": "plain"}): time.time() * 1000}
    )
    house.sweep()

    assert {message.content for message in house.context().messages} == {"the first", "plain"}
    assert [entry.kind for entry in house.om.rejected("harold")] == ["changed"]
    assert house.om.verify() == []
