"""`om api`: the memory over HTTP."""

from __future__ import annotations

import sys

import click

from om_api.cli.help import examples
from om_api.cli.output import note
from om_api.cli.target import Target, pass_target
from om_api.errors import SettingsError, StoreError
from om_api.http.serving import check_free, is_loopback, serve
from om_api.logs import log_to_stderr

_PORT = 8000


@click.command(epilog=examples("om api", "om api --host 0.0.0.0 --port 8000", "om api --without-keys"))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; else OM_API_PORT, else 8000.")
@click.option("--without-keys", is_flag=True, help="Let everybody on this machine do everything; loopback only.")
@pass_target
def api(target: Target, host: str, port: int | None, without_keys: bool) -> None:
    """Serve the memory over HTTP until told to stop.

    Every request needs a key (om keys create). What is asked for is described at /v1/openapi.json.
    """
    if without_keys and not is_loopback(host):
        raise SettingsError(
            f"--without-keys would let everybody who reaches {host} read and remove every memory: "
            "permitted with --host 127.0.0.1 only; leave it out and make a key (om keys create)"
        )
    settings = target.settings()
    port = _port(port, settings.variable("OM_API_PORT"))
    check_free(host, port)
    form = settings.variable("OM_LOG_FORMAT")
    log_to_stderr(level=settings.variable("OM_LOG_LEVEL") or "INFO", form=form)
    _say_who_may(target, without_keys)
    sys.exit(serve(settings, host, port, locked=not without_keys))


def _port(asked: int | None, stated: str | None) -> int:
    if asked is not None:
        return asked
    if stated and not (stated.isdecimal() and int(stated) <= 65_535):  # noqa: PLR2004 - what TCP has
        raise SettingsError(f"environment OM_API_PORT: {stated[:40]!r} is no port; permitted: 1 to 65,535")
    return int(stated or _PORT)


def _say_who_may(target: Target, without_keys: bool) -> None:
    if without_keys:
        note("WITHOUT KEYS: every program on this machine may read, change and remove every memory")
        return
    try:
        with target.key_ring() as ring:
            known = len(ring.list())
    except StoreError as error:
        note(f"the store is not there yet, requests are answered when it is: {error}")
        return
    if not known:
        note("nobody has a key yet: om keys create --resource harold --role writer")
