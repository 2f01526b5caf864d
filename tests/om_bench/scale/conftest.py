"""Small populations, of a memory of each kind."""

import pytest

from om_bench.scale import population as module
from om_bench.scale import templates


@pytest.fixture(scope="package")
def few_templates():
    """Three memories are made instead of dozens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(templates, "MIX", tuple(kind._replace(templates=1) for kind in templates.MIX))
        patch.setattr(module, "LEAST", len(templates.MIX))
        yield


@pytest.fixture(scope="package")
def small(few_templates):
    """Some agents on one server."""
    with module.population(100) as made:
        yield made
