"""Small cities, of a memory of each kind."""

import pytest

from om_bench.scale import city as module
from om_bench.scale import residents


@pytest.fixture(scope="package")
def few_models():
    """Three memories are made instead of dozens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(residents, "MIX", tuple(kind._replace(models=1) for kind in residents.MIX))
        patch.setattr(module, "LEAST", len(residents.MIX))
        yield


@pytest.fixture(scope="package")
def small(few_models):
    """Some agents on one server."""
    with module.city(100) as made:
        yield made
