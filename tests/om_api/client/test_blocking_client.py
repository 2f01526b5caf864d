"""The blocking client is generated from the asyncio one, so that neither can do what the other cannot."""

import ast
import runpy
from pathlib import Path

import pytest
from world import World

from om_api import Message, ObservationalMemory
from om_api.domain.errors import InvalidInputError

ROOT = Path(__file__).parents[3]
FACES = runpy.run_path(str(ROOT / ".ci" / "faces.py"))


def _meaning(text):
    """A module's statements, however they are formatted and ordered; `make lint` compares the text itself."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            node.names = [ast.alias(name) for name in sorted({each.name for each in node.names})]
    return sorted(ast.dump(node) for node in tree.body)


def test_blocking_client_is_what_its_generator_makes():
    for source, target in FACES["FACES"].items():
        made = FACES["without_waiting"]((ROOT / source).read_text())
        assert _meaning(made) == _meaning((ROOT / target).read_text()), f"{target}: run `make faces`"
    given = (
        '"""`await om.close()`, see AsyncObservationalMemory."""\nasync with om:\n    x = [await y async for y in om]\n'
    )
    made = '"""`om.close()`, see ObservationalMemory."""\nwith om:\n    x = [y for y in om]\n'
    assert FACES["without_waiting"](given) == made


def test_blocking_client_does_its_work_against_a_store(client, prefix):
    world = World(client, prefix)
    history = [Message(role="user", content=f"message {n}", tokens=100) for n in range(12)]
    with ObservationalMemory(world.settings, client=client) as om:
        first = om.add_messages(history[:2], thread_id="t-1", resource_id="harold")
        assert om.add_message(history[0], thread_id="t-1", resource_id="harold").added == 1
        found = om.sync(history, "harold", "t-2")
        assert (len(first.ids), found.added, found.known) == (2, 12, 0)
        assert len(om.get_context("t-2", "harold").messages) == 12
        assert [hit.id for hit in om.recall('"message 7"', "harold").hits] == [found.ids[7]]
        world.settle()
        om.force_observe("t-1", "harold")
        world.settle()
        om.force_reflect("harold")
        world.settle()
        (generation,) = om.generations("harold")
        assert (om.stats("harold").generation, om.verify()) == (generation.n, [])
        assert om.browse(found.ids[7], "harold", before=1, after=1).message.content == "message 7"
        file = list(om.export_memory("harold"))
        assert om.restore("harold", 0) == "restored"
        observation = om.observations("harold")[0]
        assert om.forget(observation.id, "harold") == "cleared"
        with pytest.raises(InvalidInputError):
            om.forget(observation.id, "harold")
        following = om.follow("0", kinds=["forgotten", "cleared"])
        om.clear("harold")
        assert [next(following).kind, next(following).kind] == ["forgotten", "cleared"]
        assert om.get_context("t-2", "harold").messages == []
        assert om.import_memory(file).resource == "harold"
        assert om.generations("harold") == [generation]
