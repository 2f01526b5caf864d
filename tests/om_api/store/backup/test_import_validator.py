"""Lines that no export writes: refused by name, and totals counted anew; a script that met such a number would stop half-way."""

import json

import pytest
from scene import cleared, exported, filled, import_, nothing_changes, record, rewritten

from om_api.domain.errors import InvalidInputError
from om_api.store.audit.verify import verify

FOR_EVER = 2**63 - 1


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
        (_field("record", "pins", "{}"), "array"),
        (_field("record", "pins", '[{"id":"p1","text":"one\\ntwo"}]'), "not one line"),
    ],
)
def test_a_number_that_a_script_would_stumble_over_imports_nothing(store, change, said):
    filled(store)
    file = rewritten(exported(store), change)
    cleared(store)

    with nothing_changes(store), pytest.raises(InvalidInputError, match=said):
        import_(store, file)


def _each(kind, **changed):
    return lambda found: [{**line, **changed} if line["kind"] == kind else line for line in found]


def _lacking(kind):
    return lambda found: [line for line in found if line["kind"] != kind]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_each("memory", scope="thread"), "cannot be in scope thread"),
        (_each("memory", scope="world"), "neither resource nor thread"),
        (_each("memory", resource="../x"), "is not an id"),
        (_each("memory", signing_key="5e" * 400), "signing_key is none"),
        (_each("thread", messages=99), "says 99 messages"),
        (_each("thread", messages=-1), "must be a whole number"),
        (_each("thread", tokens=2**60), "must be a whole number"),
        (_each("thread", at="now"), "at"),
        (_each("message", score=None), "score"),
        (_each("message", thread="t1", chunk="c4"), "in a thread, in a chunk, or behind"),
        (_each("message", message={"base64": "?"}), "base64"),
        (_each("observation", observation="{}"), "missing required"),
        (_each("observation", seq=1e400), "no line of"),
        (_each("generation", n=3), "generation 3"),
        (_each("chunk", fields={"seq": "1", "thread": "t1"}), "neither sealed nor ready"),
        (_each("chunk", fields={}), "convert"),
        (_each("chunk", chunk="a/b"), "is not an id"),
        (_each("record", fields={"seq": "many"}), "convert"),
        (_each("source", expires_at=2**63), "expires_at"),
        (_lacking("record"), "record of the memory None must come before"),
        (_lacking("thread"), "must come before"),
        (_lacking("chunk"), "must come before"),
        (_lacking("source"), "must come before"),
        (
            lambda found: [
                line for line in found if "c4" not in str(line.get("fields", line)) or line["kind"] != "message"
            ],
            "c4 says",
        ),
        (lambda found: found + [line for line in found if line["kind"] == "record"], "there twice"),
        (lambda found: found + [line for line in found if line["kind"] == "observation"], "there twice"),
        (lambda found: found + [line for line in found if line["kind"] == "thread"], "there twice"),
        (lambda found: found + [line for line in found if line["kind"] == "source"], "there twice"),
        (lambda found: [*found, found[0]], "has no place here"),
    ],
)
def test_a_line_that_cannot_be_is_named_and_imports_nothing(store, change, said):
    filled(store)
    file = rewritten(exported(store), change)
    cleared(store)

    with nothing_changes(store), pytest.raises(InvalidInputError, match=said) as refused:
        import_(store, file)
    assert str(refused.value).startswith("line ")


def test_totals_are_counted_anew_whatever_the_file_says(store):
    filled(store)
    before = record(store)

    def wrong(found):
        totals = {
            "chunk_tokens": "7",
            "observation_tokens": "7",
            "observation_count": "7",
            "generation": "7",
            "seq": "1",
        }
        return [
            {**line, "fields": {**line["fields"], **totals}} if line["kind"] == "record" else line for line in found
        ]

    file = rewritten(exported(store), wrong)
    cleared(store)
    import_(store, file)

    after = record(store)
    assert store.run(verify(store.keys)) == []
    assert (after.generation, after.observation_count, after.chunk_tokens) == (1, 2, before.chunk_tokens)
    assert after.seq == 8  # the highest that came: an observation's or a chunk's
