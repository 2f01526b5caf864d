import pytest

from om_api.domain.notes.trust import USUAL, Trust

RULES = {"crm_*": True, "crm_mail": False, "*": False, "crm_m*": True}


@pytest.mark.parametrize(
    ("tool", "trusted"), [("crm_read", True), ("crm_mail", False), ("crm_meet", True), ("web", False), ("", False)]
)
def test_the_most_specific_rule_on_a_tool_counts(tool, trusted):
    assert Trust({"tool": True}, RULES, {}).of_tool(tool) is trusted


def test_of_two_globs_as_specific_the_stricter_counts():
    assert not Trust({"tool": True}, {"a?c": True, "ab?": False}, {}).of_tool("abc")


def test_without_a_rule_the_role_counts_and_a_role_that_nobody_named_is_not_trusted():
    assert not USUAL.of_tool("web_search")
    assert USUAL.of_role("user")
    assert not USUAL.of_role("critic")


def test_a_thread_is_trusted_unless_a_rule_says_otherwise():
    trust = USUAL._replace(threads={"public-*": False, "public-team": True})

    assert [trust.of_thread(name) for name in ("t-1", "public-1", "public-team")] == [True, False, True]
