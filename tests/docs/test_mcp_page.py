"""docs/mcp.md: every tool as the code has it, and configurations that a host can read."""

import json
import re
import shlex
import tomllib

import pytest
from click.testing import CliRunner
from pages import FENCE, ROOT, blocks, section, spans

from om_api.cli import main
from om_api.http.routes.mcp import PATH
from om_api.http.serving.limits import MAX_CALL
from om_api.mcp.context_resources import TEMPLATE
from om_api.mcp.prompt import NAME
from om_api.mcp.toolbox import TOOLS

PAGE = (ROOT / "docs" / "mcp.md").read_text("utf-8")
CONFIGURATIONS = [*map(json.loads, blocks(PAGE, "json")), *map(tomllib.loads, blocks(PAGE, "toml"))]
HOLDERS = {"mcpServers", "servers", "context_servers", "mcp_servers"}


def servers():
    return [each[name]["memory"] for each in CONFIGURATIONS for name in HOLDERS & each.keys()]


def test_the_table_of_tools_is_that_of_the_code():
    rows = [line.strip("| ").split(" | ") for line in section(PAGE, "Tools").splitlines() if line.startswith("| `")]
    told = {row[0].strip("`"): (row[1], re.findall(r"`(\w+)`", row[2])) for row in rows}

    assert told == {name: (str(tool.role), list(tool.arguments.model_fields)) for name, tool in TOOLS.items()}


def test_every_configuration_names_one_server():
    assert len(CONFIGURATIONS) == 9
    assert all(len(HOLDERS & each.keys()) == 1 for each in CONFIGURATIONS)
    assert all(fence in {"sh", "json", "toml"} for fence, _ in FENCE.findall(PAGE))


@pytest.mark.parametrize("server", [each for each in servers() if "command" in each], ids=str)
def test_a_configuration_starts_a_command_that_there_is(server):
    done = CliRunner().invoke(main, [*server["args"], "--help"])

    assert (server["command"], done.exit_code) == ("om", 0)
    assert set(server["env"]) == {"OM_REDIS_URL"}


def test_a_configuration_over_http_names_our_path_and_sends_a_key():
    over_http = [each for each in servers() if "command" not in each]

    assert len(over_http) == 5
    for server in over_http:
        assert (server.get("url") or server["serverUrl"]).endswith(PATH)
        assert server.get("bearer_token_env_var") or server["headers"]["Authorization"].startswith("Bearer ")


def test_the_command_for_claude_code_ends_in_ours():
    (line,) = [line for block in blocks(PAGE, "sh") for line in block.splitlines() if line.startswith("claude ")]
    words = shlex.split(line)

    assert CliRunner().invoke(main, [*words[words.index("--") + 2 :], "--help"]).exit_code == 0


def test_options_names_and_numbers_are_those_of_the_code():
    options = {option for param in main.get_command(None, "mcp").params for option in param.opts}

    assert {row.split()[0] for row in spans(section(PAGE, "Two minutes")) if row.startswith("--")} == options
    assert f"`{TEMPLATE}`" in PAGE
    assert f"`{NAME}`" in PAGE
    assert f"{MAX_CALL:,} bytes" in PAGE
