"""The floor of reading: the bytes of an answer, all of them, from the database that the address names."""

from __future__ import annotations

from contextlib import closing

import pytest
import redis

from om_bench.speed.floor import Floor


@pytest.mark.parametrize("database", [0, 1])
def test_it_reads_the_bytes_of_an_answer_and_leaves_none(private_server_url, database):
    url = f"{private_server_url.rpartition('/')[0]}/{database}"
    with redis.Redis.from_url(url) as bare, closing(Floor(url, [("GET", "k")])) as before:
        bare.set("k", "x" * 100_000)
        with closing(Floor(url, [("GET", "k")])) as floor:
            for _ in range(3):
                floor.read()

            assert floor.length - before.length == len(f"$100000\r\n{'x' * 100_000}\r\n") - len("$-1\r\n")
            floor._socket.setblocking(False)
            with pytest.raises(BlockingIOError):
                floor._socket.recv(1)
