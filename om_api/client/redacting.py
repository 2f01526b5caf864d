"""Redaction where a memory is written and read: what its settings say, what was replaced kept and counted."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from om_api.domain.caching import LRU
from om_api.domain.errors import InvalidInputError, SettingsError, StoreError
from om_api.domain.identity import said_by
from om_api.domain.messages import Message
from om_api.domain.naming.ids import escape_id
from om_api.domain.values import check_id
from om_api.redaction.making import redactor, vault
from om_api.redaction.placeholders import Words, placeholders, put_back_in
from om_api.redaction.redactor import Redactions, Redactor
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_api.store.erasing import redacted
from om_api.store.memory.keys import Keys

T = TypeVar("T")
_REMEMBERED = 65_536  # encrypted values of messages that are prepared and not sent yet, and those kept last


class Redacting:
    """What is redacted of each agent. Nothing is looked for where that is off; raises SettingsError where its key is not set."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self._settings, self._keys = settings, keys
        self._sealed: LRU[tuple[str, str], bytes] = LRU(_REMEMBERED)
        self._waiting: defaultdict[str, Redactions] = defaultdict(Redactions)
        self._lock = threading.Lock()

    def before_models(self, resource: str) -> Redactor | None:
        """Who redacts what models are sent; None where nobody does."""
        own = self._settings.for_agent(resource).redaction
        return redactor(own, resource) if own.is_on else None

    def redacts_store(self, resource: str) -> bool:
        """Whether what is stored of it is redacted."""
        return self._settings.for_agent(resource).redaction.before == "store"

    def before_store(self, resource: str) -> Redactor | None:
        """Who redacts what is stored."""
        return self.before_models(resource) if self.redacts_store(resource) else None

    # -- messages, which are prepared before they are sent ---------------------------------------------------------------

    def message(self, message: Message, resource: str = "") -> Message:
        """A message as it may be stored, of a resource where it names none; the same one where nothing is found in it."""
        resource = message.resource_id or resource
        own = self.before_store(resource)
        if own is None:
            return message
        told = Redactions()
        made = own.message(message, told)
        for name, sealed in told.sealed.items():
            self._sealed.put((resource, name), sealed)
        return made

    def prepared(self, resource: str, member: bytes) -> None:
        """Have what a redacted message stands for kept before it is; it waits for `kept`."""
        if self.before_store(resource) is None or b"[" not in member:
            return
        names = list(placeholders(member.decode("utf-8", "replace")))
        with self._lock:
            for name in names:
                waiting = self._waiting[resource]
                waiting.counts[name.partition(" ")[0]] += 1
                if sealed := self._sealed.get((resource, name)):
                    waiting.sealed[name] = sealed

    def sealed_in(self, resource: str, member: bytes) -> dict[str, bytes]:
        """The encrypted values that a redacted message stands for, as far as this process knows them."""
        if self.before_store(resource) is None or b"[" not in member:
            return {}
        names = placeholders(member.decode("utf-8", "replace"))
        return {name: sealed for name in names if (sealed := self._sealed.get((resource, name)))}

    def restore(self, resource: str, member: bytes, sealed: Mapping[str, bytes]) -> None:
        """Take over the encrypted values of a message that another process prepared, to store them before it."""
        for name, value in sealed.items():
            self._sealed.put((resource, name), value)
        self.prepared(resource, member)

    def kept(self, resource: str) -> Steps[Redactions]:
        """Keep what waits of a resource; it waits until it is kept, whoever else keeps it meanwhile.

        Says which values were: they are kept once more when their messages are. Time 0: one is kept, as it was before. Time 1:
        another message is erased, and nothing names it any more: it is removed. Time 2: the message comes.
        """
        if resource not in self._waiting:
            return Redactions()
        with self._lock:
            waiting = self._waiting[resource]
            sealed, counts = dict(waiting.sealed), Counter(waiting.counts)
        yield from self.keep(resource, Redactions(counts, sealed))
        with self._lock:
            waiting.counts.subtract(counts)
            for name in sealed:
                waiting.sealed.pop(name, None)
            if not waiting.sealed and not any(waiting.counts.values()):
                self._waiting.pop(resource, None)
        return Redactions(sealed=sealed)

    # -- everything else, which is stored at once -------------------------------------------------------------------------

    def keep(self, resource: str, told: Redactions) -> Steps[None]:
        """Keep what was replaced, and count it."""
        for name, sealed in told.sealed.items():
            self._sealed.put((resource, name), sealed)
        return redacted.keep(self._keys, resource, told)

    def keep_again(self, resource: str, stored: object) -> Steps[None]:
        """Keep the values of something once more that was stored long after they were kept, if this process kept them.

        Time 0: a model is asked, and they are kept. Time 1: another removes something: nothing stands for them, so they go.
        Time 2: what the model noted is stored.
        """
        names = {*placeholders(msgspec.json.encode(stored).decode())}
        sealed = {name: value for name in names if (value := self._sealed.get((resource, name)))}
        return redacted.keep(self._keys, resource, Redactions(sealed=sealed))

    def stored(self, resource: str, value: T) -> Steps[T]:
        """A text, or a JSON value, as it may be stored."""
        own = self.before_store(resource)
        if own is None:
            return value
        told = Redactions()
        made = own.value(value, told)
        yield from self.keep(resource, told)
        return made if told else value

    def shared(self, source: str, target: str, text: str) -> Steps[str]:
        """A text of one memory as it may be stored in another, without what either keeps nothing of.

        Values are sealed for the target and named by the source: a source that reads the target's notes would else learn by
        which names the target has the values that it guesses.
        """
        own = self._settings.for_agent(target).redaction
        if own.before == "store":
            told = Redactions()
            text = redactor(own, target, named_for=source).value(text, told)
            yield from self.keep(target, told)
        return (yield from self.stored(source, text))

    def moved(self, source: str, target: str, sealed: Mapping[str, bytes]) -> dict[str, bytes]:
        """Encrypted values of one memory, encrypted for another; without those that the key of the other does not open.

        Raises InvalidInputError if only the other reveals values: an export of the one would be read there. This needs a value
        that the key opens, so a forged line does not find out the settings of the one.
        """
        if source == target:
            return dict(sealed)
        own = self._settings.for_agent(check_id(target, "resource")).redaction
        before, now = vault(own, check_id(source, "resource")), vault(own, target)
        values = {name: before.open(name, each) for name, each in sealed.items()} if before else {}
        opened = {name: value for name, value in values.items() if value is not None}
        if opened and own.reveal and not self._settings.for_agent(source).redaction.reveal:
            raise InvalidInputError(
                f"values of {source} would be revealed in {target}: redaction.reveal is true for {target} only; set it to the"
                f" same value for both, or import as {source}"
            )
        return {name: now.seal(name, value) for name, value in opened.items()} if now else {}

    def item(self, label: str, value: T) -> T:
        """A value of LangGraph's store, by the resource whose name its namespace begins with; not counted, nor put back."""
        try:
            resource = escape_id(label)
        except InvalidInputError:  # too long for an id: globs and the base file apply
            resource = label
        own = self.before_store(resource)
        return value if own is None else own.value(value, Redactions())

    def of_plain_writers(self, resource: str, go_on: Callable[[], None] = lambda: None) -> "Adopting | None":
        """Who redacts what plain writers left; `go_on` is called before each message and may raise to end the work."""
        own = self.before_store(resource)
        return Adopting(self, resource, own, go_on) if own else None

    def comparable(
        self, resource: str, kept: Sequence[Message], given: Sequence[Message]
    ) -> Steps[tuple[Sequence[Message], Sequence[Message]]]:
        """Kept messages, and given ones as they may be stored, so that what says the same is the same in both.

        What was kept as it was said is redacted; where another key named a value, or none, what else says it has no name.
        """
        own = self.before_store(resource)
        if own is None:
            return kept, given
        kept = [own.message(each, Redactions()) for each in kept]
        names = {name for each in kept for name in _names(each.content)}
        strange = yield from self._strange(resource, own, names)
        if not strange:
            return kept, given
        kept = [each if strange.isdisjoint(_names(each.content)) else _nameless(each) for each in kept]
        there = {said_by(each) for each in kept}
        return kept, [each if said_by(each) in there else _nameless(each) for each in given]

    def _strange(self, resource: str, own: Redactor, names: Iterable[str]) -> Steps[set[str]]:
        """Those of some placeholders that this redactor would not have made."""
        if own.vault is None:
            return {name for name in names if " " in name}
        sealed = yield from redacted.sealed_of(self._keys, resource, names)
        opened = {name: own.vault.open(name, each) for name, each in sealed.items()}
        made = {
            n for n, value in opened.items() if value is not None and own.vault.name(n.partition(" ")[0], value) == n
        }
        return {*names} - made

    def asked(self, resource: str, text: str) -> str:
        """A text that is looked for, as it is stored: only where each value has a name of its own."""
        own = self.before_store(resource)
        return own.text(text, Redactions()) if own and own.vault else text

    # -- for readers -------------------------------------------------------------------------------------------------------

    def words(self, resource: str, shown: Any, others: Mapping[str, Any] | None = None) -> Steps[Words]:
        """What placeholders in something that is shown to readers of a resource stand for.

        Nothing unless its settings reveal it, and the key is set. `others` is what of it is of other memories: a placeholder in
        that is put back only if those memories reveal it too, with the values that they hold.
        """
        if not self._settings.for_agent(resource).redaction.reveal:
            return {}
        found, hidden = (yield from self._opened(resource, _names(shown))), set[str]()
        for other, notes in (others or {}).items():
            names = _names(notes)
            theirs = yield from self._opened(other, names)
            found |= theirs
            hidden |= {*names} - theirs.keys()
        return {name: value for name, value in found.items() if name not in hidden}

    def _opened(self, resource: str, names: Sequence[str]) -> Steps[dict[str, str]]:
        """The values of those of some placeholders that a memory reveals."""
        own = self._settings.for_agent(resource).redaction
        if not (own.reveal and own.key_env and names):
            return {}
        with suppress(SettingsError, StoreError):  # placeholders can be read too
            keyed = vault(own, resource)
            sealed = yield from redacted.sealed_of(self._keys, resource, names)
            opened = {name: keyed.open(name, each) for name, each in sealed.items()} if keyed else {}
            return {name: value for name, value in opened.items() if value is not None}
        return {}


def _names(shown: Any) -> list[str]:
    return list(placeholders(msgspec.json.encode(shown, enc_hook=str).decode()))


def _nameless(message: Message) -> Message:
    words = {name: f"[{name.partition(' ')[0]}]" for name in _names(message.content)}
    return msgspec.structs.replace(message, content=put_back_in(message.content, words))


class Adopting:
    """Redacts members of one resource as they are adopted."""

    def __init__(self, redacting: Redacting, resource: str, redactor: Redactor, go_on: Callable[[], None]) -> None:
        self._redacting, self._resource, self._redactor, self._told = redacting, resource, redactor, Redactions()
        self._go_on = go_on

    def member(self, text: bytes) -> bytes:
        """A member as it may be kept."""
        self._go_on()
        return self._redactor.member(text, self._told)

    def keep(self) -> Steps[None]:
        """Keep what was replaced so far, and count it once."""
        told, self._told = self._told, Redactions()
        return self._redacting.keep(self._resource, told)
