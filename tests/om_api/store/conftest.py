"""What the store's modules say is said to a fake server as well: another Lua, other replies, the same memory."""

from typing import Any

import pytest
from conftest import BACKENDS, ON_A_CLUSTER

_BOTH = pytest.mark.parametrize("client", BACKENDS if ON_A_CLUSTER else ["fakeredis", *BACKENDS], indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: Any) -> None:
    """On both, unless a test says on what."""
    says = (mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "client" in metafunc.fixturenames and "client" not in says:
        metafunc.definition.add_marker(_BOTH)
