"""Sending a delivery to its webhook: to an address that was looked at, and nothing of the answer is read but its status."""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import httpx2

from om_api.domain.errors import InvalidInputError
from om_api.domain.extras import installed
from om_api.domain.webhooks import signing
from om_api.domain.webhooks.addresses import is_public
from om_api.domain.webhooks.delivery import Delivery
from om_api.domain.webhooks.webhook import Webhook, check_url
from om_workers.llm.connections import quiet

_MOST_ADDRESSES = 3
_PORTS = {"https": 443, "http": 80}
_NOT_PUBLIC = "its host leads to an address that is not public: see webhooks.allow_private"
# of their own: names of a receiver that nobody answers for must keep nobody else's waiting
_RESOLVERS = ThreadPoolExecutor(32, thread_name_prefix="om-webhooks")
quiet()  # httpx2 would log whole addresses


class Answer(NamedTuple):
    """How an attempt ended: `error` says why it failed, "" if it arrived; `gone`: the receiver wants nothing any more."""

    error: str = ""
    gone: bool = False


async def send(webhook: Webhook, delivery: Delivery, at: int, *, allow_private: bool, patience: float) -> Answer:
    """Make one attempt, signed at `at` (Unix s). Raises nothing for a receiver that fails; no redirect is followed.

    Time 0: a name is looked up, and each of its addresses is judged. Time 1: whoever owns the name has it lead elsewhere.
    Time 2: we connect to an address that was judged; the name is not looked up again.
    """
    try:
        check_url(webhook.url, allow_private=allow_private)
        parts = urlsplit(webhook.url)
        addresses = await _addresses(parts)
    except InvalidInputError as error:
        return Answer(str(error))
    except (OSError, UnicodeError):  # the second is of a name that no domain can have
        return Answer("its host name has no address")
    if not allow_private and not all(map(is_public, addresses)):
        return Answer(_NOT_PUBLIC)
    return await _post(webhook, delivery, at, addresses[:_MOST_ADDRESSES], patience)


async def _addresses(parts: SplitResult) -> list[str]:
    loop, port = asyncio.get_running_loop(), parts.port or _PORTS[parts.scheme]
    found = await loop.run_in_executor(
        _RESOLVERS, lambda: socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    )
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def _post(webhook: Webhook, delivery: Delivery, at: int, addresses: Sequence[str], patience: float) -> Answer:
    body, answer = delivery.body.encode(), Answer("cannot be reached")
    headers = {**signing.headers(webhook.secret, delivery.id, at, body), "content-type": "application/json"}
    for address in addresses:
        try:
            return _judged(await _status(webhook.url, address, headers, body, patience / len(addresses)))
        except httpx2.ConnectTimeout:
            answer = Answer("cannot be reached")
        except httpx2.ConnectError as error:
            bad = "CERTIFICATE_VERIFY_FAILED" in str(error)
            answer = Answer("its certificate cannot be trusted" if bad else "cannot be reached")
        except httpx2.HTTPError:
            return Answer("the connection broke")
    return answer


async def _status(url: str, address: str, headers: dict[str, str], body: bytes, connect_s: float) -> int:
    named, parts = httpx2.URL(url), urlsplit(url)
    headers = {**headers, "host": parts.netloc}
    async with _client().stream(
        "POST",
        named.copy_with(host=address),
        content=body,
        headers=headers,
        timeout=httpx2.Timeout(None, connect=connect_s),
        extensions={"sni_hostname": parts.hostname},
    ) as answer:
        return answer.status_code


@cache
def _client() -> httpx2.AsyncClient:
    """One for all; no connection is kept, since one to an address may have been made for another name.

    Of the environment only SSL_CERT_FILE and SSL_CERT_DIR count: for whoever has authorities of their own.
    """
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    agent = {"user-agent": f"cortex-om/{installed()}"}
    trusted = httpx2.create_ssl_context(trust_env=True)
    return httpx2.AsyncClient(verify=trusted, limits=limits, headers=agent, follow_redirects=False, trust_env=False)


def _judged(status: int) -> Answer:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Answer()
    if status == HTTPStatus.GONE:
        return Answer("answered 410", gone=True)
    redirects = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
    return Answer(f"answered {status}: redirects are not followed" if redirects else f"answered {status}")
