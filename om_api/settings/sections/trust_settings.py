"""Whose words an agent trusts, as YAML names them."""

from typing import Annotated, Literal

from pydantic import PlainValidator

from om_api.domain.notes.trust import Trust
from om_api.settings.sections.fields import Group, Mapped, SettingOwner, setting

Word = Literal["trusted", "untrusted"]
_WORDS = ("trusted", "untrusted")
_PERMITTED = "trusted or untrusted"
_MOST, _LONGEST = 200, 200  # rules, characters of a name


def _rules(value: object) -> Mapped:
    if not isinstance(value, dict) or len(value) > _MOST:
        raise ValueError("no mapping")
    if not all(isinstance(name, str) and 0 < len(name) <= _LONGEST and word in _WORDS for name, word in value.items()):
        raise ValueError("no name or glob, or no such word")
    return Mapped(value)


Rules = Annotated[Mapped, PlainValidator(_rules)]
_RULES = f"up to {_MOST} names or globs such as crm_*, each {_PERMITTED}"


class TrustedRoles(Group):
    """Of which roles what is said may become a fact about the user, or a task."""

    owner = SettingOwner.OPERATOR

    user: Word = setting("trusted", "what users say, less what they paste", _PERMITTED)
    assistant: Word = setting("trusted", "what the agent says, less what it repeats of an order", _PERMITTED)
    system: Word = setting("trusted", "system messages within a conversation", _PERMITTED)
    tool: Word = setting("untrusted", "results of tools that are not named in trust.tools", _PERMITTED)


class TrustSettings(Group):
    """Whose words may become a fact about the user, or a task; what others say is noted as what they said."""

    owner = SettingOwner.OPERATOR

    roles: TrustedRoles = TrustedRoles()
    tools: Rules = setting(
        Mapped(),
        "tools by name or glob; the most specific rule counts, before that of the role",
        _RULES,
        owner=SettingOwner.ADMINISTRATOR,
    )
    threads: Rules = setting(
        Mapped(),
        "threads by id or glob; in one that is untrusted nobody is trusted",
        _RULES,
        owner=SettingOwner.ADMINISTRATOR,
    )
    reflect: Literal["all", "trusted"] = setting(
        "all",
        "trusted: observations in which nobody is trusted are not condensed; the generation covers them, recall finds them",
        "all or trusted",
    )

    def said(self) -> Trust:
        """As notes are judged by it."""
        roles = {role: word == "trusted" for role, word in self.roles.model_dump().items()}
        return Trust(roles, _by_name(self.tools), _by_name(self.threads))


def _by_name(rules: Mapped) -> dict[str, bool]:
    return {name: word == "trusted" for name, word in rules.items()}
