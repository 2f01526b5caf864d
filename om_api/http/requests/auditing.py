"""What a request did, and what it was refused, told to the audit trail before it is answered."""

from http import HTTPStatus
from typing import Any, NamedTuple

import structlog
from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError

from om_api.domain.api_keys import EVERY, ApiKey, Role
from om_api.domain.audit.audit_entry import AuditEntry, Ending, Via, who_of
from om_api.domain.errors import InvalidInputError, NotFoundError, StoreError
from om_api.http.requests.app_state import memory
from om_api.settings import Settings
from om_api.store.lines.correcting import LineChange
from om_api.store.lines.pinning import Pinned

MOST_OF_AGENTS = 200  # entries of one verb within an hour, of a key that is no operator's
LOST = {"Om-Audit": "not-written"}  # beside an answer whose entry the store did not take
_REFUSED = "refused"
_log = structlog.get_logger("om_api.http")


class Audited(NamedTuple):
    """What a route says of itself: its verb, "" where nothing is told but refusals; its name, and by which door it is reached."""

    did: str
    name: str
    via: Via


class NotBoundError(HTTPException):
    """A key is not bound to the `resource` that was asked for."""

    def __init__(self, resource: str, detail: str) -> None:
        super().__init__(HTTPStatus.FORBIDDEN, detail)
        self.resource = resource


async def audit(
    request: Request,
    did: str,
    resource: str = "",
    *,
    thread: str = "",
    of: str = "",
    outcome: Ending = "done",
    ended: str = "",
    status: int = 0,
    via: Via = "page",
) -> bool:
    """Tell that whoever asks did something; False, and an error in the log, where the store did not take it.

    Call it once the thing is done, and before it is answered. `did` is a verb of the table DID; `of` names what it was done to.
    """
    key: ApiKey = request.state.key
    who, label = who_of(key)
    entry = AuditEntry(
        did=did, via=via, who=who, label=label, resource=resource, thread=thread, of=of, outcome=outcome, ended=ended,
        status=status,
    )  # fmt: skip
    try:
        await memory(request).add_audit(entry, None if key.role.includes(Role.OPERATOR) else MOST_OF_AGENTS)
    except StoreError as error:
        why = Settings.safe_url(str(error))
        _log.error("audit_entry_lost", did=did, key=who, resource=resource, of=of, outcome=outcome, error=why)
        return False
    return True


def audit_as(request: Request, **said: str) -> None:
    """Say what a route's path does not: `resource`, `thread`, `of`, how it `ended`, or another `did` ("": nothing changes)."""
    request.state.audit_as = {**getattr(request.state, "audit_as", {}), **said}


def audit_line(request: Request, done: LineChange | Pinned) -> None:
    """Say which line something was done to: the observation or generation that it stands in, or its pin; and how that ended."""
    if isinstance(done, Pinned):
        audit_as(request, thread=done.pin.thread, of=done.pin.id, ended=done.outcome)
    else:
        stands = done.observation_id or f"generation {done.generation}"
        audit_as(request, thread=done.thread_id, of=stands, ended=done.outcome)


async def audit_answer(request: Request, route: Audited, answer: Response) -> None:
    """Tell of a request that was carried out, if its route is told of."""
    told = _told(request, route)
    if not told["did"]:
        return
    told = {"ended": getattr(answer, "outcome", "")} | told
    outcome: Ending = "done" if answer.status_code < HTTPStatus.BAD_REQUEST else "failed"
    if not await audit(request, **told, outcome=outcome, status=answer.status_code, via=route.via):
        answer.headers.update(LOST)


async def audit_error(request: Request, route: Audited, error: Exception) -> None:
    """Tell of a known key's request that was refused, or that failed when something may have been done."""
    key: ApiKey | None = getattr(request.state, "key", None)
    status, told = _status(error), _told(request, route)
    if key is None:
        return
    if status == HTTPStatus.FORBIDDEN:
        resource = error.resource if isinstance(error, NotBoundError) else told["resource"]
        whose = {"resource": "" if resource == EVERY else resource}
        whole = told if told["did"] else {**told, "did": _REFUSED, "of": route.name}
        await audit(request, **{**whole, **whose}, outcome="refused", status=status, via=route.via)
    elif told["did"] and not _changed_nothing(error):
        await audit(request, **told, outcome="failed", status=status, via=route.via)


def _told(request: Request, route: Audited) -> dict[str, Any]:
    path = request.path_params
    own = [str(value) for name, value in path.items() if name not in {"resource", "thread"}]
    thread = path.get("thread") or request.query_params.get("thread_id", "")
    said = {"did": route.did, "resource": path.get("resource", ""), "thread": thread, "of": ", ".join(own)}
    return said | getattr(request.state, "audit_as", {})


def _status(error: Exception) -> int:
    if isinstance(error, HTTPException):
        return error.status_code
    if isinstance(error, StoreError):
        return HTTPStatus.SERVICE_UNAVAILABLE
    if isinstance(error, NotFoundError):
        return HTTPStatus.NOT_FOUND
    return HTTPStatus.UNPROCESSABLE_ENTITY if isinstance(error, InvalidInputError) else HTTPStatus.INTERNAL_SERVER_ERROR


def _changed_nothing(error: Exception) -> bool:
    """Whether a request was turned away before anything was done: malformed, too much in flight, a store that is away."""
    if isinstance(error, StoreError):
        return error.stored is False
    return isinstance(error, HTTPException | RequestValidationError)
