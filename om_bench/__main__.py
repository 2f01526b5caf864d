"""The commands of `om bench`, which runs this as a process of its own."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

from om_api.domain.extras import missing

try:
    import click
    import msgspec

    from om_api.cli.group import Plain
    from om_api.cli.target import examples
    from om_api.settings.logs import log_to_stderr
    from om_bench.cost import report as costs
    from om_bench.cost import sweep as thresholds
    from om_bench.cost.agent import CALLS
    from om_bench.cost.cache import ACTORS, OBSERVERS
    from om_bench.cost.calls import agent, recorded
    from om_bench.cost.compare import CostPlan
    from om_bench.fleet import points, unit_costs
    from om_bench.fleet import report as fleets
    from om_bench.fleet.load import Ground, Load
    from om_bench.harness import pictures
    from om_bench.harness.loading import load
    from om_bench.harness.page import check_block, write_block
    from om_bench.harness.pipeline import BY_PRICE, BY_THRESHOLDS, RECOMMENDED, THRIFTY
    from om_bench.judged.commands import commands
    from om_bench.memory import chained as longer
    from om_bench.memory import composing, memory_report
    from om_bench.memory import gate as gates
    from om_bench.memory import recall as across
    from om_bench.memory import small_threads as small
    from om_bench.scale import measure as larger
    from om_bench.scale import paging
    from om_bench.speed import agent_backlog as one_agent
    from om_bench.speed import backlog as overload
    from om_bench.speed import draining, ui_pages
    from om_bench.speed import measure as faster
    from om_bench.speed import walk as walks
    from om_bench.speed.measure import ROOMS
except ModuleNotFoundError as error:
    sys.stderr.write(f"Error: {missing(error, 'bench')}\n")
    sys.exit(2)

Found: TypeAlias = (
    tuple[Any, Iterable[str]] | tuple[Any, Iterable[str], Mapping[str, pictures.Picture]]
)  # what was found, its table, drawings

_URL = "OM_REDIS_URL"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


def _reported(measure: Callable[..., Found]) -> Callable[..., None]:
    """Show what a command found as a table or as JSON, and write the table into the page's block of its name.

    A page says all of it: what was measured in part is not written. That is said before it takes its time.
    """
    own = measure.__name__.replace("_", "-")

    @click.option("--json", "json_", is_flag=True, help="Print JSON instead of tables.")
    @click.option("--write", type=_FILE, metavar="PAGE", help=f"Also replace the block `{own}` of a Markdown page.")
    @click.option("--block", default=own, metavar="NAME", help="Another block of the page.")
    @click.option("--pictures", "folder", type=_FOLDER, metavar="DIR", help="Also draw it, as SVG files in a folder.")
    @wraps(measure)
    def shown(*args: Any, json_: bool, write: Path | None, block: str, folder: Path | None, **options: Any) -> None:
        if write:
            _check_whole(options if block == own else {})  # another block is for that part
            check_block(write, block)
        if folder:
            pictures.check()
        found, lines, *drawings = measure(*args, **options)
        text = "\n".join(lines)
        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode() if json_ else text)
        if write:
            write_block(write, block, text)
        if folder and drawings:
            pictures.save(folder, *drawings)

    return shown


def _check_whole(options: Mapping[str, Any]) -> None:
    parts = {"names": "--only", "offline": "--offline", "swept": "--sweep"}
    parts |= {"limit": "--limit", "kinds": "--category", "only_estimate": "--estimate"}
    if given := [option for name, option in parts.items() if options.get(name)]:
        raise click.UsageError(f"--write replaces all figures of a page by these: leave out {given[0]}")


def _settings(default: str) -> Callable[..., Any]:
    shown = f"Setting of the pipeline; may be repeated.  [default: {default}]"
    return click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help=shown)


@click.group(
    cls=Plain,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples("om bench memory locomo10.json", "om bench speed --only add_message", "om bench cost"),
)
def bench() -> None:
    """Measure speed, cost, what a memory keeps without a model, and what a model answers from it.

    Each on a store of its own, or on that of OM_REDIS_URL, whose keys `om-bench:…` are used then.
    """


@bench.command(
    epilog=examples(
        "om bench memory locomo10.json",
        "om bench memory --budget 0.05 --budget 0.1 --offline locomo10.json",
        "om bench memory --set message_threshold=8000 --set buffer_tokens=0.4 locomo10.json",
        "om bench memory --json chats/100K/1/chat.json | jq .online",
    )
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
@click.option("--budget", "budgets", multiple=True, metavar="SHARE", type=click.FloatRange(0.001, 1),
              default=(0.05, 0.1, 0.25), show_default=True,
              help="Share of a conversation's tokens that a context may have.")  # fmt: skip
@_settings("message_threshold=3000, and beside it what the documents recommend")
@click.option("--offline", is_flag=True, help="Leave the pipeline out: no store is needed.")
@_reported
def memory(files: tuple[Path, ...], budgets: tuple[float, ...], settings: tuple[str, ...], *, offline: bool) -> Found:
    """Measure how many questions about recorded conversations a memory could answer.

    Reads files in our own format and those of LoCoMo, LongMemEval and BEAM (chat.json, its questions beside it). Shown are
    S, the share of the questions whose evidence a context holds, at given budgets: of notes, of notes and recall together,
    of the newest turns, random turns and a search for each question; whose words the evidence was; how many neighbouring
    words of the notes are neighbours in the source, and what of their budget they use; then what comes of pushing every
    message through the pipeline. Needs the extra `bench`: pip install 'cortex-om[bench]'.
    """
    small = ("message_threshold=3000",)
    runs = [settings] if settings else [small, (*small, *RECOMMENDED)]
    talks = [talk for file in files for talk in load(file)]
    found = memory_report.measure(talks, budgets, [] if offline else runs, os.environ.get(_URL))
    return found, memory_report.as_lines(found), {"s-by-budget": memory_report.by_budget(found.budgets)}


@bench.command(
    epilog=examples(
        "om bench gate recorded.json talk.json",
        "om bench gate --record tests/data/talks/recorded.json tests/data/talks/gate/*.json",
    )
)
@click.argument("recorded", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
@click.option("--record", is_flag=True, help="Write what is measured into RECORDED instead of holding it against that.")
def gate(recorded: Path, files: tuple[Path, ...], *, record: bool) -> None:
    """Hold what a memory keeps of conversations against figures that were recorded before; exit 1 where one has fallen.

    RECORDED is a JSON object of figures in percent. Measured are S of notes, and of notes with recall, the pairs of words
    kept and the budget used at 5, 10 and 25 %, and the evidence among five hits. A figure may be a point lower.
    """
    found = gates.measure([talk for file in files for talk in load(file)])
    if record:
        gates.write(recorded, found)
    before = gates.read(recorded)
    click.echo("\n".join(gates.as_lines(before, found)))
    sys.exit(1 if gates.fallen(before, found) else 0)


@bench.command(epilog=examples("om bench chained *.json", "om bench chained *.json --set observation_threshold=4000"))
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
@_settings("a tenth of the thresholds that are shipped, and beside it what costs less")
@_reported
def chained(files: tuple[Path, ...], settings: tuple[str, ...]) -> Found:
    """Measure what contexts support of a long conversation while it goes on, and how many tokens they take.

    The conversations of FILE... are pushed as one, so that a memory is reflected several times over. After every twenty
    messages a context is read: shown is S, the share of the questions whose evidence it holds, of those whose evidence has
    been said by then.
    """
    runs = [settings] if settings else longer.RUNS
    found = longer.measure([talk for file in files for talk in load(file)], runs, os.environ.get(_URL))
    return found, longer.as_lines(found)


@bench.command(
    epilog=examples("om bench composed talk.json other.json more.json", "om bench composed *.json --others 1")
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
@click.option("--others", type=click.IntRange(1, 8), default=3, show_default=True, help="Memories composed with each.")
@_settings("message_threshold=3000, and what the documents recommend")
@_reported
def composed(files: tuple[Path, ...], others: int, settings: tuple[str, ...]) -> Found:
    """Measure what other memories' notes in a context cost a prompt cache, while all of them change.

    Each conversation of FILE... is replayed with others of them as memories of their own: after each message of it each other
    memory is told one of its own, and the context is read without and with their notes. Shown is how much of each context the
    next one begins with, and how often what stands before the messages moved though the own memory had not changed.
    """
    changed = settings or ("message_threshold=3000", *RECOMMENDED)
    talks = [talk for file in files for talk in load(file)]
    found = composing.measure(talks, others, changed, os.environ.get(_URL))
    return found, composing.as_lines(found)


@bench.command(epilog=examples("om bench recall facts.json told.jsonl after.jsonl"))
@click.argument("facts", type=_FILE)
@click.argument("told", type=_FILE)
@click.argument("after", type=_FILE)
@_settings("those of the pipeline, and what the documents recommend")
@_reported
def recall(facts: Path, told: Path, after: Path, settings: tuple[str, ...]) -> Found:
    """Measure how many facts that were told in one thread are read in another, weeks later.

    FACTS is a JSON list of {"id", "keys"}; TOLD and AFTER hold a message as JSON on each line, with `timestamp`. What AFTER
    says is talked of in a second thread, three weeks after TOLD in the first; three weeks later a third thread is begun.
    """
    runs = [settings] if settings else [(), RECOMMENDED]
    found = across.measure(facts, told, after, runs, os.environ.get(_URL))
    return found, across.as_lines(found)


@bench.command(epilog=examples("om bench speed", "om bench speed --only add_message --only get_context"))
@click.option(
    "--only", "names", multiple=True, type=click.Choice(list(ROOMS)), help="Measure only this; may be repeated."
)
@_reported
def speed(names: tuple[str, ...]) -> Found:
    """Measure how long our work takes beside what the store itself takes, both in one run.

    Let nothing else run on the machine meanwhile.
    """
    found = faster.measure(os.environ.get(_URL), names)
    return found, faster.as_lines(found)


@bench.command(
    epilog=examples("om bench backlog", "om bench backlog --agents 3000 --workers 2 --seconds 0.1 --junk 20000")
)
@click.option(
    "--agents", type=click.IntRange(1, 1_000_000), default=12_000, show_default=True, help="Agents that are due."
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Worker processes.")
@click.option("--concurrency", type=click.IntRange(1, 1_000), default=32, show_default=True, help="Threads of each.")
@click.option(
    "--seconds", type=click.FloatRange(0, 600), default=0.3, show_default=True, help="Of a call of the model."
)
@click.option("--junk", type=click.IntRange(0, 1_000_000), default=0, show_default=True,
              help="Names marked due that nobody ever wrote a message under.")  # fmt: skip
@_reported
def backlog(*, agents: int, workers: int, concurrency: int, seconds: float, junk: int) -> Found:
    """Measure how a fleet works off what came due while nobody worked.

    Real Celery processes on a store of their own; the model is one of this machine, that counts its calls. Let nothing else
    run meanwhile.
    """
    plan = overload.BacklogPlan(agents=agents, workers=workers, concurrency=concurrency, seconds=seconds, junk=junk)
    found = overload.measure(plan)
    return found, overload.as_lines(found)


@bench.command(
    name="agent-backlog",
    epilog=examples("om bench agent-backlog", "om bench agent-backlog --messages 5000 --threads 1 --chunks 100"),
)
@click.option("--messages", type=click.IntRange(100, 10_000_000), multiple=True, default=(3_350, 33_500),
              show_default=True, help="Messages that nobody observed; may be repeated.")  # fmt: skip
@click.option("--threads", type=click.IntRange(1, 1_000_000), multiple=True, default=(200, 1), show_default=True,
              help="Threads that hold them; may be repeated.")  # fmt: skip
@click.option("--chunks", type=click.IntRange(1, 100_000), default=200, show_default=True,
              help="Chunks to observe.")  # fmt: skip
@_reported
def agent_backlog(*, messages: tuple[int, ...], threads: tuple[int, ...], chunks: int) -> Found:
    """Measure the cost of a look, a context and a chunk while many messages of one agent wait to be observed.

    The model answers at once. Run nothing else on the machine meanwhile.
    """
    found = one_agent.measure(messages, threads, chunks)
    return found, one_agent.as_lines(found)


@bench.command(name="small-threads", epilog=examples("om bench small-threads --threads 100"))
@click.option(
    "--threads", type=click.IntRange(2, 100_000), default=600, show_default=True, help="Threads of one memory."
)
@_reported
def small_threads(*, threads: int) -> Found:
    """Measure how many tokens notes of many small threads take, stored and in a context, and what thresholds count of them.

    Each thread is one question and its answer; the built-in observer writes the notes.
    """
    found = small.measure(threads, (threads, 20))
    return found, small.as_lines(found)


@bench.command(epilog=examples("om bench drain", "om bench drain --agents 2000 --workers 1 --workers 2 --seconds 1"))
@click.option(
    "--agents", type=click.IntRange(1, 1_000_000), default=100_000, show_default=True, help="Agents that are due."
)
@click.option("--workers", type=click.IntRange(1, 64), multiple=True, default=(1, 2, 4), show_default=True,
              help="Worker processes of a fleet; may be repeated.")  # fmt: skip
@click.option("--concurrency", type=click.IntRange(1, 1_000), default=16, show_default=True, help="Threads of each.")
@click.option(
    "--seconds", type=click.FloatRange(0.1, 600), default=4, show_default=True, help="Of a call of the model."
)
@_reported
def drain(*, agents: int, workers: tuple[int, ...], concurrency: int, seconds: float) -> Found:
    """Measure how fast fleets of several sizes work on one backlog, and what an observation takes of processors.

    Each works for ten rounds of a call for each of its threads; what the first two take is not counted. Real Celery processes,
    one more for the ticks, a store and a broker of their own; the model is one of this machine. Let nothing else run meanwhile.
    """
    plan = draining.DrainPlan(agents=agents, workers=workers, concurrency=concurrency, seconds=seconds)
    found = draining.measure(plan)
    return found, draining.as_lines(found)


@bench.command(epilog=examples("om bench scale --agents 20000", "om bench scale --servers 3 --block scale-three"))
@click.option("--agents", type=click.IntRange(larger.FEW, 10_000_000), default=1_000_000, show_default=True,
              help="Agents in the store.")  # fmt: skip
@click.option("--active", type=click.IntRange(1, 100_000), default=2_000, show_default=True,
              help="Agents of them that are active in a minute.")  # fmt: skip
@click.option("--servers", type=click.IntRange(1, 9), default=1, show_default=True,
              help="Servers that keep them; several are a Cluster.")  # fmt: skip
@_reported
def scale(*, agents: int, active: int, servers: int) -> Found:
    """Measure what ticks, agents, operators and new workers cost among many agents, beside a thousand.

    Of a few dozen memories of a usual mix, made by client and workers, all others are copies: a million take 10 GB of memory
    and minutes. On servers of their own; let nothing else run meanwhile.
    """
    found = larger.measure(larger.ScalePlan(agents=agents, active=active, servers=servers))
    return found, larger.as_lines(found)


@bench.command(epilog=examples("om bench agents --agents 20000"))
@click.option("--agents", "count", type=click.IntRange(larger.FEW, 1_000_000), default=100_000, show_default=True,
              help="Agents in the store.")  # fmt: skip
@_reported
def agents(*, count: int) -> Found:
    """Measure what a page of all agents costs a server, what it takes to read them first, and when a browser paints it.

    The agents are those of `om bench scale`: a hundred thousand take 1 GB of memory and half a minute.
    """
    found = paging.measure(count)
    return found, paging.as_lines(found)


@bench.command(epilog=examples("om bench pages", "om bench pages --messages 1000 --open 50"))
@click.option("--messages", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True, help="Of an agent.")
@click.option("--open", "open_", type=click.IntRange(1, 900), default=200, show_default=True, help="Pages that listen.")
@_reported
def pages(*, messages: int, open_: int) -> Found:
    """Measure what pages under /ui take an `om api` of its own: a long memory's, and those that stay open.

    Let nothing else run meanwhile.
    """
    found = ui_pages.measure(ui_pages.PagesPlan(messages=messages, open=open_), os.environ.get(_URL))
    return found, faster.as_lines(found)


@bench.command(epilog=examples("om bench walk"))
@_reported
def walk() -> Found:
    """Count what a push, a chunk, a warm context and a reflection go through: calls, files, round trips, threads."""
    found = walks.measure(os.environ.get(_URL))
    return found, walks.as_lines(found)


@bench.command(
    epilog=examples(
        "om bench cost",
        "om bench cost --actor gpt-5.2 --observer gemini-2.5-flash-lite --set observation_threshold=8000",
        "om bench cost --sweep --actor claude-sonnet-4-6",
        "om bench cost --json | jq '.lines[] | {actor, strategy, observer, dollars, factor}'",
    )
)
@click.argument("file", required=False, type=_FILE)
@click.option("--actor", "actors", multiple=True, metavar="MODEL", default=ACTORS, show_default=True,
              help="The agent's own model; may be repeated.")  # fmt: skip
@click.option("--observer", "observers", multiple=True, metavar="MODEL", default=OBSERVERS, show_default=True,
              help="A model of the memory, beside the extractive one and the actor's own; may be repeated.")  # fmt: skip
@_settings("those that are shipped, and what the documents recommend")
@click.option("--calls", type=click.IntRange(2, 3_000), default=CALLS, show_default=True,
              help="How often the agent of our own making is called.")  # fmt: skip
@click.option("--ratio", type=click.FloatRange(1, 100), default=10, show_default=True,
              help="Tokens of messages that a model makes one token of notes of.")  # fmt: skip
@click.option("--sweep", "swept", is_flag=True, help="Try thresholds instead; takes minutes.")
@_reported
def cost(
    file: Path | None,
    actors: tuple[str, ...],
    observers: tuple[str, ...],
    settings: tuple[str, ...],
    calls: int,
    ratio: float,
    *,
    swept: bool,
) -> Found:
    """Measure what the calls of an agent cost, with and without a memory.

    Replays a tool-using agent call by call, or the first conversation of FILE (LoCoMo, LongMemEval, BEAM), counts what of
    each call the provider's cache serves, and prices all of it: whole histories, windows, and this memory with what its own
    models cost. No model is called. The whole history is kept in the comparison however long it grows.
    """
    memories = (
        {"as given": settings}
        if settings
        else {"as shipped": (), "by thresholds": BY_THRESHOLDS, "by price": BY_PRICE, "thrifty": THRIFTY}
    )
    plan = CostPlan(actors=actors, observers=observers, settings=memories, ratio=ratio)
    name, made = recorded(file) if file else agent(calls)
    if swept:
        tried = thresholds.sweep(made, plan, os.environ.get(_URL))
        return tried, thresholds.as_lines(tried)
    found = costs.measure(made, name, plan, os.environ.get(_URL))
    return found, costs.as_lines(found), costs.drawings(found)


for judged in commands(_reported):
    bench.add_command(judged)

_LOAD, _GROUND = Load(), Ground()
_FEW = click.FloatRange(0, min_open=True)


@bench.command(
    epilog=examples(
        "om bench fleet",
        "om bench fleet --agents 3000000 --active 0.3 --messages 50 --observer gpt-5.2",
        "om bench fleet --measure --write docs/internet-scale.md",
    )
)
@click.option("--agents", type=click.FloatRange(1_000, 1e10), multiple=True, default=(1e6, 1e7, 1e8), metavar="NUMBER",
              help="How many agents there are; may be repeated.  [default: 1e6, 1e7, 1e8]")  # fmt: skip
@click.option("--active", type=click.FloatRange(0, 1, min_open=True), default=_LOAD.active, show_default=True,
              help="Share of them that say something on a day.")  # fmt: skip
@click.option("--messages", type=_FEW, default=_LOAD.messages, show_default=True, help="That each of these says then.")
@click.option("--tokens", type=_FEW, default=_LOAD.tokens, show_default=True, help="Of a message.")
@click.option("--peak", type=click.FloatRange(1), default=_LOAD.peak, show_default=True,
              help="The busiest hour over the average.")  # fmt: skip
@click.option(
    "--observer", default=_GROUND.observer, show_default=True, metavar="MODEL", help="Observer and reflector."
)
@click.option(
    "--model-seconds", "model_s", type=_FEW, default=_GROUND.model_s, show_default=True, help="Of a call of it."
)
@click.option(
    "--calls-a-minute", type=_FEW, default=_GROUND.calls_a_minute, show_default=True, help="A provider's limit."
)
@click.option("--tokens-a-minute", type=_FEW, default=_GROUND.tokens_a_minute, show_default=True, help="Likewise.")
@click.option("--threads", type=click.IntRange(1, 1_000), default=_GROUND.threads, show_default=True,
              help="Of a worker process.")  # fmt: skip
@click.option("--gib", "gib_dollars", type=_FEW, default=_GROUND.gib_dollars, show_default=True,
              help="Dollars a month for a GiB of a server's memory.")  # fmt: skip
@click.option("--core", "core_dollars", type=_FEW, default=_GROUND.core_dollars, show_default=True,
              help="Dollars a month for a worker's core.")  # fmt: skip
@click.option("--archive", "archive_dollars", type=_FEW, default=_GROUND.archive_dollars, show_default=True,
              help="Dollars a month for a GB of an archive.")  # fmt: skip
@click.option("--measure", "anew", is_flag=True, help="Measure the unit costs of this machine first, in ten minutes.")
@_reported
def fleet(*, agents: tuple[float, ...], anew: bool, **assumed: Any) -> Found:
    """Work out what a fleet for millions of agents takes, and what of it is full first.

    Simulates workers, stores, broker and models of measured unit costs: first what was measured, then what nobody can measure
    on one machine. No server is started and no model called, but with --measure, which keeps what it finds beside the code.
    """
    if anew:
        unit_costs.write(points.measure())
    load = Load(**{name: value for name, value in assumed.items() if name in Load.__struct_fields__})
    ground = Ground(**{name: value for name, value in assumed.items() if name in Ground.__struct_fields__})
    found = fleets.measure(unit_costs.read(), load, ground, agents)
    return found, fleets.as_lines(found)


if __name__ == "__main__":
    log_to_stderr(level="WARNING")  # what goes well is in the figures
    bench(prog_name="om bench")
