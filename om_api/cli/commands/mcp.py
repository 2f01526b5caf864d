"""`om mcp`: the memory as a server of MCP, for the host that starts it."""

import asyncio

import click

from om_api.cli.attempt import user
from om_api.cli.target import Target, checked, command
from om_api.domain.api_keys import Role
from om_api.mcp.caller import local_caller
from om_api.mcp.stdio import serve
from om_api.settings.logs import log_to_stderr


@command(
    "om mcp",
    "om mcp --resource harold --thread t-1",
    "om mcp --resource harold --role reader",
)
@click.option("--resource", callback=checked, help="Whose memory; else a model names it with each call.")
@click.option("--thread", callback=checked, help="Which conversation; else a model names it.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.OPERATOR.value,
    show_default=True,
    help="What a model may do: read, also add messages, or also forget.",
)
def mcp(target: Target, resource: str | None, thread: str | None, role: str) -> None:
    """Serve the memory to a model's host over stdin and stdout (MCP), until stdin ends.

    A host starts this by itself: docs/mcp.md has what to write into its configuration. Hosts that speak HTTP use /mcp of om api.
    """
    settings = target.settings()
    log_to_stderr(level=settings.variable("OM_LOG_LEVEL") or "WARNING", form=settings.variable("OM_LOG_FORMAT"))
    asyncio.run(serve(settings, local_caller(resource or "", thread or "", Role(role), user())))
