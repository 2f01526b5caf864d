"""RabbitMQ asked how many tasks wait: by a passive declaration of each queue, which changes nothing and needs no plugin."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from om_api.domain.errors import StoreError
from om_api.settings.sections.urls import safe_url

try:
    import amqp
    from amqp.exceptions import AMQPError, NotFound
except ModuleNotFoundError:  # it comes with the workers
    amqp = None

_SCHEMES = {"amqp": False, "pyamqp": False, "amqps": True}  # whether by TLS
_PORT, _TLS_PORT = 5672, 5671


class _Address(NamedTuple):
    """One server of a broker's URL, as the client takes it."""

    host: str
    userid: str
    password: str
    virtual_host: str
    ssl: bool


def is_rabbitmq_url(url: str) -> bool:
    """Say whether an address, or the first of several with ; between them, is one of RabbitMQ."""
    return url.partition("://")[0] in _SCHEMES


def waiting(url: str, queues: Sequence[str], timeout: float = 5.0) -> dict[str, int]:
    """How many tasks wait in each queue that no worker has taken; 0 in one that nobody has declared yet.

    Of several addresses the first that answers is asked. Raises StoreError when none does, each within `timeout` (s).
    """
    if amqp is None:
        raise StoreError(
            "nobody here can ask RabbitMQ: its client is not installed, pip install 'cortex-om[workers]' brings it"
        )
    refused = ""
    for each in url.split(";"):
        try:
            with amqp.Connection(**_address(each)._asdict(), connect_timeout=timeout, read_timeout=timeout) as broker:
                return {name: _length(broker, name) for name in queues}
        except (AMQPError, OSError, ValueError) as error:
            refused = f"{safe_url(each)}: {str(error)[:200] or type(error).__name__}"
    raise StoreError(f"RabbitMQ did not answer at {refused}. Check that it runs and OM_BROKER_URL points at it")


def _address(url: str) -> _Address:
    parts = urlsplit(url)
    tls = _SCHEMES[parts.scheme]
    where = f"{parts.hostname or '127.0.0.1'}:{parts.port or (_TLS_PORT if tls else _PORT)}"
    login = unquote(parts.username or "guest"), unquote(parts.password or "guest")
    return _Address(where, *login, unquote(parts.path.removeprefix("/")) or "/", tls)


def _length(broker: Any, queue: str) -> int:
    try:
        return int(broker.channel().queue_declare(queue, passive=True).message_count)
    except NotFound:  # which closes the channel
        return 0
