import pytest

from om_api import SettingsError, load_settings
from om_api.settings.sections.trust_settings import TrustSettings


def _trust(**said):
    return load_settings(None, {f"OM_TRUST__{name.upper()}": value for name, value in said.items()}).memory.trust


def test_by_itself_people_are_trusted_and_tools_are_not():
    assert TrustSettings().said().roles == {"user": True, "assistant": True, "system": True, "tool": False}
    assert TrustSettings().reflect == "all"


def test_tools_and_threads_are_named_or_globbed():
    said = _trust(tools="{crm_*: trusted}", threads="{public-*: untrusted}", roles__tool="trusted").said()

    assert (said.tools, said.threads, said.roles["tool"]) == ({"crm_*": True}, {"public-*": False}, True)


@pytest.mark.parametrize("tools", ["{crm: maybe}", "[crm]", "{'': trusted}", "{crm: true}"])
def test_what_is_no_rule_is_refused_with_what_is_permitted(tools):
    with pytest.raises(SettingsError, match="trusted or untrusted"):
        _trust(tools=tools)
