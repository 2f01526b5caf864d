"""Posting to an address that somebody named: it is looked at before it is connected to, and no answer is read without end."""

import asyncio
import logging
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from ssl import SSLContext
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import httpx2

from om_api.domain.errors import InvalidInputError, OMError
from om_api.domain.extras import installed
from om_api.domain.webhooks.addresses import is_public
from om_api.domain.webhooks.webhook import check_url

_MOST_ADDRESSES = 3
_PORTS = {"https": 443, "http": 80}
_NOT_PUBLIC = "its host leads to an address that is not public: see webhooks.allow_private"
# of their own: names of a receiver that nobody answers for must keep nobody else's waiting
_RESOLVERS = ThreadPoolExecutor(32, thread_name_prefix="om-webhooks")


class NotPostedError(OMError):
    """Nothing came back: the text says why, and nothing of the address."""


class Posted(NamedTuple):
    """What was answered: its status, and its body as far as it was to be read."""

    status: int
    body: bytes = b""


def quiet(*loggers: str) -> None:
    """Have SDKs log errors only: httpx2 would log whole addresses."""
    for name in (*loggers, "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.ERROR)


quiet()


async def post(
    url: str, headers: Mapping[str, str], body: bytes, *, allow_private: bool, patience: float, most: int = 0
) -> Posted:
    """Post once; of the answer's body `most` bytes are read. No redirect is followed.

    `patience` bounds connecting, in seconds; who asks bounds the whole. Raises NotPostedError where nobody answered, or more
    than `most` came.

    Time 0: a name is looked up, and each of its addresses is judged. Time 1: whoever owns the name has it lead elsewhere.
    Time 2: we connect to an address that was judged; the name is not looked up again.
    """
    try:
        check_url(url, allow_private=allow_private)
        parts = urlsplit(url)
        addresses = await _addresses(parts)
    except InvalidInputError as error:
        raise NotPostedError(str(error)) from None
    except (OSError, UnicodeError):  # the second is of a name that no domain can have
        raise NotPostedError("its host name has no address") from None
    if not allow_private and not all(map(is_public, addresses)):
        raise NotPostedError(_NOT_PUBLIC)
    return await _post(url, headers, body, addresses[:_MOST_ADDRESSES], patience, most)


async def _addresses(parts: SplitResult) -> list[str]:
    loop, port = asyncio.get_running_loop(), parts.port or _PORTS[parts.scheme]
    found = await loop.run_in_executor(
        _RESOLVERS, lambda: socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    )
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def _post(
    url: str, headers: Mapping[str, str], body: bytes, addresses: Sequence[str], patience: float, most: int
) -> Posted:
    why = "cannot be reached"
    for address in addresses:
        try:
            return await _at(address, url, headers, body, patience / len(addresses), most)
        except httpx2.ConnectTimeout:
            why = "cannot be reached"
        except httpx2.ConnectError as error:
            bad = "CERTIFICATE_VERIFY_FAILED" in str(error)
            why = "its certificate cannot be trusted" if bad else "cannot be reached"
        except httpx2.HTTPError:
            raise NotPostedError("the connection broke") from None
    raise NotPostedError(why)


async def _at(address: str, url: str, headers: Mapping[str, str], body: bytes, connect_s: float, most: int) -> Posted:
    named, parts = httpx2.URL(url), urlsplit(url)
    async with (
        _client() as client,
        client.stream(
            "POST",
            named.copy_with(host=address),
            content=body,
            headers={**headers, "content-type": "application/json", "host": parts.netloc},
            timeout=httpx2.Timeout(None, connect=connect_s),
            extensions={"sni_hostname": parts.hostname},
        ) as answer,
    ):
        return Posted(answer.status_code, await _body(answer, most) if most else b"")


async def _body(answer: httpx2.Response, most: int) -> bytes:
    read = bytearray()
    async for part in answer.aiter_bytes():
        read += part
        if len(read) > most:
            raise NotPostedError(f"answered more than {most:,} bytes")
    return bytes(read)


def _client() -> httpx2.AsyncClient:
    """One for each attempt, of whatever event loop; a connection to an address may have been made for another name."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    agent = {"user-agent": f"cortex-om/{_version()}"}
    return httpx2.AsyncClient(verify=_trusted(), limits=limits, headers=agent, follow_redirects=False, trust_env=False)


@cache
def _version() -> str:
    return installed()


@cache
def _trusted() -> SSLContext:
    """Of the environment only SSL_CERT_FILE and SSL_CERT_DIR count: for whoever has authorities of their own."""
    return httpx2.create_ssl_context(trust_env=True)
