"""One run of real processes, the same for every kind of model, while answers fail and connections break."""

from collections import deque
from contextlib import nullcontext

import pytest
from chaos import judging
from model_server import Behaviour, ModelServer
from world import wait_until

from om_api import Message

# how the configuration names a model that is asked at the server; None is a model that asks nobody
KINDS = {
    "extractive": None,
    "openai": '{{provider: openai, base_url: "{0.url}"}}',
    "gemini": '{{provider: gemini, base_url: "{0.root}"}}',
}
_YAML = """
observational_memory:
  tokenizer: estimate
  message_threshold: 1000
  observation_threshold: 1500
  observer_model: {name}
  reflector_model: {name}
  observer: {{timeout: 2s}}
  reflection: {{timeout: 2s}}
models:
  local: {model}
"""
_SOLO = {"agents/solo/memory.yaml": "observational_memory: {scope: thread}"}
_AGENTS = {"w1": ("harold", "t-1"), "w2": ("harold", "t-2"), "w3": ("solo", "s-1"), "w4": ("solo", "s-2")}
_FAILURES = {
    "observe": (
        Behaviour.error_429,
        Behaviour.error_500,
        Behaviour.garbage,
        Behaviour.stall,
        Behaviour.drop,
        Behaviour.empty,
        Behaviour.refusal,
        Behaviour.length,
    ),
    "reflect": (Behaviour.error_500, Behaviour.garbage),
}


class Failing:
    """A plan by which every second call fails, each time in another way, until every way had its turn."""

    def __init__(self):
        self._left = {purpose: deque(ways) for purpose, ways in _FAILURES.items()}

    def __call__(self, n, purpose):
        fails = n % 2 and self._left[purpose]
        return self._left[purpose].popleft() if fails else Behaviour.answer


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def server(kind):
    """The server that is asked, if the kind asks one."""
    with ModelServer(Failing()) if KINDS[kind] else nullcontext() as server:
        yield server


@pytest.fixture
def house(run, kind, server, private_server_url):
    model = (KINDS[kind] or "{{provider: extractive}}").format(server)
    text = _YAML.format(name="local" if server else "extractive", model=model)
    return run({"observational-memory.yaml": text, **_SOLO}, url=private_server_url)


def _say(house, writer, n):
    resource, thread = _AGENTS[writer]
    text = f"[[{writer}-{n}]] My order {4700 + n} of {n} lamps was paid on May {1 + n % 28}, 2026."
    fields = {"thread_id": thread, "resource_id": resource, "id": f"{writer}-{n}", "tokens": 100}
    house.om.add_message(Message(role="user", content=text, **fields))
    return f"{writer}-{n}"


def _talk(house, turns):
    """Everybody talks and reads; now and then the server closes every connection."""
    said = []
    for n in range(turns):
        said += [_say(house, writer, n) for writer in _AGENTS]
        for resource, thread in _AGENTS.values():
            assert house.om.get_context(thread, resource).messages
        if n % 10 == 5:
            house.client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    return said


_SCOPES = (("harold", None), ("solo", "s-1"), ("solo", "s-2"))


def _answered(ask):
    """An owner asks, and asks again: a call that failed is tried again at once then, and not a lease later."""
    return all(ask(resource, thread) in {"rest", "activated", "reflected"} for resource, thread in _SCOPES)


def test_every_message_ends_in_a_generation_whatever_fails_on_the_way(house, kind, server):
    said = _talk(house, 30)
    om = house.om
    wait_until(lambda: _answered(lambda resource, thread: om.force_observe(thread, resource, 2)), "observations", 60)
    wait_until(lambda: _answered(lambda resource, thread: om.force_reflect(resource, thread, 2)), "reflections", 60)
    held = judging.look(house.client, house.prefix)

    assert {name: len(places) for name, places in held.places.items()} == dict.fromkeys(said, 1)
    assert (held.raw, held.quarantined) == (set(), set())
    assert held.generations >= 3
    assert {generation.model for generation in om.generations("harold")} == {"local" if server else "extractive"}
    assert om.verify() == []
    if server:
        assert held.untraced == {}
        assert {(call.purpose, call.behaviour) for call in server.calls} >= _failures()


def _failures():
    return {(purpose, way) for purpose, ways in _FAILURES.items() for way in ways}
