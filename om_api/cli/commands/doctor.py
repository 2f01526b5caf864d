"""`om doctor`, which examines a running system, and `om health`, which checks one of its processes."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from itertools import pairwise
from pathlib import Path

import click

from om_api.cli.children import API, BEAT, FLOWER, WORKER
from om_api.cli.output import json_option, note, print_json, print_line
from om_api.cli.target import Target, command, stated_port
from om_api.ops.diagnosis import Finding
from om_api.ops.doctor import examine
from om_api.settings import Settings

_UNREACHED = 2
_INDENT = 20  # where what a finding says begins
_BEAT_S = 60  # a beat sends a task every ten seconds
_ANSWER_S = 4
_PING_S = 15
_PROC = Path("/proc")


@command("om doctor", "om doctor --json | jq '.[] | select(.level == \"error\")'")
@json_option
def doctor(target: Target, as_json: bool) -> None:
    """Look at store, workers, ticks, queues and settings, and name each trouble with its remedy.

    Writes one key that is gone a second later, to see whether the store takes writes; what the server does not permit to
    be asked is a note. Exit code 0 if all is well, 1 if there is trouble (warning or error), 2 if the store cannot be
    reached.
    """
    found = examine(target.refreshed())
    if as_json:
        print_json([finding._asdict() for finding in found.findings])
    else:
        for finding in found.findings:
            print_line(_line(finding), _INDENT)
    if found.troubles:
        note(f"troubles: {len(found.troubles):,}")
        sys.exit(1 if found.reached else _UNREACHED)
    note("all is well")


def _line(finding: Finding) -> str:
    do = f" -> {finding.do}" if finding.do else ""
    return " ".join(f"{finding.level:<8} {finding.about:<10} {finding.says}{do}".splitlines())


@command("om health", "om health worker", "om health api --port 9000")
@click.argument("role", type=click.Choice([*WORKER[:1], *BEAT, *FLOWER, *API]), required=False)
@click.option("--port", type=click.IntRange(1, 65_535), help="The port of Flower or the API.")
@json_option
def health(target: Target, role: str | None, port: int | None, as_json: bool) -> None:
    """Check the worker, beat, Flower or API that runs here; exit code 0 if it is healthy, else 1.

    Without ROLE: the one that runs in this container, at the port that its command line states (--port). The worker must
    answer Celery's ping, the beat must have touched OM_BEAT_FILE within a minute, Flower and the API must answer over HTTP
    at --port, else at OM_FLOWER_PORT (5555) and OM_API_PORT (8000).
    """
    if role is None:
        role, stated = running_role(_command_lines())
        port = port or stated
    if role is None:
        problem = "no process of cortex-om runs here; name one: worker, beat, flower or api"
    else:
        problem = _CHECKS[role](target.settings(), port)
    if as_json:
        print_json({"role": role, "healthy": not problem, "problem": problem})
    else:
        note(f"unhealthy: {problem}" if problem else f"{role}: healthy")
    if problem:
        sys.exit(1)


def running_role(command_lines: Iterable[list[str]]) -> tuple[str | None, int | None]:
    """The role of the first of these command lines that belongs to cortex-om, and the port that it states."""
    for words in command_lines:
        if "om_workers.app" in words:
            return next((word for word in words if word in {*WORKER, *BEAT, *FLOWER}), None), _port(words)
        if any(Path(word).name == "om" and after == "api" for word, after in pairwise(words)):
            return "api", _port(words)
    return None, None


def _port(words: Iterable[str]) -> int | None:
    """The value of --port, which may be a word or the end of one."""
    flat = [part for word in words for part in word.split("=", 1)]
    stated = next((after for word, after in pairwise(flat) if word == "--port"), "")
    return int(stated) if stated.isdecimal() else None


def _command_lines() -> Iterable[list[str]]:
    """The arguments of each process of this container, the oldest first."""
    for folder in sorted(_PROC.glob("[0-9]*"), key=lambda folder: int(folder.name)):
        try:
            yield (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended
            continue


def _worker_problem(*_: object) -> str:
    name = f"celery@{socket.gethostname()}"
    ping = ["-m", "celery", "-A", "om_workers.app", "inspect", "ping", "--timeout", "5", "--destination", name]
    try:
        done = subprocess.run([sys.executable, *ping], capture_output=True, timeout=_PING_S, check=False)  # noqa: S603 -- fixed arguments
    except subprocess.TimeoutExpired:
        return f"the ping of {name} took more than {_PING_S} s"
    return "" if done.returncode == 0 else f"{name} does not answer Celery's ping"


def _beat_problem(settings: Settings, _: int | None) -> str:
    file = settings.variable("OM_BEAT_FILE")
    if not file:
        return "OM_BEAT_FILE is not set; set it to a file that the beat may write"
    try:
        age = time.time() - Path(file).stat().st_mtime
    except OSError:
        return f"{file} does not exist: no tick was sent yet"
    return "" if age < _BEAT_S else f"the last tick was sent {age:,.0f} s ago"


def _http_problem(variable: str, usual_port: int, path: str, settings: Settings, port: int | None) -> str:
    port = port or stated_port(settings, variable, usual_port)
    connection = HTTPConnection("127.0.0.1", port, timeout=_ANSWER_S)
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return f"port {port} does not answer {path}: {error}"
    finally:
        connection.close()
    return "" if status == HTTPStatus.OK else f"port {port} answers {path} with {status}"


_CHECKS: dict[str, Callable[[Settings, int | None], str]] = {
    "worker": _worker_problem,
    "beat": _beat_problem,
    "flower": partial(_http_problem, "OM_FLOWER_PORT", 5555, "/healthcheck"),
    "api": partial(_http_problem, "OM_API_PORT", 8000, "/healthz"),
}
