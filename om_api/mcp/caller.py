"""Who asks over MCP: what its key permits, and what its host has said already, so that a model need not say it."""

from collections.abc import Collection
from typing import Any, NamedTuple

from om_api.domain.api_keys import EVERY, ApiKey, Role
from om_api.domain.audit.audit_entry import who_of
from om_api.domain.errors import InvalidInputError
from om_api.domain.naming.ids import any_name
from om_api.domain.values import check_id

RESOURCE, THREAD = "resource_id", "thread_id"


class CallerRefusedError(InvalidInputError):
    """A caller asked for what its key does not permit."""


class Caller(NamedTuple):
    """A key, and the resource and the thread that are meant wherever one must be named; "" where a call has to name it.

    `user` is who started a server of its own, user@host.
    """

    key: ApiKey
    resource: str = ""
    thread: str = ""
    user: str = ""

    @property
    def who(self) -> tuple[str, str]:
        """By which name, and which label, the audit trail tells of it."""
        return (self.user, "") if self.user else who_of(self.key)

    @property
    def said(self) -> dict[str, str]:
        """The arguments that are known before a call."""
        return {name: value for name, value in ((RESOURCE, self.resource), (THREAD, self.thread)) if value}

    def may_read(self, resource: str) -> bool:
        """Whether another memory's notes may be shown; whoever starts a server of its own is shown what its settings compose."""
        return bool(self.user) or self.key.covers(resource)

    def composing(self, also: Collection[str]) -> dict[str, Any]:
        """Whose notes count too, as the client takes it; raises CallerRefusedError for one that the key is not bound to."""
        for name in also:
            self.check(name, "also")
        return {"also": list(also), "may_read": self.may_read}

    def check(self, resource: str, argument: str = RESOURCE) -> None:
        """Return for a resource that the key is bound to; raises CallerRefusedError for another."""
        if not self.key.covers(resource):
            bound = ", ".join(self.key.resources)[:200]
            raise CallerRefusedError(
                f"the key in use is bound to {bound}, not to {resource}: {argument} can be no other"
            )


def local_caller(resource: str = "", thread: str = "", role: Role = Role.OPERATOR, user: str = "") -> Caller:
    """Whoever started a server of its own, user@host: it may ask for every resource, or for the one that it named."""
    key = ApiKey(id="", role=role, resources=(resource or EVERY,), hash="", created_at=0)
    return caller_of(key, resource, thread)._replace(user=user)


def caller_of(key: ApiKey, resource: str = "", thread: str = "") -> Caller:
    """Whoever has a key; of one that is bound to a single resource, that is meant. Raises InvalidInputError for bad ids."""
    only = key.resources[0] if len(key.resources) == 1 and EVERY not in key.resources else ""
    resource, thread = (
        name and check_id(any_name(name), what) for name, what in ((resource, RESOURCE), (thread, THREAD))
    )
    return Caller(key, resource or only, thread)
