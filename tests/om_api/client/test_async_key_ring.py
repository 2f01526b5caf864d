"""Keys through the asyncio face: many who come at once are recognised, each as itself."""

from __future__ import annotations

import asyncio

from om_api import load_settings
from om_api.client.async_key_ring import AsyncKeyRing
from om_api.client.key_ring import KeyRing


def test_many_who_come_at_once_are_recognised_each_as_itself(server_client, server_url, prefix):
    settings = load_settings(None, {"OM_PREFIX": prefix, "OM_REDIS_URL": server_url})

    async def session():
        async with AsyncKeyRing(settings) as ring:
            made = [await ring.create([f"r-{n}"], "writer") for n in range(10)]
            tokens = [str(token) for _, token in made] + ["om_0123456789ab_" + "x" * 43]
            found = await asyncio.gather(*(ring.recognise(token) for token in tokens))
            return [key for key, _ in made], found

    made, found = asyncio.run(session())
    assert found == [*made, None]
    assert {key.id for key in KeyRing(settings, client=server_client).list()} == {key.id for key in made}
