"""Hooks around what models are asked: they see it before, and the answer after, and hold no lock meanwhile."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import structlog

from om_api.domain.errors import HookError, SettingsError
from om_api.domain.messages import Message
from om_api.domain.notes.catalogue import Catalogued, written
from om_api.domain.values import Scope
from om_api.domain.webhooks.hook import Given, Point
from om_api.domain.wire import encode_message
from om_api.hooks.asking import ask_all
from om_api.redaction.redactor import Redactions, Redactor
from om_api.store.reviews.drafts import Draft, ReflectionInput
from om_workers.prompts.parse import Observed, parse_observer, parse_reflector
from om_workers.work.sealed import Sealed
from om_workers.work.services import Services

_log = structlog.get_logger("om_workers")


class Hooks:
    """The hooks of agents, as Observer and Reflector ask them. Each of them raises HookError for one that says stop."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def any(self, scope: Scope, point: Point) -> bool:
        """Whether there is one: who has none pays nothing."""
        return bool(getattr(self._services.agent(scope).hooks, point))

    def heard(self, read: Sealed) -> list[Message]:
        """The messages of a chunk as the model is to read them: with other contents, or fewer of them."""
        redactor, told = self._redactor(read.scope), Redactions()
        seen = [redactor.message(each, told) for each in read.heard] if redactor else read.heard
        messages = [{**msgspec.json.decode(encode_message(each)), "at": each.at} for each in seen]
        given = {"thread": read.chunk.thread, "chunk": read.chunk.id, "messages": messages}
        said = self._ask(read.scope, "before_observe", given)["messages"]
        self._keep(read.scope, told)
        own = {message.id: message for message in seen}
        return [msgspec.structs.replace(own[each["id"]], content=each["content"]) for each in said]

    def observed(self, read: Sealed, observed: Observed) -> Observed:
        """What was noted of a chunk as it is to be kept; a text is read as a model's answer would be."""
        given = {
            "thread": read.chunk.thread,
            "chunk": read.chunk.id,
            "text": observed.text,
            "task": observed.current_task,
            "suggestion": observed.suggested_response,
            "extracted": observed.extracted,
        }
        said = self._cleaned(read.scope, self._ask(read.scope, "after_observe", given))
        noted = observed if said["text"] == observed.text else parse_observer(_block(said["text"]))
        return msgspec.structs.replace(
            observed,
            text=noted.text,
            priority=noted.priority,
            current_task=said["task"],
            suggested_response=said["suggestion"],
            no_task=not said["task"] and (observed.no_task or bool(observed.current_task)),
            no_suggestion=not said["suggestion"] and (observed.no_suggestion or bool(observed.suggested_response)),
            extracted=said["extracted"],
        )

    def texts(self, scope: Scope, texts: Sequence[str]) -> Mapping[str, str]:
        """What is to be condensed, by what it says, as the model is to read it; "" for what it is not to."""
        redactor, told = self._redactor(scope), Redactions()
        seen = [redactor.text(each, told) for each in texts] if redactor else list(texts)
        said = self._ask(scope, "before_reflect", {"thread": scope.thread, "texts": seen})
        self._keep(scope, told)
        found = dict[str, str]()
        for text, becomes in zip(texts, said["texts"], strict=True):  # of the same text twice, one may be left out
            found[text] = becomes or found.get(text, "")
        return found

    def reflected(self, read: ReflectionInput, draft: Draft) -> Draft:
        """A reflection as it is to be kept; its catalogue of groups stays what it is."""
        made, scope = draft.generation, read.state.scope
        parts = Catalogued.of(made.text, pooled=scope.thread is None)
        given = {"thread": scope.thread, "generation": made.n, "text": parts.without_entries()}
        said = self._cleaned(scope, self._ask(scope, "after_reflect", given))["text"]
        if said == given["text"]:
            return draft
        told = parse_reflector(_block(said))
        if not told.text:  # nothing but tags: a reflection cannot say nothing
            return draft
        text = "\n".join(filter(None, [told.text, written(parts.entries)]))
        tokens = self._services.count(text)
        made = msgspec.structs.replace(made, text=text, tokens=tokens, patterns=told.patterns, insights=told.insights)
        return msgspec.structs.replace(draft, generation=made)

    def _redactor(self, scope: Scope) -> Redactor | None:
        """Who redacts what models are sent: hooks see no more than these."""
        try:
            return self._services.redacting.before_models(scope.resource)
        except SettingsError as error:
            raise HookError(f"no hook is asked: {error}") from error

    def _keep(self, scope: Scope, told: Redactions) -> None:
        """Keep what hooks were not shown, and count it: no model is shown it either."""
        if told:
            self._services.run(self._services.redacting.keep(scope.resource, told))

    def _cleaned(self, scope: Scope, said: Given) -> Given:
        """What hooks wrote beside a model's answer, redacted as that is."""
        if (redactor := self._redactor(scope)) is None:
            return said
        told = Redactions()
        texts = {name: said[name] for name in ("text", "task", "suggestion", "extracted") if name in said}
        made = {**said, **redactor.value(texts, told)}
        self._services.run(self._services.redacting.keep(scope.resource, told))
        return made

    def _ask(self, scope: Scope, point: Point, given: dict[str, Any]) -> Given:
        """What the hooks of a point make of it; their failures are counted and told. Raises HookError."""
        private = self._services.settings.memory.webhooks.allow_private
        hooks = self._services.agent(scope).hooks.at(point)
        found = ask_all(point, hooks, {"resource": scope.resource, **given}, allow_private=private)
        for failed in found.failures:
            if self._services.events.hook_failed(scope.resource, failed):
                _log.warning("hook_failed", agent=scope.resource, point=point, hook=failed.hook.name, why=failed.why)
        return found.go_on(scope.resource, "nothing was lost, and it is tried again")


def _block(text: str) -> str:
    return f"<observations>\n{text}\n</observations>"
