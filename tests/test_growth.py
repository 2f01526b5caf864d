"""Nothing that strangers name makes a process grow: names are poured into every table, and every table is in the docs."""

import ast
import re
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from world import SMALL

from om_api import Message, load_settings
from om_api.client.composing import REMEMBERED as REFUSED
from om_api.client.contexts import REMEMBERED
from om_api.client.core import Core
from om_api.client.fleet.agent_rows import Row
from om_api.client.fleet.agent_table import COLUMNS, ORDERS, AgentTable, Filter
from om_api.client.recalling import MOST as RECALLED_BYTES
from om_api.client.recalling import REMEMBERED as RECALLED
from om_api.client.remembered.context_usage import MOST as SERVED_BYTES
from om_api.client.remembered.context_usage import REMEMBERED as SERVED
from om_api.client.remembered.context_usage import ContextUsage
from om_api.client.remembered.known_aliases import MOST as ALIASES
from om_api.client.remembered.reader_cache import MOST, READERS, ReaderCache
from om_api.client.remembered.unsent import MOST as UNSENT
from om_api.client.remembered.unsent import MOST_BYTES as UNSENT_BYTES
from om_api.client.remembered.unsent import Unsent
from om_api.client.syncing import MOST_BYTES as HISTORIES_BYTES
from om_api.client.syncing import REMEMBERED as HISTORIES
from om_api.client.writing import THREADS
from om_api.domain.snapshot import Snapshot
from om_api.domain.tokens import REMEMBERED as COUNTS
from om_api.domain.tokens import Remembering
from om_api.domain.values import Record, Scope, ThreadState
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.language import spans
from om_api.recall.analysis import _WORDS
from om_api.settings import ModelSettings, recorded_settings
from om_api.store.driver.opening import POOL
from om_api.store.memory import quarantine
from om_api.store.memory.keys import Keys
from om_workers.calls.ledger import TOLD, WARNED, Ledger
from om_workers.calls.registry import KEPT_REQUESTS, MADE, Registry
from om_workers.llm.scripted import Scripted
from om_workers.tasks import task_events

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
MB = 2**20


def message(n=0, size=100):
    return Message(role="user", content="x" * size, id=f"m-{n}", thread_id=f"t-{n}", resource_id="harold")


def encoded(message):
    return EncodedMessage(message, encode_message(message))


def settings():
    return load_settings(None, SMALL)


# -- pouring ----------------------------------------------------------------------------------------------------------


def read_threads(names, size, most=MOST):
    recent = ReaderCache(len, most=most)
    for n in range(names):
        reader = recent.of("harold", f"t-{n}")
        reader.past.messages({f"t-{n}": [(encode_message(message(n, size)), 1.0)]}, "harold")
        recent.keep("harold", f"t-{n}", reader)
    return recent._readers


def test_threads_that_are_read():
    by_count, by_bytes = read_threads(2 * READERS, 10), read_threads(500, 4_000, most=MB)

    assert len(by_count) == READERS
    assert by_count.weight <= MOST
    assert 0 < by_bytes.weight <= MB
    assert len(by_bytes) < 500


def test_threads_of_which_there_is_nothing_take_no_place():
    readers = Core(settings(), len).contexts._readers
    for n in range(2 * READERS):
        readers.keep("harold", f"t-{n}", readers.of("harold", f"t-{n}"))

    assert len(readers._readers) == 0


def test_what_a_client_remembers_of_threads_and_resources():
    core = Core(settings(), len)
    writing, contexts = core.writing, core.contexts
    for n in range(2 * REMEMBERED):
        writing._next_ms(message(n), None)
        contexts._urgent.put(f"harold|t-{n}", 1.0)
        contexts._only_read.put(f"r-{n}", value=True)

    assert [len(table) for table in (writing._last_ms, contexts._urgent, contexts._only_read)] == [REMEMBERED] * 3
    assert THREADS == REMEMBERED


def test_contexts_that_are_tallied():
    served = ContextUsage()
    for n in range(10 * SERVED):
        empty = {"messages": [], "chunks": [], "observations": [], "unsealed": {}}
        served.count(Snapshot(scope=Scope(f"r-{n}"), thread=ThreadState(id="t"), record=Record(), **empty), [])
    tables = (served._seen, served._sums, served._told)

    assert [len(table) for table in tables] == [SERVED] * 3
    assert served._seen.weight <= SERVED_BYTES


def test_agents_of_a_table():
    table = AgentTable()
    for n in range(300):
        table.put({f"a-{n}": Row(at=n, pressure=n)})
        table.page(Filter(), COLUMNS[n % len(COLUMNS)], None, 1, descending=True)
        if len(table) > 100:
            table.keep_newest(100)

    assert (len(table), len(table._orders), len(table._by_name.moved)) == (100, ORDERS, 1)


def test_messages_that_wait_for_the_store():
    many, large = Unsent(), Unsent()
    many.extend(encoded(message(n)) for n in range(10 * UNSENT))
    large.extend(encoded(message(n, MB)) for n in range(40))

    assert (len(many), many.dropped) == (UNSENT, 9 * UNSENT)
    assert large.weight <= UNSENT_BYTES
    assert len(large) + large.dropped == 40
    assert [each.message.id for each in large][-1] == "m-39"


def test_texts_that_are_counted():
    count = Remembering(len)
    for n in range(COUNTS + 5_000):
        count(str(n))

    assert len(count._known) == COUNTS


def test_settings_that_records_carry():
    written = recorded_settings.write(recorded_settings.RecordedSettings())
    assert len(written) * 4 < recorded_settings.LONGEST
    recorded_settings._read.cache_clear()
    for n in range(10 * recorded_settings.REMEMBERED):
        recorded_settings.read(f"{written}{' ' * n}"[: recorded_settings.LONGEST])
        recorded_settings.read(written + " " * recorded_settings.LONGEST + str(n))

    assert recorded_settings._read.cache_info().currsize == recorded_settings.REMEMBERED
    assert recorded_settings.read(written + " " * recorded_settings.LONGEST) is None


def test_dates_that_are_read_in_notes():
    for n in range(10 * spans.REMEMBERED):
        spans.parse_span(f"June {n}")
        spans.parse_span("June " * 20 + str(n))

    assert spans._parse_span.cache_info().currsize == spans.REMEMBERED


def test_what_a_ledger_has_said():
    ledger = Ledger(settings(), Nobody(), Keys(), Nobody())
    with capture_logs():
        ledger._warn(f"model-{n}" for n in range(10 * WARNED))
    for n in range(2 * TOLD):
        ledger._told.put((f"r-{n}", "budget.calls_per_day"), "2026-11-20")

    assert (len(ledger._warned), len(ledger._told)) == (WARNED, TOLD)


class Nobody:
    """Nobody is asked, and nobody is told."""

    run = None


def test_models_that_are_made(monkeypatch):
    monkeypatch.setattr(Registry, "_provided", lambda *_: Scripted.echo())
    makes = Registry(settings())
    for n in range(4 * MADE):
        makes.model_for(f"gpt-{n}", 1)

    assert len(makes._made) == MADE


def test_requests_that_a_scripted_model_is_asked(monkeypatch):
    monkeypatch.setattr("om_workers.llm.scripted._echo", lambda _: "")
    model = Registry(settings())._provided("scripted", "scripted", ModelSettings())
    for n in range(10 * KEPT_REQUESTS):
        model._next(n)

    assert model.requests == list(range(9 * KEPT_REQUESTS, 10 * KEPT_REQUESTS))


# -- the page ---------------------------------------------------------------------------------------------------------


def rows():
    table = PAGE.partition("<!-- bounds: held to the code")[2].partition("In Redis")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {line[0]: " | ".join(line[2:]) for line in lines[2:]}


@pytest.mark.parametrize(
    ("row", "bounds"),
    [
        ("threads that were read", (f"{READERS:,}", f"{MOST // MB} MB")),
        ("scopes that were marked urgent", (f"{REMEMBERED:,}",)),
        ("memories that the store refused", (f"{REFUSED:,}",)),
        ("aliases of threads", (f"{ALIASES:,}",)),
        ("contexts served: threads", (f"{SERVED:,}", f"{SERVED_BYTES // MB} MB")),
        ("contexts served: resources", (f"{SERVED:,}",)),
        ("histories that were synced", (f"{HISTORIES}", f"{HISTORIES_BYTES // MB} MB")),
        ("messages that wait", (f"{UNSENT:,}", f"{UNSENT_BYTES // MB} MB")),
        ("counts of texts", (f"{COUNTS:,}",)),
        ("settings that records carry", (f"{recorded_settings.REMEMBERED}", f"{recorded_settings.LONGEST:,}")),
        ("dates", (f"{spans.REMEMBERED:,}",)),
        ("words of the past", (f"{RECALLED}", f"{RECALLED_BYTES // MB} MB")),
        ("words by what they are found by", (f"{_WORDS:,}",)),
        ("connections to the store", (f"{POOL}",)),
        ("models as they were made", (f"{MADE}",)),
        ("requests that a `scripted`", (f"{KEPT_REQUESTS}",)),
        ("models of unknown price", (f"{WARNED:,}",)),
        ("budgets", (f"{TOLD:,}",)),
        ("events of tasks", (f"{task_events.MOST:,}",)),
        ("ticks that Flower", (f"{task_events.HELD}",)),
    ],
)
def test_the_page_says_the_bounds_of_the_code(row, bounds):
    (text,) = (text for name, text in rows().items() if name.startswith(row))

    assert [bound for bound in bounds if bound not in text] == []


def test_the_page_says_the_bounds_of_the_quarantine():
    assert f"{quarantine.MOST:,} entries and {quarantine.MOST_BYTES // MB} MB of each resource" in PAGE


# -- the code ---------------------------------------------------------------------------------------------------------

_MAKERS = {"dict", "list", "set", "deque", "OrderedDict", "Counter", "defaultdict", "LRU", "Queue", "SimpleQueue"}
_MAKERS |= {"WeakSet", "WeakKeyDictionary", "WeakValueDictionary", "Unsent", "ReaderCache", "ContextUsage"}
# what lives as long as a process does: each has a row on the page, or as many entries as the code has names
_KEPT = {
    *("core.unsent", "core._warned", "unsent._waiting", "caching._entries", "reader_cache._readers"),
    *("contexts._readers", "contexts._urgent", "contexts._only_read", "writing._last_ms", "reporting.usage"),
    *("syncing._last", "composing._refused", "known_aliases._threads"),
    "sql_archive._engines",  # one of each process that this one was forked from
    "framework_memory._names",
    *("openai_agents._had", "openai_agents._runs", "google_adk._held"),
    "message._EMPTY",
    *("context_usage._seen", "context_usage._sums", "context_usage._told"),
    *(
        "tokens._known",
        "word_counts._known",
        "decoding._parsed",
        "tokens._load",
        "tags._opens",
        "recorded_settings._read",
        "extractors._validator",
        "spans._parse_span",
        "fast_client._kept",
    ),
    *("counted._every", "counted._last", "server._waits", "catalogue.SETTINGS", "scripts.load_all"),
    *("ledger._warned", "ledger._told", "registry._made", "scripted.requests", "scripted._replies", "heartbeat._locks"),
    *(
        "heartbeat._claims",
        "stopping._in_flight",
        "deadline._loop",
        "library.variants",
        "library.prompt",
        "models.advice",
    ),
    *("wiring._queues", "wiring._dispatcher", "wiring._services", "wiring._watcher", "wiring.settings"),
    *("wiring._rollout", "wiring._archiver", "archiver._refused", "places._lines"),
    *("dispatcher._capacity", "connections.refused", "connections._open", "shares.lanes"),
    "settings_watcher._reported",
    *("redacting._sealed", "redacting._waiting", "making._made", "presidio.installed"),
    *("prompt_caches.table", "prompt_caches.rules_of", "opening._ends", "spans._held"),
    *(
        "live._listeners",
        "live._waiting",
        "page_turns._pages",
    ),  # pages that are open, what each has not been told yet, who looks next
    "task_events._held",
    *(
        "partitions.indexes",
        "lasting._own",
        "lasting._told",
        "cluster._clients",
        "slots.found",
    ),  # of models, and of nodes
    *(f"agent_table.{name}" for name in ("_orders", "_rows", "_in_state", "_waiting", "moved")),  # of 200,000 agents
    *(
        "uses._ids",
        "posting._trusted",
        "posting._version",
        "entry_points.installed",
        "hooking._logged",
        "recalling._indexes",
        "analysis._known",
        "segment._NONE",
    ),
}
# of one reader, which is reckoned by what it holds
_READERS = {"composing._held", "decode_cache._messages", "tail._last", "days._days", "days._lines"}
_READERS |= {
    f"recall_index.{name}"
    for name in ("_activated", "_loose", "_parts", "_places", "_present", "_raw", "aside", "standing")
}
_READERS |= {
    "recall_index._orders",
    *(f"vocabulary.{name}" for name in ("_tables", "_taken", "segments", "starts", "times", "where")),
}
# what ends with a call, a request, a command or a transfer
_PASSING = {
    *(
        "replay",
        "demo",
        "webhooks",
        "demo_screen",
        "exporting",
        "importing",
        "judging",
        "receipts",
        "player",
        "tool_calls",
        "staging",
        "condensing",
        "choosing",
        "sections",
        "evidence",
    ),
    *("likeness", "loss", "wording", "quarantine", "parts", "transcript", "calendar", "documents", "requests/replies"),
    *("query", "searching", "arriving_segments", "recalled"),
}


def long_lived():
    """Every container that a module, or an instance when it is made, begins with, and every cached function."""
    for package in ("om_api", "om_workers"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if "bench" not in path.parts:
                yield from ((path, name) for name in _made_in(ast.parse(path.read_text("utf-8"))))


def _made_in(module):
    yield from _targets(module.body)
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and any(_is_cache(each) for each in node.decorator_list):
            yield node.name
        if isinstance(node, ast.FunctionDef) and node.name in {"__init__", "reset"}:
            yield from _targets(ast.walk(node))


def _targets(nodes):
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from _named(target, node.value)


def _named(target, value):
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for each, its in zip(target.elts, value.elts, strict=True):
            yield from _named(each, its)
    elif isinstance(target, ast.Attribute | ast.Name) and _is_container(value):
        yield target.attr if isinstance(target, ast.Attribute) else target.id


def _is_cache(node):
    return re.match(r"(functools\.)?(lru_)?cache\b", ast.unparse(node)) is not None


def _is_container(node):
    if isinstance(node, ast.Dict | ast.List | ast.Set):
        return not (getattr(node, "keys", None) or getattr(node, "elts", None))
    if isinstance(node, ast.Tuple):
        return any(_is_container(each) for each in node.elts)
    return isinstance(node, ast.Call) and re.split(r"[.\[(]", ast.unparse(node.func))[0] in _MAKERS


def test_every_table_that_outlives_a_call_is_bounded_or_said_why_not():
    """Whoever adds a table that lives as long as the process gives it a bound, a row on the page, and a place above."""
    found = {
        f"{path.stem}.{name}"
        for path, name in long_lived()
        if not {path.stem, f"{path.parent.name}/{path.stem}"} & _PASSING
    }

    assert found == _KEPT | _READERS
