"""A store of many agents: the keys of some memories are copied under other names, and stand in every index as theirs do.

Values are copied as they are: the messages of a copy say whose they were first, but the name of their key wins.
"""

import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from tempfile import TemporaryDirectory
from typing import NamedTuple

from om_api import load_settings
from om_api.store.driver.partitions import PartedIndex
from om_api.store.memory.keys import Keys
from om_bench.harness.pipeline import Pipeline, environment
from om_bench.scale.servers import StandServers, servers
from om_bench.scale.templates import MIX, SETTINGS, Kind, make_templates

LEAST = sum(kind.templates for kind in MIX)  # agents of a population: the memories that all others are copies of
_AT_ONCE = 2_000
_IN_A_CALL = 100  # of agents, where one server has all of their keys
_LOOKED_MS = 30  # between one agent and the next that a sweep looks at: they are two thousand a minute
_RESTORE = "  redis.call('RESTORE', KEYS[i] .. '{behind}', {ttl}, \"{held}\")"


class CopiedMemory(NamedTuple):
    """A memory to be copied: the scripts that make its keys of another agent, and when it is due by each index.

    A script makes keys of one slot. It is named by what they begin with, in which `*` stands for the agent's name.
    """

    kind: Kind
    scripts: Mapping[str, str]
    scores: Mapping[PartedIndex, float]


class Population(NamedTuple):
    """So many agents on servers that nobody else uses, with a client and workers of ours, and the variables for more of them.

    They are copies of `templates`, in order. It took `seconds` to fill, and an agent takes `bytes` of memory.
    """

    servers: StandServers
    running: Pipeline
    environ: Mapping[str, str]
    templates: Sequence[CopiedMemory]
    agents: int
    seconds: float
    bytes: float

    @property
    def copies(self) -> int:
        """How many of the agents are copies."""
        return self.agents - LEAST

    @property
    def keys(self) -> Keys:
        """The names of everything there."""
        return self.running.services.keys

    def some(self, count: int, kind: Kind | None = None) -> list[str]:
        """The names of up to so many agents, of a kind or of all, the same each time."""
        own = {n for n, each in enumerate(self.templates) if kind is None or kind.name == each.kind.name}
        dice = random.Random(1)
        numbers = [n for n in dice.sample(range(self.copies), self.copies) if n % len(self.templates) in own]
        return [_name(n) for n in numbers[:count]]

    def delete(self, *keys: str) -> None:
        """Take keys away, wherever they are."""
        for key in keys:
            self.servers.node_of(key).delete(key)


@contextmanager
def population(count: int, number_of_servers: int = 1) -> Iterator[Population]:
    """So many agents of the usual mix, all of them at rest."""
    with ExitStack() as held:
        places = held.enter_context(servers(number_of_servers))
        folder = held.enter_context(TemporaryDirectory(prefix="om-bench-"))
        environ = environment(places.url, folder, (*SETTINGS, f"broker_url={places.broker}"))
        running = held.enter_context(Pipeline(load_settings(environ=environ)))
        before, began = places.used, time.monotonic()
        templates = _mixed(places, running)
        for first in range(0, count - LEAST, _AT_ONCE):
            _copy(places, running.services.keys, templates, range(first, min(first + _AT_ONCE, count - LEAST)))
        took, used = time.monotonic() - began, places.used - before
        yield Population(places, running, environ, templates, count, took, used / count)


def _name(number: int) -> str:
    return f"agent-{number:07}"


def _mixed(places: StandServers, running: Pipeline) -> list[CopiedMemory]:
    """A hundred memories in the order in which they are copied, again and again."""
    keys = running.services.keys
    read = {
        kind: [_template(places, keys, kind, name) for name in names] for kind, names in make_templates(running).items()
    }
    templates = [some[n % len(some)] for kind, some in read.items() for n in range(kind.percent)]
    random.Random(1).shuffle(templates)
    return templates


def _template(places: StandServers, keys: Keys, kind: Kind, name: str) -> CopiedMemory:
    lines, own = defaultdict[str, list[str]](list), keys.of(name).base
    for key in _keys_of(places, name):
        at = own if key.startswith(own) else key
        node = places.node_of(key)
        held = "".join(f"\\{byte}" for byte in bytes(node.dump(key)))
        line = _RESTORE.format(behind=key.removeprefix(at), ttl=max(0, node.pttl(key)), held=held)
        lines[at.replace(name, "*")].append(line)
    indexes = (keys.resources, keys.due_observe, keys.due_reflect)
    scores = {index: places.node_of(index.of(name)).zscore(index.of(name), name) for index in indexes}
    return CopiedMemory(
        kind,
        {at: _loaded(places, some) for at, some in lines.items()},
        {index: score for index, score in scores.items() if score is not None},
    )


def _keys_of(places: StandServers, name: str) -> list[str]:
    found = (key for node in places.nodes for key in node.scan_iter(f"*{name}*", count=10_000))
    return sorted(key.decode() for key in found)


def _loaded(places: StandServers, lines: Sequence[str]) -> str:
    """The digest of a script, which every server has."""
    script = "\n".join(["for i = 1, #KEYS do", *lines, "end"])
    (digest,) = {str(node.script_load(script)) for node in places.nodes}
    return digest


def _copy(places: StandServers, keys: Keys, templates: Sequence[CopiedMemory], numbers: range) -> None:
    """Make these agents: first all of their keys, then their places in the indexes."""
    copied = {_name(number): templates[number % len(templates)] for number in numbers}
    pipes = {id(node): node.pipeline(transaction=False) for node in places.nodes}
    for script, some in _by_script(copied).items():
        for at in _calls(some, _IN_A_CALL if len(places.nodes) == 1 else 1):
            pipes[id(places.node_of(at[0]))].evalsha(script, len(at), *at)
    for part, scores in _by_part(copied, keys, numbers).items():
        pipes[id(places.node_of(part))].zadd(part, scores)
    for pipe in pipes.values():
        pipe.execute()


def _by_script(copied: Mapping[str, CopiedMemory]) -> Mapping[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for name, template in copied.items():
        for at, script in template.scripts.items():
            found[script].append(at.replace("*", name))
    return found


def _calls(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    left = iter(names)
    while some := list(islice(left, size)):
        yield some


def _by_part(copied: Mapping[str, CopiedMemory], keys: Keys, numbers: range) -> Mapping[str, dict[str, float]]:
    """Their places in the indexes. When they were looked at differs, as sweeps come round."""
    found = defaultdict[str, dict[str, float]](dict)
    for number, (name, template) in zip(numbers, copied.items(), strict=True):
        for index, score in template.scores.items():
            found[index.of(name)][name] = score - (_LOOKED_MS * number if index is keys.resources else 0)
    return found
