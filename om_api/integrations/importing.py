"""A framework that is not installed, or too old, said in one line with what brings it."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from om_api.domain.extras import MissingExtraError


@contextmanager
def importing(distribution: str, extra: str) -> Iterator[None]:
    """Import what an adapter stands on within this; raises MissingExtraError where it is not there, or not as it is needed."""
    try:
        yield
    except ImportError as error:
        brings = f"pip install --upgrade 'cortex-om[{extra}]'"
        try:
            found = version(distribution)
        except PackageNotFoundError:
            raise MissingExtraError(f"{distribution} is not installed: {brings} brings it") from error
        raise MissingExtraError(
            f"{distribution} {found} does not fit ({error}): {brings} brings one that does"
        ) from error
