"""A memory leaves as lines and arrives as a whole: at once, unchanged, into an empty resource, or not at all."""

import pytest
from msgspec.structs import astuple
from scene import (
    HAROLD,
    at_step,
    cleared,
    emptied,
    exported,
    filled,
    import_,
    incoming,
    lines,
    nothing_changes,
    observed,
    push,
    record,
    reflect,
    rewritten,
    seal,
    write_plainly,
)
from stores import fresh
from world import contents as held

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.values import Scope
from om_api.store.audit.verify import verify
from om_api.store.backup import exporting, importing
from om_api.store.backup.importing import LONGEST, Incoming
from om_api.store.driver.steps import Apart, Batch
from om_api.store.memory import requests
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.known import held_records
from om_api.store.threads.describing import set_memory_mode

ANEW = ("epoch", "stirred", "stirred_at", "force")  # what a record gets anew, or not at all


def memory(store, resource="harold"):
    """What a resource holds, but for what an import makes anew; and which of its keys expire."""
    everything = held(store.client, f"{store.keys.of(resource).base}:*")
    found = {key: value for key, value in everything.items() if b":import:" not in key}
    for key in [key for key in found if b":record" in key]:
        found[key] = {name: value for name, value in found[key].items() if not name.decode().startswith(ANEW)}
    for key in [key for key in found if b":known:" in key]:  # which bucket holds it is not what is known
        found[key] = sorted(held_records(found[key]).values())
    tokens = store.keys.of(resource).tokens.encode()
    found[tokens] = {name: n for name, n in found.get(tokens, {}).items() if b"*wake" not in name and n != b"0"}
    return {key: (value, store.client.ttl(key) >= 0) for key, value in found.items()}


def test_every_key_comes_back_as_it_was_and_lives_as_long(store):
    filled(store)
    store.client.hset(store.keys.of("harold").thread("t1"), mapping={"title": "Roofs", "metadata": b"\xff\x00"})
    store.client.rpush(store.keys.of("harold").rejected, b'{"kind":"malformed"}', b"\xff", b'{"kind":"malformed"}')
    store.run(set_memory_mode(store.keys, "harold", "t3", "off"))
    push(store, 20, 21, thread="t3")
    store.run(set_memory_mode(store.keys, "harold", "begins-later", "read_only"))
    before, epoch, file = memory(store), record(store).epoch, exported(store)
    assert import_(store, file, "albert").resource == "albert"
    renamed = {key.replace(b"{albert}", b"{harold}"): value for key, value in memory(store, "albert").items()}
    assert memory(store) == renamed == before
    assert store.client.pttl(store.keys.of("albert").lock("imported")) == pytest.approx(3_600_000, abs=60_000)
    cleared(store)

    assert astuple(import_(store, file)) == ("harold", 4, 10, 2, 1, 3)
    assert memory(store) == before
    assert store.run(verify(store.keys)) == []
    for index in (store.keys.due_observe, store.keys.due_reflect, store.keys.resources):
        assert store.client.zscore(index, "harold") is not None, index
    # a worker that thought about the old memory commits nothing to the new one
    assert store.run(seal_steps.seal(store.keys, HAROLD, epoch, "t1", [b"x"], 1)) == "superseded"
    assert record(store).epoch not in {"", epoch}
    assert push(store, 1, 3, 5, 7, 10).added == 0  # ids accepted before the export are duplicates
    store.client.unlink(*[key for key in store.client.scan_iter(f"{store.keys.prefix}*") if b":record" not in key])
    with pytest.raises(InvalidInputError, match="holds a memory already"):
        import_(store, file)


def test_in_thread_scope_too(store):
    for n, thread in enumerate(("t1", "t2")):
        scope = Scope("harold", thread)
        observed(store, f"o{n}", 10 * n + 1, 10 * n + 2, thread=thread, scope=scope)
        assert reflect(store, f"o{n}", scope=scope) == "reflected"
        seal(store, f"c{n}", 10 * n + 3, thread=thread, scope=scope)
    before, file = memory(store), exported(store)
    cleared(store)
    import_(store, file)

    assert memory(store) == before
    assert store.run(verify(store.keys)) == []


def test_what_has_expired_since_does_not_come_back(store):
    observed(store, "o1", 1, 2)

    def aged(found):
        return [{**line, **({"expires_at": 5} if "expires_at" in line else {})} for line in found]

    file = rewritten(exported(store), aged)
    cleared(store)
    import_(store, file)

    assert not store.client.exists(store.keys.of("harold").source("o1"), store.keys.of("harold").sources("t1"))
    assert store.run(verify(store.keys)) == []


def test_a_pause_comes_back_and_one_from_before_stays(store):
    push(store, 1)
    file = exported(store)
    store.run(requests.pause(store.keys, "harold", on=True))
    paused = exported(store)
    cleared(store)
    import_(store, paused)
    store.run(requests.pause(store.keys, "albert", on=True))
    import_(store, file, "albert")
    assert [store.client.hget(store.keys.of(name).tokens, "*paused") for name in ("harold", "albert")] == [b"1", b"1"]

    nothing = exported(store, "nobody")
    assert [line["kind"] for line in lines(nothing)] == ["memory", "end"]
    assert astuple(import_(store, nothing)) == ("nobody", 0, 0, 0, 0, 0)


def test_a_request_for_a_memory_that_is_not_there_keeps_none_from_coming_and_is_gone_then(store):
    for fill, recorded in ((filled, True), (lambda store: push(store, 1), False)):
        fill(emptied(store))
        file, before = exported(store), memory(store)
        cleared(store)
        store.run(requests.force(store.keys, HAROLD, "force"))
        import_(store, file)
        assert memory(store) == before
        assert store.client.exists(store.keys.of("harold").record(HAROLD)) == recorded


def test_two_imports_into_one_resource_make_one_memory(store):
    filled(store)
    before, file = memory(store), exported(store)
    cleared(store)
    first, second = incoming(store, file), incoming(store, file)
    store.run(first.send())
    store.run(second.send())
    store.run(first.commit())
    with pytest.raises(InvalidInputError, match="holds a memory already"):
        store.run(second.commit())
    store.run(second.discard())
    assert memory(store) == before


def test_messages_that_nobody_counted_yet_are_adopted_after_an_import(store):
    push(store, 1)
    write_plainly(store, b'{"role":"user","content":"plain"}')
    write_plainly(store, b'{"role":"user","content":"timeless"}', score=float("inf"))
    file, of = exported(store), store.keys.of("harold")
    cleared(store)
    import_(store, file)
    assert store.client.hgetall(of.tokens).items() >= {b"t1": b"10", b"#t1": b"1", b"*": b"10"}.items()
    assert store.client.zcard(of.messages("t1")) == 3
    assert store.client.zrange(store.keys.adopt, 0, -1) == [of.messages("t1").encode()]


def _cut(file):
    return file[: len(file) // 2]


def test_a_file_that_is_not_whole_imports_nothing_and_says_why(store):
    filled(store)
    whole = exported(store)
    cleared(store)
    with nothing_changes(store):
        for said, file in (
            ("line", _cut(whole)),
            ("which is not its last one", b"".join(whole.splitlines(keepends=True)[:-1])),
            ("changed or damaged", whole.replace(b"turn 10", b"turn 99")),
            ("first line must be of the kind memory", b"\n".join(sorted(whole.splitlines()))),
            ("nothing may follow", whole + whole),
            ("not a single line", b""),
            ("line 1", b"\xff\xfe" + whole),
            ("import it with the version that wrote it", whole.replace(b'"format":1', b'"format":2')),
            (f"{LONGEST:,} bytes", b"x" * (LONGEST + 1)),
        ):
            with pytest.raises(InvalidInputError, match=said):
                import_(store, file)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_whoever_lives_in_the_resource_stays_and_nothing_is_imported(store, when):
    lives = {
        "a message": lambda: push(store, 50, thread="t9"),
        "a chunk": lambda: seal(store, "c9", 50),
        "an observation": lambda: observed(store, "o9", 50, thread="t9"),
        "a plain message": lambda: write_plainly(store, b'{"role":"user","content":"plain"}'),
        "the quarantine": lambda: store.client.rpush(store.keys.of("harold").rejected, b"{}"),
        "a title": lambda: store.client.hset(store.keys.of("harold").thread("t1"), "title", "Roofs"),
    }
    filled(store)
    store.client.hset(store.keys.of("harold").thread("t1"), "title", "Walls")
    file = exported(store)
    for life in fresh(store, lives):
        arriving = incoming(store, file)
        if when == "meanwhile":
            store.run(arriving.send())
        lives[life]()
        before = memory(store)
        with pytest.raises(InvalidInputError, match="harold holds a memory already"):
            store.run(arriving.commit())
        store.run(arriving.discard())
        assert memory(store) == before, life
        assert store.run(verify(store.keys)) == [], life


def test_nothing_of_an_import_can_be_read_before_its_commit_and_a_failed_one_is_removed(store):
    filled(store)
    file = exported(store)
    cleared(store)
    before = memory(store)
    for text in (file, _cut(file)):
        with nothing_changes(store):
            arriving = incoming(store, text)
            store.run(arriving.send())
            written = [key for key in store.client.scan_iter(f"{store.keys.prefix}*") if b":import:" in key]
            assert all(6 * 3_600 - 60 <= store.client.ttl(key) <= 6 * 3_600 for key in written)
            assert (memory(store), len(written) > 10) == (before, text is file)
            assert store.run(verify(store.keys)) == []
            store.run(arriving.discard())


def test_an_import_of_which_the_store_lost_a_part_does_not_become_a_memory(store):
    filled(store)
    file = exported(store)
    cleared(store)
    arriving = incoming(store, file)
    store.run(arriving.send())
    (sealed,) = store.client.scan_iter(f"{store.keys.prefix}*:import:*:sealed:c5")
    store.client.zpopmin(sealed)

    with pytest.raises(StoreError, match="lost a part"):
        store.run(arriving.commit())
    store.run(arriving.discard())
    assert not store.client.exists(store.keys.of("harold").scope)


def test_a_piece_of_an_import_is_taken_off_the_event_loop(store):
    """A line may have 17 MB, and all of it may be redacted."""
    assert isinstance(next(iter(Incoming(store.keys, None, lambda _: None, len).take(b"x"))), Apart)


def test_every_transaction_of_an_import_can_be_sent_twice(store):
    filled(store)
    store.client.rpush(store.keys.of("harold").rejected, *[b'{"kind":"malformed"}'] * 5)
    before, file = memory(store), exported(store)
    cleared(store)
    arriving = incoming(store, b"")
    for line in file.splitlines(keepends=True):
        store.run(arriving.take(line))
        store.run(_twice(arriving.send(), "batch"))

    assert store.run(_twice(arriving.commit(), "arrive")).resource == "harold"
    assert memory(store) == before
    assert store.run(verify(store.keys)) == []


def _twice(steps, verb):
    """The same steps, each call of the verb (or each batch that writes) made twice."""
    reply = None
    try:
        while True:
            step = steps.send(reply)
            if getattr(step, "name", "batch" if isinstance(step, Batch) and step.writes else "") == verb:
                yield step
            reply = yield step
    except StopIteration as end:
        return end.value


@pytest.mark.parametrize("n", range(8))  # steps of a commit: look, send, clock, list, arrive, and the marks
def test_at_any_step_a_message_is_kept_and_a_memory_comes_whole_or_not_at_all(store, n):
    filled(store)
    before, file = memory(store), exported(store)
    cleared(store)
    store.run(at_step(incoming(store, file).commit(), n, None))  # the import dies: the next one finds out
    if n <= 4:
        import_(store, file)
    assert memory(store) == before
    assert store.client.zscore(store.keys.resources, "harold") is not None
    with pytest.raises(InvalidInputError, match="holds a memory already"):
        import_(store, file)

    cleared(store)
    arriving, refused = incoming(store, file), False
    try:
        store.run(at_step(arriving.commit(), n, lambda: push(store, 50, thread="t9")))
    except InvalidInputError:
        refused = True
    store.run(arriving.discard())
    assert store.client.zcard(store.keys.of("harold").messages("t9")) == 1
    assert store.client.exists(store.keys.of("harold").scope) == (not refused) == (n > 4)
    assert store.run(verify(store.keys)) == []


def test_export_divides_many_values_into_lines_that_can_be_imported(store, monkeypatch):
    filled(store)
    of = store.keys.of("harold")
    store.client.hset(of.redacted, mapping={f"email {n:010x}": b"sealed" * 20 for n in range(40)})
    monkeypatch.setattr(exporting, "MAX_TEXT", 1_000)
    before, file = memory(store), exported(store)
    assert file.count(b'"kind":"redacted"') > 3
    monkeypatch.setattr(importing, "LONGEST", 10_000)
    cleared(store)
    import_(store, file)
    assert memory(store) == before
