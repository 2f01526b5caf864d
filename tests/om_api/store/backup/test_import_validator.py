"""Lines that no export writes: refused by name, and totals counted anew; a script that met such a number would stop half-way."""

import json

import pytest
from scene import HAROLD, cleared, exported, filled, import_, lines, nothing_changes, record, rewritten

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Scope
from om_api.store.audit.verify import verify
from om_api.store.memory import reading

FOR_EVER = 2**63 - 1


def _field(kind, name, value):
    def change(found):
        return [{**x, "fields": {**x["fields"], name: value}} if x["kind"] == kind else x for x in found]

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


def refuses(store, rows):
    filled(store)
    whole = exported(store)
    cleared(store)
    with nothing_changes(store):
        for said, change in rows:
            with pytest.raises(InvalidInputError, match=said) as refused:
                import_(store, rewritten(whole, change))
                pytest.fail(f"imports: {said}")
            assert str(refused.value).startswith("line "), said


def test_a_number_that_a_script_would_stumble_over_imports_nothing(store):
    rows = [
        ("seq", _high),
        ("seq", _field("record", "seq", "1e300")),
        ("observed_tokens", _field("record", "observed_tokens", "1_0")),
        ("observed_messages", _field("record", "observed_messages", str(FOR_EVER))),
        *[(name, _field("record", name, "nan")) for name in ("pool_seq", "drain", "shared|bob")],
        ("attempts", _field("chunk", "attempts", str(FOR_EVER))),
        ("attempts", _field("chunk", "attempts", "-9")),
        ("tokens", _field("chunk", "tokens", " 20")),
        ("tokens", _said("observation", "observation", tokens=10**30)),
        ("replaced_by", _replaced_by_none),
        ("array", _field("record", "pins", "{}")),
        ("not one line", _field("record", "pins", '[{"id":"p1","text":"one\\ntwo"}]')),
    ]
    refuses(store, rows)


def test_json_that_nests_deeper_than_the_limit_imports_nothing(store):
    deep = json.loads("[" * 101 + "]" * 101)
    working = json.dumps({"kind": "working", "fields": {"value:": json.dumps({"City": [deep, 1]})}}).encode()
    rows = [
        *[
            (kind, _said(kind, kind, extracted={"t1": {"x": {"value": deep}}}))
            for kind in ("generation", "observation")
        ],
        ("chunk", _field("chunk", "observation", json.dumps(deep))),
        ("thread", _field("thread", "metadata", json.dumps({"a": deep}))),
        ("working", lambda found: [*found[:-1], json.loads(working), found[-1]]),
    ]
    refuses(store, [("deeper than 100 levels", change) for _, change in rows])


def _each(kind, **changed):
    return lambda found: [{**line, **changed} if line["kind"] == kind else line for line in found]


def _lacking(kind):
    return lambda found: [line for line in found if line["kind"] != kind]


def _twice(kind):
    return lambda found: found + [line for line in found if line["kind"] == kind]


def test_a_line_that_cannot_be_is_named_and_imports_nothing(store):
    rows = [
        ("cannot be in scope thread", _each("memory", scope="thread")),
        ("neither resource nor thread", _each("memory", scope="world")),
        ("is not an id", _each("memory", resource="../x")),
        ("signing_key is none", _each("memory", signing_key="5e" * 400)),
        ("says 99 messages", _each("thread", messages=99)),
        ("must be a whole number", _each("thread", messages=-1)),
        ("must be a whole number", _each("thread", tokens=2**60)),
        ("at", _each("thread", at="now")),
        ("score", _each("message", score=None)),
        ("in a thread, in a chunk, or behind", _each("message", thread="t1", chunk="c4")),
        ("metadata is too large", _each("message", message='{"metadata": {"a": [%s[]]}}' % ("[]," * 150_000))),
        ("base64", _each("message", message={"base64": "?"})),
        ("missing required", _each("observation", observation="{}")),
        ("no line of", _each("observation", seq=1e400)),
        ("generation 3", _each("generation", n=3)),
        ("neither sealed nor ready", _each("chunk", fields={"seq": "1", "thread": "t1"})),
        ("convert", _each("chunk", fields={})),
        ("is not an id", _each("chunk", chunk="a/b")),
        ("convert", _each("record", fields={"seq": "many"})),
        ("expires_at", _each("source", expires_at=2**63)),
        ("record of the memory None must come before", _lacking("record")),
        *[("must come before", _lacking(kind)) for kind in ("thread", "chunk", "source")],
        ("c4 says", (lambda found: [line for line in found if line.get("chunk") != "c4" or line["kind"] != "message"])),
        *[("there twice", _twice(kind)) for kind in ("record", "observation", "thread", "source")],
        ("has no place here", lambda found: [*found, found[0]]),
    ]
    refuses(store, rows)


def test_totals_are_counted_anew_whatever_the_file_says(store):
    filled(store)
    before, file = record(store), exported(store)
    for total in ("chunk_tokens", "observation_tokens", "observation_count", "generation", "seq"):
        file = rewritten(file, _field("record", total, "7" if total != "seq" else "1"))
    cleared(store)
    import_(store, file)

    after = record(store)
    assert store.run(verify(store.keys)) == []
    assert (after.generation, after.observation_count, after.chunk_tokens) == (1, 2, before.chunk_tokens)
    assert after.seq == 8  # the highest that came: an observation's or a chunk's


def _with_observation(line, made):
    is_ready = line.get("fields", {}).get("state") == "ready"
    return {**line, "fields": {**line["fields"], "observation": made}} if is_ready else line


def test_tokens_of_notes_are_counted_whatever_the_file_says(store):
    filled(store)
    file = exported(store)
    false = {"tokens": 1, "wrapper_tokens": 10**12}
    made = next(json.loads(x["fields"]["observation"]) for x in lines(file) if "observation" in x.get("fields", {}))
    file = rewritten(file, _said("observation", "observation", **false))
    file = rewritten(file, _said("generation", "generation", **false))
    ready = json.dumps({**made, "wrapper_tokens": 10**12})
    file = rewritten(file, lambda found: [_with_observation(line, ready) for line in found])
    cleared(store)
    import_(store, file)

    of = store.keys.of("harold")
    assert [each.observation.text_tokens for each in store.run(reading.observations(store.keys, HAROLD))] == [5, 5]
    assert json.loads(store.client.hget(of.chunk("c4"), "observation")) == made
    assert record(store).reflection_tokens == 3


def test_a_memory_whose_record_is_garbled_can_be_cleared(store):
    filled(store)
    of = store.keys.of("harold")
    store.client.hset(of.record(HAROLD), mapping={"pool_seq": "nan", "shared|bob": "x"})
    store.client.hset(of.chunk("c5"), mapping={"tokens": "nan", "messages": "x"})
    cleared(store)


def test_an_import_drops_what_its_observations_would_share(store):
    filled(store)
    kept = {"contacts": ["Bo"]}
    file = rewritten(
        exported(store), _said("observation", "observation", extracted={**kept, "shared": {"facts": ["x"]}})
    )
    cleared(store)
    import_(store, file, "bob")
    assert [each.observation.extracted for each in store.run(reading.observations(store.keys, Scope("bob")))] == [
        kept
    ] * 2


def test_a_memory_that_is_imported_under_another_name_has_no_ties_to_what_was_shared(store):
    filled(store)
    came = {"resource": "ada", "observation": "c1", "made_at": 1}
    file = rewritten(exported(store), _said("observation", "observation", shared_from=came, origin="shared"))
    cleared(store)
    for resource, tied in (("harold", True), ("bob", False)):
        import_(store, file, resource)
        found = store.run(reading.observations(store.keys, Scope(resource)))
        assert {each.observation.shared_from is not None for each in found} == {tied}, resource
