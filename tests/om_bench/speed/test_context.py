"""A read is measured beside the bytes that it is made of."""

from contextlib import closing

import pytest
import redis

from om_bench.speed import context as contexts
from om_bench.speed.context import Floor
from om_bench.speed.full import THREAD
from om_bench.speed.stand import stand as stands


@pytest.fixture
def stand(private_server_url, monkeypatch):
    for name, few in {"_THREADS": 2, "_TALKS": 1, "_TURNS": 3, "_BURSTS": 1, "_CLIENTS": 1}.items():
        monkeypatch.setattr(contexts, name, few)
    with stands(private_server_url) as made:
        yield made


def test_the_floor_reads_all_that_a_context_is_made_of(stand):
    agent = contexts._Reader(stand, 0)
    with closing(agent.floor):
        made = stand.om.get_context(THREAD, agent.full.resource)
        text = sum(len(str(message["content"])) for message in made.as_openai())

        assert text < agent.floor.length < 2 * text


def test_one_thread_several_and_a_clients_first_read_are_measured(stand):
    figures = list(contexts.context(stand))

    assert [figure.work.partition("raw, ")[2] for figure in figures] == [
        "1 thread, p50",
        "1 thread, p99",
        "2 threads, p50",
        "2 threads, p99",
        "a client's first of a thread, p50",
    ]
    assert all(figure.value > 0 for figure in figures)
    assert figures[-1].met is None


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
