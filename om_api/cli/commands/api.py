"""`om api`: the memory over HTTP."""

import sys

import click

from om_api.cli.output import note
from om_api.cli.target import Target, command, stated_port
from om_api.domain.errors import SettingsError, StoreError
from om_api.http import make_app
from om_api.http.serving.server import check_free, is_loopback, serve
from om_api.ops.eviction import evicting
from om_api.settings.logs import log_to_stderr
from om_api.store.fleet import api_key_records
from om_api.telemetry import spans
from om_api.web import with_pages

_PORT = 8000


@command("om api", "om api --host 0.0.0.0 --port 8000", "om api --without-keys")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; else OM_API_PORT, else 8000.")
@click.option("--without-keys", is_flag=True, help="Let everybody on this machine do everything; loopback only.")
def api(target: Target, host: str, port: int | None, without_keys: bool) -> None:
    """Serve the memory over HTTP until told to stop.

    Every request needs a key (om keys create). What is asked for is described at /docs, and for programs at /v1/openapi.json.
    """
    if without_keys and not is_loopback(host):
        raise SettingsError(
            f"--without-keys would let everybody who reaches {host} read and remove every memory: "
            "permitted with --host 127.0.0.1 only; leave it out and make a key (om keys create)"
        )
    settings = target.settings()
    port = stated_port(settings, "OM_API_PORT", _PORT) if port is None else port
    check_free(host, port)
    form = settings.variable("OM_LOG_FORMAT")
    ids = [spans.log_ids] if settings.memory.telemetry.logs else []
    log_to_stderr(level=settings.variable("OM_LOG_LEVEL") or "INFO", form=form, also=ids)
    _say_who_may(target, without_keys)
    for found in evicting(settings):
        note(f"warning: {found.about}: {found.says}; {found.do}")
    sys.exit(serve(with_pages(make_app(settings, locked=not without_keys)), host, port))


def _say_who_may(target: Target, without_keys: bool) -> None:
    if without_keys:
        note("WITHOUT KEYS: every program on this machine may read, change and remove every memory")
        return
    try:
        known = target.run(api_key_records.every(target.keys()))
    except StoreError as error:
        note(f"the store is not there yet, requests are answered when it is: {error}")
        return
    if not known:
        note("nobody has a key yet: om keys create --resource harold --role writer")
