"""Names that strangers choose (threads, resources, texts) do not make a process grow: every table keyed by them has a bound."""

from world import SMALL

from om_api import Message, load_settings
from om_api.client.fleet.agent_rows import Row
from om_api.client.fleet.agent_table import AgentTable
from om_api.client.remembered.context_usage import REMEMBERED as SERVED
from om_api.client.remembered.context_usage import ContextUsage
from om_api.client.remembered.reader_cache import MOST, READERS, ReaderCache
from om_api.client.remembered.unsent import MOST as UNSENT
from om_api.client.remembered.unsent import MOST_BYTES as UNSENT_BYTES
from om_api.client.remembered.unsent import Unsent
from om_api.domain.snapshot import Snapshot
from om_api.domain.tokens import REMEMBERED as COUNTS
from om_api.domain.tokens import Remembering
from om_api.domain.values import Record, Scope, ThreadState
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.language import spans
from om_api.settings import recorded_settings
from om_workers.calls.registry import MADE, Registry

MB = 2**20


def message(n=0, size=100):
    return Message(role="user", content="x" * size, id=f"m-{n}", thread_id=f"t-{n}", resource_id="harold")


def entries(owner):
    """The number of entries of each table that an object or module holds."""
    return {name: len(table) for name, table in vars(owner).items() if hasattr(table, "__len__")}


def test_tables_of_threads_that_were_read_are_bounded_by_number_and_by_bytes():
    for names, size, most in ((2 * READERS, 10, MOST), (500, 4_000, MB)):
        readers = ReaderCache(len, most=most)
        for n in range(names):
            reader = readers.of("harold", f"t-{n}")
            reader.past.messages({f"t-{n}": [(encode_message(message(n, size)), 1.0)]}, "harold")
            readers.keep("harold", f"t-{n}", reader)
            empty = readers.of("harold", f"empty-{n}")
            readers.keep("harold", f"empty-{n}", empty)
        assert max(entries(readers).values()) <= min(READERS, names), entries(readers)


def test_messages_that_wait_for_the_store_are_bounded():
    many, large = Unsent(), Unsent()
    many.extend(EncodedMessage(message(n), encode_message(message(n))) for n in range(10 * UNSENT))
    large.extend(EncodedMessage(message(n), encode_message(message(n, MB))) for n in range(40))

    assert (len(many), many.dropped) == (UNSENT, 9 * UNSENT)
    assert large.weight <= UNSENT_BYTES
    assert len(large) + large.dropped == 40
    assert [each.message.id for each in large][-1] == "m-39"


def test_tables_of_agents_contexts_texts_dates_and_models_are_bounded(monkeypatch):
    table, served, count = AgentTable(), ContextUsage(), Remembering(len)
    for n in range(300):
        table.put({f"a-{n}": Row(at=n, pressure=n)})
        if len(table) > 100:
            table.keep_newest(100)
    for n in range(2 * SERVED):
        empty = {"messages": [], "chunks": [], "observations": [], "unsealed": {}}
        served.count(Snapshot(scope=Scope(f"r-{n}"), thread=ThreadState(id="t"), record=Record(), **empty), [])
    for n in range(COUNTS + 1_000):
        count(str(n))
    for n in range(2 * spans.REMEMBERED):
        spans.parse_span(f"June {n}")
    assert len(table) == 100
    assert max(entries(served).values()) == SERVED
    assert max(entries(count).values()) == COUNTS

    settings = load_settings(None, SMALL)
    monkeypatch.setattr(Registry, "_provided", lambda *_: object())
    registry = Registry(settings)
    for n in range(4 * MADE):
        registry.model_for(f"gpt-{n}", 1)
    assert max(entries(registry).values()) == MADE


def test_settings_that_records_carry_are_read_up_to_a_length():
    written = recorded_settings.write(recorded_settings.RecordedSettings())

    assert len(written) * 4 < recorded_settings.LONGEST
    assert recorded_settings.read(written + " " * recorded_settings.LONGEST) is None
