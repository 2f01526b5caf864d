"""One working call of every script, with everything that the server held right before it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import redis
from scene import (
    AT,
    HAROLD,
    TTL,
    activated,
    adopt,
    aliased,
    call,
    cleared,
    clearing_thread,
    erasing,
    exported,
    filled,
    import_,
    member,
    message,
    moving,
    observed,
    push,
    put_up,
    record,
    reflect,
    restored,
    retry,
    seal,
    words,
)
from scene import write_plainly as write

from om_api.domain.api_keys import Role
from om_api.domain.events import Event
from om_api.domain.identity import KnownId, record_of
from om_api.domain.values import CopiedFrom, Observation, SharedFrom
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.redaction.making import redactor
from om_api.settings.sections.redaction_settings import RedactionSettings
from om_api.settings.stored_layers import StoredTexts
from om_api.store.backup import unused_values
from om_api.store.backup.old_text import redact
from om_api.store.driver.scripts import load_all
from om_api.store.fleet import (
    api_key_records,
    breaker,
    event_stream,
    repartition,
    request_pace,
    spending,
    stored_settings,
    webhook_queue,
    webhook_records,
)
from om_api.store.index.reindex import reindex
from om_api.store.items.item_records import ItemPut, body_of
from om_api.store.items.keeping_items import items_under, put_items, use_items
from om_api.store.items.namespaces import tell
from om_api.store.lines import correcting
from om_api.store.lines.correcting import By, Corrector, Keeping
from om_api.store.lines.pinning import pin
from om_api.store.memory import amend, clear, due, known, model_cooldown, note, quarantine, reading, scope_state
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import reflect as reflect_steps
from om_api.store.reviews.drafts import Review
from om_api.store.sharing import copies
from om_api.store.threads.aliases import unalias
from om_api.store.threads.copying import begin
from om_api.store.threads.describing import describe
from om_api.store.working import working

Held = dict[bytes, tuple[int, bytes]]  # what DUMP says of each key, and for how many ms it stays


class Called(NamedTuple):
    """A call of a script, and what the server held before it."""

    keys: Sequence[Any]
    args: Sequence[Any]
    held: Held


class Overhearing(redis.Redis):
    """A client that keeps the longest call of each script."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.names = {script.sha: script.name for script in load_all().values()}
        self.calls: dict[str, Called] = {}

    def evalsha(self, sha: str, numkeys: int, *given: Any) -> Any:
        name = self.names[sha]
        known = self.calls.get(name)
        if known is None or len(given) > len(known.keys) + len(known.args):
            self.calls[name] = Called(given[:numkeys], given[numkeys:], held(self))
        return super().evalsha(sha, numkeys, *given)


def held(client: Any) -> Held:
    return {key: (max(client.pttl(key), 0), client.dump(key)) for key in client.scan_iter(count=1000)}


def put_back(client: Any, found: Held) -> None:
    with client.pipeline(transaction=False) as pipe:
        pipe.flushall()
        for key, (ttl, value) in found.items():
            pipe.restore(key, ttl, value)
        pipe.execute()


def call_everything(store: Any) -> None:
    """Call every script at least once, so that it does what it is for."""
    _of_a_memory(store)
    _of_the_archive(store)
    _of_threads(store)
    _of_its_end(store)
    _of_the_index(store)
    _of_models(store)
    _of_webhooks(store)
    _of_items(store)
    store.run(repartition.repartition(store.keys, 2))
    store.run(repartition.repartition(store.keys, 1))


def _of_a_memory(store: Any) -> None:
    of = store.keys.of("harold")
    filled(store)
    write(store, member(20), member(21))
    store.run(adopt(store))
    epoch, chunks = record(store).epoch, store.run(scope_state.look(store.keys, HAROLD)).chunks
    store.run(chunks_steps.begin(store.keys, "harold", "c5"))
    store.run(model_cooldown.observed(store.keys, "harold", "c5"))
    store.run(chunks_steps.split(store.keys, HAROLD, chunks[-1], 1, 10, 1))
    store.run(reflect_steps.draft(store.keys, HAROLD, epoch, 1, b"* text", TTL))
    put_up(store, "o2")
    put_up(store, "o2", was="r1", review=Review("r2", 5))
    store.run(reflect_steps.draft(store.keys, HAROLD, epoch, 1, b"* text", TTL, was="r2"))
    store.run(note.note(store.keys, HAROLD, epoch, note.Decided("{}", "*wake", 900, 1.0)))
    store.run(note.stir(store.keys, HAROLD, "as it is"))
    store.run(note.read_for(store.keys, HAROLD, "t1", epoch, "gpt-5.2"))
    other = message(20)
    other.content = "turn 20 goes on"
    amending = EncodedMessage(other, encode_message(other))
    store.run(amend.amend(store.keys, amending, KnownId.of(record_of(message(20))), len))
    store.run(known.learn(store.keys, HAROLD, ["t1"], complete=True))
    store.run(known.tidy(store.keys, HAROLD, ["t1"], TTL))
    store.client.delete(of.segment("c4"), of.segment("o1"))
    store.run(reindex(store.keys, HAROLD, epoch, ["t1", "t2"], "auto", 10))
    store.client.rpush(of.rejected, b'{"kind":"malformed"}')
    store.run(quarantine.trim(store.keys, "harold", 1))
    call(store, "batch", [of.messages("t1")], [2, "ZCARD", of.messages("t1"), 1, "TIME"])
    fixed = [of.scope, of.tokens, of.record(HAROLD), of.chunks(HAROLD), of.observations(HAROLD), of.reflections(HAROLD)]
    stems = [of.chunk(""), of.sealed(""), of.messages("")]
    call(
        store,
        "snapshot",
        [*fixed, of.thread("t1"), of.messages("t1"), of.threads, of.aliases, of.working, *stems],
        ["t1", 3, 2, "t1", "value:"],
    )


def _of_the_archive(store: Any) -> None:
    of = store.keys.of("ingrid")
    keys = [of.archived, of.source("c9"), of.segment("c9")]
    store.client.zadd(of.source("c9"), {"said": 1, "said too": 2})
    store.client.zadd(of.sources("t1"), {"c9": 1})
    store.client.expire(of.sources("t1"), 1)
    later = int(store.client.time()[0] + TTL) * 1_000
    held = [of.archived, of.hold, *keys[1:], of.sources("t1")]
    call(store, "archive", held, [TTL, "", "", later, "source:c9", 1, "", 2, "said", "said too"])
    call(store, "bring_back", keys, ["source:c9", 1, later, "words", 2, 1, "said", 2, "said too"])


def _of_threads(store: Any) -> None:
    of = store.keys.of("harold")
    observed(store, "a1", 51, thread="t5")
    reflect(store, "a1", text='<thread id="t5">\n* of five\n</thread>')
    observed(store, "a2", 52, thread="t5")
    seal(store, "a3", 53, thread="t5")
    push(store, 54, thread="t5")
    store.client.rpush(of.rejected, b'{"kind":"malformed","thread_id":"t5"}')
    store.run(aliased(store, "t4", "t5"))
    store.run(aliased(store, "t5", "t1"))
    write(store, member(55), thread="t5")
    store.run(adopt(store, "t5"))
    store.run(unalias(store.keys, "harold", "t4"))
    store.run(describe(store.keys, "harold", "t1", {"title": "One", "title_by": "owner", "mine": ""}, archived=True))
    store.run(begin(store.keys, CopiedFrom(resource_id="harold", thread_id="t1", message_id="m1"), "harold", "t6", 9))


def _of_its_end(store: Any) -> None:
    store.run(clearing_thread(store, "t2"))
    file = exported(store)
    cleared(store)
    import_(store, file)
    _of_lines(store)
    _of_fields(store)
    first, *_ = store.run(reading.observations(store.keys, HAROLD))
    store.run(clear.forget(store.keys, HAROLD, record(store).epoch, first))
    cleared(store)
    observed(store, "o1", 1)
    reflect(store, "o1")
    observed(store, "o2", 2)
    reflect(store, "o2", text="* both")
    restored(store, 1)
    observed(store, "o3", 31, thread="t2")
    store.run(erasing(store, "turn"))
    observed(store, "o4", 41, 42)
    store.run(moving(store))
    cleared(store)
    activated(store)
    retry(store)


def _of_lines(store: Any) -> None:
    by, made = (
        By("lotte", AT),
        Observation(id="n1", thread_id="t1", text="* noted by hand for ada@example.com", tokens=3),
    )
    store.run(correcting.add(store.keys, HAROLD, made))
    store.run(pin(store.keys, HAROLD, "noted by hand for ada@example.com", None, by, 100, words))
    corrector = Corrector(store.keys, HAROLD, words, by, Keeping(100, TTL))
    store.run(corrector.correct("noted by hand for ada@example.com", "noted for ada@example.com", None, None))
    came = SharedFrom(resource="albert", observation="n2")
    store.run(copies.share(store.keys, "harold", msgspec.structs.replace(made, id="n3", shared_from=came)))
    epoch = store.client.hget(store.keys.of("harold").record(HAROLD), "epoch").decode()
    store.run(copies.note_shared(store.keys, HAROLD, epoch, "albert", 1))
    store.run(redact(store.keys, "harold", redactor(RedactionSettings(kinds=("email",)))))
    store.run(unused_values.drop(store.keys, "harold"))


def _of_fields(store: Any) -> None:
    for said in ("* one", "* two"):
        held = store.run(working.read(store.keys, "harold", ""))
        store.run(working.update(store.keys, HAROLD, "", held, {"City": [said, AT]}, "lotte", 10))
    store.run(working.erase(store.keys, "harold", lambda said: "one" in said))


def _of_the_index(store: Any) -> None:
    index = store.keys.due_observe
    push(store, 40)
    store.run(due.mark(index, [HAROLD]))
    (claim,) = store.run(due.claim(index, 5))
    store.run(due.start(index, claim))
    held = store.run(due.renew(index, store.run(due.take(index, HAROLD))))
    store.run(due.done(index, held, later=9))
    store.run(due.drop(index, [held]))


def _of_items(store: Any) -> None:
    put = [ItemPut(("harold", "notes"), key, body_of({"n": 1}), ttl) for key, ttl in (("a", 60_000), ("b", 0))]
    store.run(put_items(store.keys, store.clock, [*put, ItemPut(("left",), "a", None)]))
    store.run(tell(store.keys, store.clock, [("left",)]))
    store.client.zadd(store.keys.namespaces("/left"), {"/left": 1})
    store.client.zadd(store.keys.namespace_roots, {"/left": 1})
    found = store.run(items_under(store.keys, ()))
    store.run(use_items(store.keys, found))
    store.run(put_items(store.keys, store.clock, [*put, ItemPut(("harold", "notes"), "c", None)]))


def _of_webhooks(store: Any) -> None:
    webhook = store.run(webhook_records.add(store.keys, "https://example.org", (), (), allow_private=False))
    told = [Event(kind="reflected", resource="harold"), Event(kind="failed", resource="harold")]
    store.run(event_stream.publish(store.keys, told, None, 0))
    store.run(webhook_queue.fan_out(store.keys, [webhook], 1))
    (tried,) = store.run(webhook_queue.due_now(store.keys, webhook.id, store.run(due.server_ms()), 9))
    store.run(webhook_queue.attempted(store.keys, webhook.id, tried, "dead", "answered 500"))
    store.run(webhook_queue.retry(store.keys, webhook.id))


def _of_models(store: Any) -> None:
    taken = breaker.Attempt("m", "token", 9)
    store.run(breaker.enter(store.keys, taken, 3))
    store.run(breaker.report(store.keys, taken, "busy", 1.0))
    today = spending.day_of(store.clock.ms())
    need, free = spending.Need(100, 7), spending.Most(9, 9_000, 9_000)
    store.run(spending.reserve(store.keys, store.clock, "harold", "e", need, free, free))
    store.run(spending.settle(store.keys, today, "harold", "e", need, {"calls": 1}))
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], Role.READER, rate="9/m"))
    store.run(api_key_records.rotate(store.keys, key.id))
    store.run(api_key_records.use(store.keys, [key.id]))
    store.run(request_pace.take(store.keys, key))
    store.run(stored_settings.keep(store.keys, "harold", None, "observational_memory: {ttl_days: 3}"))
    store.run(stored_settings.read(store.keys, StoredTexts()))
