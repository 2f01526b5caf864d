"""Trust: whose words may become a fact about the user, or a task; said by role, by tool and by thread."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple


class Trust(NamedTuple):
    """What an agent trusts: roles, and by name or glob tools and threads; each True for trusted.

    A thread that is not trusted makes all of its messages untrusted. A tool's own word counts before that of the role `tool`.
    """

    roles: Mapping[str, bool]
    tools: Mapping[str, bool]
    threads: Mapping[str, bool]

    def of_thread(self, thread: str) -> bool:
        """Whether what is said in a thread may be trusted at all."""
        return _closest(self.threads, thread, usual=True)

    def of_role(self, role: str) -> bool:
        """Whether a role is trusted; one that nobody named is not."""
        return self.roles.get(role, False)

    def of_tool(self, name: str) -> bool:
        """Whether a tool's results are trusted."""
        return _closest(self.tools, name, usual=self.of_role("tool"))


def _closest(rules: Mapping[str, bool], name: str, *, usual: bool) -> bool:
    """What the most specific rule says: the name itself, else the glob with most letters of its own, of equals the stricter."""
    if name in rules:
        return rules[name]
    fits = [
        (len(rule) - rule.count("*") - rule.count("?"), not word)
        for rule, word in rules.items()
        if fnmatchcase(name, rule)
    ]
    return not max(fits)[1] if fits else usual


USUAL = Trust({"user": True, "assistant": True, "system": True, "tool": False}, {}, {})
