"""Who may ask for what: each route names a role, and the key is looked at before anything else of a request is read."""

import asyncio
import math
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from om_api.domain.api_keys import EVERY, ApiKey, ExpiredKeyError, Proof, Role, Token
from om_api.domain.audit.audit_entry import DID, Via
from om_api.domain.errors import StoreError
from om_api.domain.requests.request_rate import RequestRate
from om_api.domain.values import is_id
from om_api.http.requests.app_state import app_state
from om_api.http.requests.auditing import Audited, NotBoundError, audit_answer, audit_error
from om_api.http.requests.bounded import Bounded, bounded
from om_api.http.serving.limits import REDACTED_BODY, SMALL_BODY
from om_api.http.serving.shares import SHARE, Share
from om_api.settings.sections.fields import SettingOwner

ROLE, RESOURCES, MOST, WAITS, AUDITED = "x-role", "x-resources", "x-max-body", "x-waits", "x-audited"
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_READS = {"GET", "HEAD"}
_LOCAL = {"127.0.0.1", "localhost", "::1"}
_LOOPBACK = ApiKey(id="", role=Role.OPERATOR, resources=(EVERY,), hash="", created_at=0)
_BEARER = {"WWW-Authenticate": "Bearer"}


def needs(
    role: Role, *, of_all: bool = False, most: int = SMALL_BODY, waits: bool = False, audited: str = "", **told: Any
) -> dict[str, Any]:
    """What a route says of who may ask: the role a key must have for the resource in the path, or for every one.

    `most` bytes of a body are read. Whoever `waits`, for workers or for a body, takes none of its key's turns. `audited` is the
    verb by which the audit trail tells of it. `told` is what OpenAPI says of it besides.
    """
    said = {RESOURCES: EVERY if of_all else None, MOST: most if most != SMALL_BODY else None, WAITS: waits or None}
    said[AUDITED] = audited or None
    kept = {name: value for name, value in said.items() if value}
    return {"openapi_extra": {ROLE: role.value, **kept, "security": [{"key": []}], **told}}


class Guarded(APIRoute):
    """A route that lets nobody in who may not. It names a role, and if it operates a verb of the trail, or cannot be made."""

    via: Via = "http"
    of_pages = False  # whether our own pages ask for it in a browser

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        told = options.get("openapi_extra") or {}
        self.role, self.of_all = Role(told[ROLE]), told.get(RESOURCES) == EVERY
        self._most, self._waits = told.get(MOST, SMALL_BODY), told.get(WAITS, False)
        super().__init__(path, endpoint, **options)
        self.audited = Audited(told.get(AUDITED, ""), self.name, self.via)
        _check_audited(self, self.audited.did)

    @property
    def takes_body(self) -> bool:
        """Whether a body is read, before the request waits for its turn."""
        return self.body_field is not None

    def get_route_handler(self) -> Handler:
        """Ask who is there, then read and handle."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Any:
            try:
                with _answered_when_cancelled():
                    return await self._let_in(handle, request)
            except Exception as error:
                await audit_error(request, self.audited, error)
                raise

        return guarded

    async def _let_in(self, handle: Handler, request: Request) -> "Shared":
        request.state.of_pages = self.of_pages
        request.state.proof = await self.proof(request)
        await admit(request, self.role, of_all=self.of_all)
        await _keep_pace(request)
        share = app_state(request).shares.enter(key_of(request).id)
        SHARE.set(share)
        try:
            answer = await self._handled(handle, request, share)
            await audit_answer(request, self.audited, answer)
        except BaseException:
            share.close()
            raise
        return Shared(answer, share)

    async def proof(self, request: Request) -> Proof | None:
        """What a request shows of its key; None where it shows nothing, or what no key has."""
        scheme, _, text = request.headers.get("authorization", "").partition(" ")
        token = Token.parse(text.strip()) if scheme.lower() == "bearer" else None
        return token.proof if token else None

    async def _handled(self, handle: Handler, asked: Request, share: Share) -> Response:
        """Read the body, wait for a turn, and answer."""
        request = bounded(asked, self._most, share.hold if self.takes_body else lambda _: None)
        try:
            if self.takes_body:
                share.large = len(await request.body()) > REDACTED_BODY and redacts(asked)
            async with nullcontext() if self._waits else share.lane.turns:
                if request.method == "GET":
                    await _may_read(asked, share)
                await self.prepare(request, share)
                return await handle(request)
        except ClientDisconnect:
            raise HTTPException(400, "the body ended too soon: send it again") from None
        finally:
            share.handled()

    async def prepare(self, request: Bounded, share: Share) -> None:
        """What a route does with a body that was read, before it is checked: nothing, unless it says so."""


class Shared:
    """An answer that gives back its request's share when it is sent, or cannot be."""

    def __init__(self, response: Response, share: Share) -> None:
        self._response, self._share = response, share

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await self._response(scope, receive, send)
        finally:
            self._share.close()


@contextmanager
def _answered_when_cancelled() -> Iterator[None]:
    """Answer a request that uvicorn cancels because the process stops and its grace is over: nobody else cancels one."""
    try:
        yield
    except asyncio.CancelledError:
        raise _stopped() from None


def redacts(request: Request) -> bool:
    """Whether the body of a request may be redacted, which takes longer than all other work on it."""
    resource = request.path_params.get("resource")
    if resource is None:
        return True  # a tool of MCP names its resource in the body
    return is_id(resource) and app_state(request).settings.for_agent(resource).redaction.is_on


async def _may_read(request: Request, share: Share) -> None:
    """Wait until the store may be asked; raises StoreError at once in a process that stops."""
    try:
        async with app_state(request).stopping.ends():
            await share.read()
    except TimeoutError:
        raise _stopped() from None


def _stopped() -> StoreError:
    return StoreError("the API stopped before it had an answer: repeat the request", stored=None)


def _check_audited(route: Guarded, did: str) -> None:
    """Raise where what an operator may do would not be told of."""
    if did not in DID and (did or (route.role is Role.OPERATOR and not {*(route.methods or ())} <= _READS)):
        raise ValueError(
            f"{route.path}: {did!r} is no verb of the audit trail; say needs(…, audited=…), one of {[*DID]}"
        )


async def admit(request: Request, role: Role, *, of_all: bool = False) -> None:
    """Return when the request's key permits this; raises HTTPException 401 without one, 403 where it does not."""
    request.state.key = key = await _key(request)  # the log names it, above all where it is refused
    if not key.role.includes(role):
        raise HTTPException(403, f"this key is a {key.role}'s: {role} is needed here (om keys create --role {role})")
    resource = EVERY if of_all else request.path_params.get("resource")
    if resource is not None:
        bound(key, str(resource))


def owner(request: Request) -> SettingOwner:
    """The owner level of the request's key. Without keys the caller is on this machine, and may change every setting."""
    if not app_state(request).locked:
        return SettingOwner.ADMINISTRATOR
    return SettingOwner.OPERATOR if key_of(request).role.includes(Role.OPERATOR) else SettingOwner.AGENT


def bound(key: ApiKey, resource: str) -> None:
    """Return when a key is bound to a resource; raises HTTPException 403."""
    if not key.covers(resource):
        names = ", ".join(key.resources)[:200]
        raise NotBoundError(resource, f"this key is bound to {names}: use one that is bound to {resource[:200]}")


def composing(request: Request, also: Collection[str]) -> dict[str, Any]:
    """Whose notes count too, as the client takes it: of what `compose` says, that which the key is bound to.

    Raises HTTPException 403 for one that is asked for and that the key is not bound to.
    """
    key = key_of(request)
    for name in also:
        bound(key, name)
    return {"also": list(also), "may_read": key.covers}


def whose(key: ApiKey, asked: Collection[str]) -> Collection[str]:
    """The resources of which something is shown, () for all; raises HTTPException 403 for what a key is not bound to."""
    for name in asked:
        bound(key, name)
    names = asked or key.resources
    if not names:
        raise HTTPException(403, "this key is bound to no resource: om keys create makes one that is")
    return () if EVERY in names else names


async def _key(request: Request) -> ApiKey:
    if not app_state(request).locked:
        return _local(request)
    try:
        key = await app_state(request).recognise(request.state.proof)
    except ExpiredKeyError as error:
        raise HTTPException(401, str(error), _BEARER) from None
    if key is None:
        raise HTTPException(
            401, "send a key in the header Authorization: Bearer om_…; om keys create makes one", _BEARER
        )
    return key


async def _keep_pace(request: Request) -> None:
    """Count a request of a key that has a rate; raises HTTPException 429 where that is one too many."""
    key = key_of(request)
    if wait := await app_state(request).pace(key):
        after = math.ceil(wait)
        why = f"this key may make {RequestRate.parse(key.rate)}: repeat in {after} s, or ask less often"
        raise HTTPException(429, why, {"Retry-After": str(after)})


def _local(request: Request) -> ApiKey:
    """Without keys whoever is on this machine may do everything: programs and our own pages, but no other page in a browser."""
    foreign = not of_own_page(request) if request.state.of_pages else "origin" in request.headers
    if request.url.hostname not in _LOCAL or foreign:
        raise HTTPException(
            403, "without keys this answers programs on this machine only: name it 127.0.0.1, send no Origin"
        )
    return _LOOPBACK


def of_own_page(request: Request) -> bool:
    """Whether a request comes from one of our own pages, or from what is no page, as far as a browser says."""
    own = f"{request.url.scheme}://{request.url.netloc}"
    return request.headers.get("origin", own) == own


def key_of(request: Request) -> ApiKey:
    """The key of the request that is being handled."""
    key: ApiKey = request.state.key
    return key
