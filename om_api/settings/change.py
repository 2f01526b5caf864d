"""A change of one agent's settings, reckoned before it is made: the text, the difference, and what would be in force."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import (
    BASE_FILE,
    GROUPS,
    SETTINGS,
    TOP_KEYS,
    Key,
    dotted,
    is_system_wide,
    nearest,
    owner_of,
)
from om_api.settings.composed_memories import circle_of, lacking_consent, new_circle
from om_api.settings.documents import plain
from om_api.settings.files import is_agent, layer_of, match
from om_api.settings.live import Settings, rows_of
from om_api.settings.loaded import Loaded, refuse_unlisted
from om_api.settings.saving import may_be_written, text_of
from om_api.settings.sections.fields import SettingOwner
from om_api.settings.sources import Effective
from om_api.settings.stored_layers import LONGEST_NAME, origin_of, version_of
from om_api.settings.yaml_edit import edited

Where = Literal["file", "store"]
_AS_CHANGED = " (as changed)"  # no file yet: nobody looks there for the line of a mistake
_LINKS = ("compose", "composed_by", "shared_by")
_BY_CLIENTS = "redaction."  # what a client decides by itself, and leaks where it does not know
_BELONGS = {
    SettingOwner.OPERATOR: "belongs to the operator; permitted: with an operator's key",
    SettingOwner.ADMINISTRATOR: "belongs to administrators; permitted: in a file, or with om config set",
}
_NO_AGENT = "is no agent's name; permitted: A-Z a-z 0-9 . _ : @ + - and globs of them"


class NotOwnerError(SettingsError):
    """The caller may not change a setting, because it belongs to another owner."""


class WantedChange(NamedTuple):
    """Dotted keys with the values they are to have, and keys that are to be stated no more."""

    stated: Mapping[str, Any] = {}
    unset: Sequence[str] = ()


class Effect(msgspec.Struct, frozen=True):
    """A setting that would be another one: what it was, what it is then, and where that comes from; durations in seconds."""

    key: str
    was: Any
    now: Any
    origin: str


class Overruled(msgspec.Struct, frozen=True):
    """A setting that is stated, though a layer above has another value in force."""

    key: str
    value: Any
    origin: str


class ChangedSettings(msgspec.Struct, frozen=True):
    """What became of a change: `saved`, `unchanged`, `dry_run`, or `superseded` where another one came first.

    `place` is the file, or the entry of the store; `began_as` names what a new one is a copy of, since nothing else of that would
    be in force beside it. `version` is that of what stands there now.
    """

    outcome: Literal["saved", "unchanged", "dry_run", "superseded"]
    agent: str
    where: Where
    place: str
    began_as: str
    version: str
    diff: str
    changed: tuple[Effect, ...]
    overruled: tuple[Overruled, ...]
    notes: tuple[str, ...] = ()


class PlannedChange(NamedTuple):
    """A change that can be made: the text it makes, None of what states nothing any more, and the version it was made of.

    `relied_on` are the entries of the store, b"" being none, by which a new link is no circle and has the other's consent.
    """

    agent: str
    file: Path | None
    before: bytes | None
    began_as: str
    after: str | None
    changed: tuple[Effect, ...]
    overruled: tuple[Overruled, ...]
    by: SettingOwner
    relied_on: Mapping[str, bytes]

    @property
    def place(self) -> str:
        """The file, or the entry of the store."""
        return str(self.file) if self.file else origin_of(self.agent)

    @property
    def version(self) -> str:
        """The version of what it was made of, as its owner sees it."""
        return self._version_of(self.before)

    @property
    def changes_nothing(self) -> bool:
        """Whether the text stays what it is."""
        return version_of(self.after) == version_of(self.before)

    def _version_of(self, text: bytes | str | None) -> str:
        """A digest of the settings that the owner may change: one of the whole text would let short values be guessed."""
        if text is None or self.by is SettingOwner.ADMINISTRATOR:
            return version_of(text)
        return version_of(_as_seen(text, self.by))

    def told(self, outcome: Literal["saved", "unchanged", "dry_run", "superseded"]) -> ChangedSettings:
        """What became of it."""
        where: Where = "file" if self.file else "store"
        version = self._version_of(self.after) if outcome == "saved" else self.version
        parts = (outcome, self.agent, where, self.place, self.began_as, version, self._diff())
        return ChangedSettings(*parts, self.changed, self.overruled, tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        """What a change does not do by itself."""
        if any(each.key == "redaction.before" and each.now == "store" for each in self.changed):
            yield f"what is stored already is not redacted: om redact {self.agent} --dry-run tells what of it would be"
        if self.file is None and any(each.key.startswith(_BY_CLIENTS) for each in self.changed):
            yield "Python clients do not read the store: have it in their files or OM_ variables too (docs/configuration.md)"

    def _diff(self) -> str:
        """The changed lines of the text; for all but administrators only settings of their own, and no comments."""
        before, after = (self.before or b"").decode("utf-8", "replace"), self.after or ""
        whole = self.by is SettingOwner.ADMINISTRATOR
        if not whole:
            before, after = _as_seen(before, self.by), _as_seen(after, self.by)
        lines = unified_diff(
            before.splitlines(), after.splitlines(), self.place, self.place, n=3 if whole else 0, lineterm=""
        )
        return "".join(f"{line}\n" for line in lines)


def _as_seen(text: bytes | str, by: SettingOwner) -> str:
    """The settings of a text that an owner may change, as YAML."""
    try:
        layer = layer_of(text, "")
    except SettingsError:
        return ""
    own = {(TOP_KEYS[0], *path): stated.value for path, stated in layer.items() if by.includes(owner_of(path))}
    return edited("", own, [], "")


def plan(
    settings: Settings, agent: str, wanted: WantedChange, where: Where | None = None, *, by: SettingOwner
) -> PlannedChange:
    """Reckon a change; raises SettingsError for what could not be in force, each mistake with what is permitted.

    `where` None: in the store if the agent has an entry there already, or the file cannot be written, else in the file.
    Raises NotOwnerError where a setting would change, by itself or by what the change implies, that does not belong to `by`.
    A new link to another memory is refused that this one does not permit.
    """
    stated, unset = _checked(agent, wanted)
    _check_owner((*stated, *unset), by)
    if broken := settings.broken_base:
        raise SettingsError(f"{broken.file}: {broken.text}; correct it first: nothing was changed")
    loaded = settings.loaded
    file = _file(settings, agent, where)
    before = text_of(file) if file else loaded.stored.texts.texts.get(agent)
    began_as, begin = ("", before.decode("utf-8", "replace")) if before is not None else _beginning(loaded, agent, file)
    origin = f"{file}{_AS_CHANGED}" if file else origin_of(agent)
    _refuse_unstated(begin, unset, origin, by)
    if began_as:
        _check_copied(began_as, begin, agent, by)
    top = TOP_KEYS[0]
    after = edited(begin, {(top, *path): value for path, value in stated.items()}, [(top, *p) for p in unset], origin)
    kept = after if after.strip() else None
    then = _then(settings, agent, file, kept, origin)
    changed, overruled = _effects(settings, agent, then.of(agent)), _overruled(settings, then.of(agent), stated, origin)
    _check_owner([tuple(each.key.split(".")) for each in changed], by)
    _check_links(settings, agent, then, origin)
    if by is not SettingOwner.ADMINISTRATOR:
        refuse_unlisted(then.of(agent), loaded.of(agent), origin)
    relied_on = _composed_entries(then, agent) if any(each.key in _LINKS for each in changed) else {}
    return PlannedChange(agent, file, before, began_as, kept, changed, overruled, by, relied_on)


def _check_owner(paths: Iterable[Key], by: SettingOwner) -> None:
    """Raise NotOwnerError with a line for each setting that `by` may not change."""
    refused = {dotted(path): owner_of(path) for path in paths if not by.includes(owner_of(path))}
    if refused:
        raise NotOwnerError("\n".join(f"{key} {_BELONGS[owner]}" for key, owner in refused.items()))


def _check_copied(began_as: str, text: str, agent: str, by: SettingOwner) -> None:
    """Raise NotOwnerError where a copy would keep a setting as it is now that the owner of the glob goes on changing."""
    for path in layer_of(text, began_as):
        if not by.includes(owner := owner_of(path)):
            raise NotOwnerError(
                f"{agent} goes by {began_as}, which states {dotted(path)}, an {owner}'s; a copy for {agent} would not follow "
                f"it: have an administrator begin one (om config set {agent})"
            )


def _check_links(settings: Settings, agent: str, then: Loaded, origin: str) -> None:
    """Raise SettingsError for a link that this change makes and that closes a circle or lacks the other memory's permission.

    Files are checked without the store, too: an entry may hide a link that is in force where the store is not read, and
    everywhere once the entry is removed. The text of a circle names only memories that the agent composes itself.
    """
    for before, after in ((settings.loaded, then), (settings.loaded.files_only(), then.files_only())):
        if circle := new_circle(before.own_links(), after.own_links()):
            own = next((at for at, name in enumerate(circle) if match(name, [agent])), 0)
            raise SettingsError(f"{origin}: {circle_of(circle[own], circle[own + 1])}")
    refused = set(then.links(agent).refused) - set(settings.links(agent).refused)
    if refused:
        raise SettingsError("\n".join(f"compose: {lacking_consent(agent, *each)}" for each in sorted(refused)))


def _composed_entries(then: Loaded, agent: str) -> dict[str, bytes]:
    """The entries of the store that memories have which an agent composes, or which these lead to; b"" where there is none."""
    found, texts = dict[str, bytes](), then.stored.texts.texts
    ahead = [each["resource"] for each in then.of(agent).memory.compose]
    while ahead:
        name = ahead.pop()
        if name != agent and name not in found:
            found[name] = texts.get(name, b"")
            ahead += [each["resource"] for each in then.of(name).memory.compose]
    return found


def _checked(agent: str, wanted: WantedChange) -> tuple[dict[Key, Any], list[Key]]:
    """The keys as paths; raises SettingsError for a name or a key that cannot be."""
    if len(agent) > LONGEST_NAME or not is_agent(agent):
        raise SettingsError(f"{plain(agent)} {_NO_AGENT}")
    stated, unset = {_path(key): value for key, value in wanted.stated.items()}, [*map(_path, wanted.unset)]
    if both := stated.keys() & set(unset):
        raise SettingsError(f"{dotted(min(both))} is to be set and not to be set; permitted: one of the two")
    if not stated and not unset:
        raise SettingsError("nothing is to be changed: name a key, such as message_threshold=20000")
    return stated, unset


def _path(key: str) -> Key:
    path = tuple(key.split("."))
    if is_system_wide(path):
        raise SettingsError(f"{plain(key)} holds for the whole system; permitted: in {BASE_FILE} only")
    if path in GROUPS:
        inside = ", ".join(dotted(each) for each in SETTINGS if each[: len(path)] == path)
        raise SettingsError(f"{key} is a group of settings; permitted: {inside}")
    if path not in SETTINGS:
        raise SettingsError(f"{plain(key)} is not a setting; {nearest(path)}")
    return path


def _file(settings: Settings, agent: str, where: Where | None) -> Path | None:
    """The file that is to be changed; None for the entry of the store."""
    loaded = settings.loaded
    there = [str(file) for file in loaded.made if file.parent.name == agent]
    file = settings.folder.file_of(agent, loaded)
    usual = file is not None and agent not in loaded.stored.texts.texts and may_be_written(file)
    if where == "store" or (where is None and not usual):
        return None
    if file is None:
        raise SettingsError(
            f"no file of {agent} would be read: {settings.folder.path} has neither {BASE_FILE} nor agents/, or the name begins "
            "with a dot; save it in the store instead (--store)"
        )
    if there[1:]:
        raise SettingsError(f"{' and '.join(there)} are both there; permitted: one of the two")
    return file


def _beginning(loaded: Loaded, agent: str, file: Path | None) -> tuple[str, str]:
    """What a new one begins as, and where that stands: of several that fit a name one alone is in force."""
    texts = loaded.stored.texts.texts
    if file is None:
        name = match(agent, loaded.stored.layers)
        return (origin_of(name), texts[name].decode("utf-8", "replace")) if name else ("", "")
    name = match(agent, loaded.names)
    like = next((each for each in loaded.made if each.parent.name == name), None)
    return (str(like), (text_of(like) or b"").decode("utf-8", "replace")) if like else ("", "")


def _refuse_unstated(text: str, unset: Sequence[Key], origin: str, by: SettingOwner) -> None:
    """Raise SettingsError for a key that the text does not state; it names those that `by` may unset."""
    if not unset:
        return
    says = layer_of(text, origin)
    for path in unset:
        if path not in says:
            named = ", ".join(dotted(each) for each in says if by.includes(owner_of(each))) or "nothing"
            raise SettingsError(f"{origin.removesuffix(_AS_CHANGED)} does not state {dotted(path)}; it states {named}")


def _then(settings: Settings, agent: str, file: Path | None, text: str | None, origin: str) -> Loaded:
    """What would be in force; raises SettingsError."""
    folder, loaded = settings.folder, settings.loaded
    if file is None:
        return folder.with_entry(loaded, agent, text)
    if text is None:
        return folder.without_file(loaded, agent)
    return folder.with_file(loaded, agent, text, origin)


def _effects(settings: Settings, agent: str, then: Effective) -> tuple[Effect, ...]:
    was = {row.key: row.value for row in rows_of(settings, settings.loaded.of(agent))}
    return tuple(
        Effect(row.key, was[row.key], row.value, row.origin.removesuffix(_AS_CHANGED))
        for row in rows_of(settings, then)
        if row.value != was[row.key]
    )


def _overruled(settings: Settings, then: Effective, stated: Mapping[Key, Any], origin: str) -> tuple[Overruled, ...]:
    keys = {dotted(path) for path in stated}
    return tuple(
        Overruled(row.key, row.value, row.origin)
        for row in rows_of(settings, then)
        if row.key in keys and row.origin != origin
    )
