"""Numbers that no export writes: a script that met them half-way would leave half of a memory, or messages without a cover."""

from __future__ import annotations

import json

import pytest
from scene import HAROLD, filled, nothing_changes, push
from test_import import clear, exported, import_, rewritten

from om_api.errors import InvalidInputError
from om_api.store.exporting import Outgoing
from om_api.store.keys import WINDOW_MS

FOR_EVER = 2**63 - 1


def _latest(found):
    changed = [{**line, "window": FOR_EVER // WINDOW_MS} if line["kind"] == "seen" else line for line in found]
    return [{**changed[0], "exported_at": FOR_EVER}, *changed[1:]]


def _field(kind, name, value):
    def change(found):
        return [{**x, "fields": {**x["fields"], name: value}} if x["kind"] == kind else x for x in found]

    return change


def _without(kind, name):
    def change(found):
        kept = [({k: v for k, v in x["fields"].items() if k != name} if x["kind"] == kind else None) for x in found]
        return [x if fields is None else {**x, "fields": fields} for x, fields in zip(found, kept, strict=True)]

    return change


def _said(kind, where, **changed):
    def change(found):
        return [
            {**x, where: json.dumps({**json.loads(x[where]), **changed})} if x["kind"] == kind else x for x in found
        ]

    return change


def _high(found):
    return [{**line, "seq": 1e300} if line["kind"] == "observation" else line for line in found]


def _replaced_by_none(found):
    return [{**line, "replaced_by": 77} if "replaced_by" in line else line for line in found]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_latest, "exported_at"),
        (_high, "seq"),
        (_field("record", "seq", "1e300"), "seq"),
        (_field("record", "observed_tokens", "1_0"), "observed_tokens"),
        (_field("record", "observed_messages", str(FOR_EVER)), "observed_messages"),
        (_field("chunk", "attempts", str(FOR_EVER)), "attempts"),
        (_field("chunk", "attempts", "-9"), "attempts"),
        (_field("chunk", "tokens", " 20"), "tokens"),
        (_without("chunk", "tokens"), "tokens"),
        (_said("observation", "observation", tokens=10**30), "tokens"),
        (_replaced_by_none, "replaced_by"),
    ],
)
def test_a_number_that_a_script_would_stumble_over_imports_nothing(store, change, said):
    filled(store)
    file = rewritten(exported(store), change)
    clear(store)

    with nothing_changes(store), pytest.raises(InvalidInputError, match=said):
        import_(store, file)


def test_a_generation_that_never_was_makes_nobody_read_or_clear_without_end(store):
    push(store, 1)
    store.client.hset(store.keys.of("harold").record(HAROLD), mapping={"generation": 10**15, "epoch": "e"})
    outgoing = Outgoing(store.keys, "harold")

    assert store.run(outgoing.more()).startswith(b'{"kind":"memory"')
    clear(store)
    assert not store.client.exists(store.keys.of("harold").messages("t1"))
