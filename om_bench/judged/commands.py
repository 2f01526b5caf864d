"""The commands `om bench longmemeval`, `locomo` and `beam`: published protocols from a file to a score."""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import click
import msgspec

from om_api import load_settings
from om_api.cli.embedded import Embedded
from om_api.cli.target import examples
from om_api.domain.errors import InvalidInputError, ModelError, StoreError
from om_api.settings import Settings
from om_bench.harness.loading import load
from om_bench.harness.talks import Talk
from om_bench.judged import estimate, models, report
from om_bench.judged.asking import SCRIPTED
from om_bench.judged.journal import FILE, Journal, RunPlan, journal
from om_bench.judged.memories import JudgedGround, configured
from om_bench.judged.prompts import fingerprint
from om_bench.judged.protocols import PROTOCOLS, JudgedProtocol
from om_bench.judged.running import MEMORIES, AskedQuestion, RunManner, chosen, left, run
from om_workers.calls.registry import Registry

Reported: TypeAlias = Callable[[Callable[..., Any]], Callable[..., None]]
SAMPLES = Path(__file__).parent / "samples"
AS_IF = ("gemini-2.5-flash", "gpt-5-mini", "deepseek")
_PATH = click.Path(exists=True, dir_okay=False, path_type=Path)
_RECALLS, _JOBS = 3, 4


class JudgedRequest(msgspec.Struct, frozen=True):
    """What a command was told."""

    manner: RunManner
    files: tuple[Path, ...]
    observer: str
    settings: tuple[str, ...]
    kinds: tuple[str, ...]
    limit: int | None
    out: Path | None
    as_if: tuple[str, ...]
    only_estimate: bool
    yes: bool
    show_wrong: bool


def commands(reported: Reported) -> Iterator[click.Command]:
    """A command for each protocol; `reported` shows what a command found."""
    for protocol in PROTOCOLS.values():
        yield _command(protocol, reported)


def _command(protocol: JudgedProtocol, reported: Reported) -> click.Command:
    name = protocol.name

    def measure(**told: Any) -> Any:
        manner = RunManner(protocol, **{name: told.pop(name) for name in ("model", "judge", "recalls", "jobs")})
        return _measured(JudgedRequest(manner, **told))

    measure.__name__ = name
    measure.__doc__ = f"""Have a model answer the questions of {protocol.title} from a memory, and a judge say what is right.

    Reads FILE... as {protocol.title} publishes it, or talks of our own; without any a small one that comes with this package.
    Each conversation goes through the real pipeline, each question is asked in a new thread as of its day, with recall as a
    tool. What it will cost is told before it starts. Each answer and each judgement is on the disk at once: the same command
    goes on where an earlier one ended. `{SCRIPTED}` is rules and no model, for a rehearsal.
    """
    for option in reversed(_options()):
        measure = option(measure)
    epilog = examples(
        f"om bench {name} --model scripted --judge scripted",
        f"om bench {name} --model gemini-2.5-flash --judge gpt-5-mini --estimate",
        f"om bench {name} --model gpt-5-mini --judge gpt-5-mini {protocol.sample}",
    )
    return click.command(name, epilog=epilog)(reported(measure))


def _options() -> list[Callable[[Any], Any]]:
    return [
        click.argument("files", nargs=-1, metavar="[FILE...]", type=_PATH),
        click.option("--model", required=True, metavar="MODEL", help="Who answers."),
        click.option("--judge", required=True, metavar="MODEL", help="Who judges the answers."),
        click.option(models.NOTES, default="extractive", show_default=True, metavar="MODEL", help="Who takes the notes."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
                     help="Setting of the memory; may be repeated.  [default: those that are shipped]"),
        click.option("--category", "kinds", multiple=True, metavar="KIND",
                     help="Only questions of this kind, by the publisher's name or the report's; may be repeated."),
        click.option("--limit", type=click.IntRange(1), help="Only so many questions, spread over all."),
        click.option("--recalls", type=click.IntRange(0, 10), default=_RECALLS, show_default=True,
                     help="How often recall may be used for a question."),
        click.option("--jobs", type=click.IntRange(1, 64), default=_JOBS, show_default=True,
                     help="Conversations, and questions, at a time."),
        click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
                     help="Folder of the run.  [default: named by protocol and model, here]"),
        click.option("--as-if", multiple=True, metavar="MODEL", default=AS_IF, show_default=True,
                     help="Also tell what it would cost with this model; may be repeated."),
        click.option("--estimate", "only_estimate", is_flag=True, help="Tell what a whole run will cost, and stop."),
        click.option("--yes", is_flag=True, help="Start without asking, whatever it costs."),
        click.option("--show-wrong", is_flag=True, help="Also list the answers that were not right."),
    ]  # fmt: skip


def _measured(told: JudgedRequest) -> tuple[Any, list[str]]:
    manner, protocol = told.manner, told.manner.protocol
    files = told.files or (SAMPLES / protocol.sample,)
    talks = [talk for file in files for talk in load(file)]
    if others := {talk.publisher for talk in talks} - {"", protocol.name}:
        raise InvalidInputError(
            f"a file is of another protocol: om bench {min(others)} asks and judges it as published"
        )
    asked = _asked(talks, told)
    settings = load_settings()
    changed = (f"observer_model={told.observer}", f"reflector_model={told.observer}", *told.settings)
    with _store(os.environ.get("OM_REDIS_URL")) as url:
        ground = JudgedGround(url, changed, settings, Registry(settings))
        if told.only_estimate:
            found = estimate.estimate(asked, set(), ground, manner, told.observer, told.as_if)
            return found, list(estimate.as_lines(found))
        models.check(
            {"--model": manner.model, "--judge": manner.judge, models.NOTES: told.observer}, settings, ground.registry
        )
        with configured(ground, ""):  # what cannot be set is said before anything is written
            folder = told.out or Path(re.sub(r"[^\w.-]+", "-", f"{protocol.name}-{manner.model}"))
        with journal(folder, _plan(files, told, settings)) as kept:
            return _judged(asked, kept, ground, told)


def _asked(talks: Sequence[Talk], told: JudgedRequest) -> list[AskedQuestion]:
    protocol = told.manner.protocol
    asked = chosen(talks, told.kinds, told.limit, protocol)
    if not asked:
        every = chosen(talks, (), None, protocol)
        kinds = sorted({kind for each in every for kind in protocol.kinds(each.question)})
        raise InvalidInputError(f"there is no question to ask: name a kind of {', '.join(kinds) or 'another file'}")
    return asked


@contextmanager
def _store(url: str | None) -> Iterator[str]:
    if url:
        yield url
    else:
        with Embedded() as store:
            yield store.url


def _plan(files: Sequence[Path], told: JudgedRequest, settings: Settings) -> RunPlan:
    hashes = tuple(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()[:16]}" for file in files)
    manner, names = told.manner, (told.manner.model, told.manner.judge, told.observer)
    known = models.digests(sorted(set(names)), settings)
    return RunPlan(manner.protocol.name, hashes, *names, known, told.settings, manner.recalls, fingerprint())


def _judged(
    asked: Sequence[AskedQuestion], kept: Journal, ground: JudgedGround, told: JudgedRequest
) -> tuple[report.JudgedReport, list[str]]:
    """Run what is left after saying what it costs, and report all."""
    manner = told.manner
    if open_ := left(asked, kept):
        made = {each.place for each in open_ if (kept.folder / MEMORIES / f"{each.place}.jsonl").exists()}
        _agree(estimate.estimate(open_, made, ground, manner, told.observer, told.as_if), kept, told)
        with _progress(len(open_)) as done, _resumable(kept):
            run(asked, kept, ground, manner, done)
    found = report.report(asked, kept, manner.protocol, (manner.model, manner.judge, told.observer))
    return found, list(report.as_lines(found, wrong=told.show_wrong))


def _agree(found: estimate.Estimate, kept: Journal, told: JudgedRequest) -> None:
    """Say what it will cost, and go on where somebody agrees, or where it costs nothing."""
    click.echo("\n".join([*estimate.as_lines(found), f"\nThe run is kept in {kept.folder}.\n"]), err=True)
    if told.yes or not found.may_cost:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("this may cost money and nobody can be asked here: add --yes to start it")
    click.confirm("Start?", abort=True, err=True)


@contextmanager
def _progress(of: int) -> Iterator[Callable[[], None]]:
    """Tell on a terminal how many questions are done."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=of, label="questions", file=sys.stderr) as bar:
        yield lambda: bar.update(1)


@contextmanager
def _resumable(kept: Journal) -> Iterator[None]:
    """Whatever ends the run says what there is by then, and how to go on."""
    try:
        yield
    except (ModelError, StoreError) as error:
        kind = StoreError if isinstance(error, StoreError) else ModelError
        raise kind(f"{error}. {_kept(kept)}") from error
    except KeyboardInterrupt:
        click.echo(f"\n{_kept(kept)}.", err=True)
        raise


def _kept(kept: Journal) -> str:
    """What there is by now, and how to go on."""
    answers, judgements = len(kept.answers), len(kept.judgements)
    return (
        f"{answers} answers and {judgements} judgements stand in {kept.folder / FILE}: the same command goes on there"
    )
