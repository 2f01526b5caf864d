import pytest
from world import World

from om_api import load_settings
from om_workers.app import CeleryQueues, app, make_app


@pytest.fixture
def world(client, prefix) -> World:
    """A house with thresholds of 1,000 and 4,000 tokens: a message of 100 tokens is a tenth of a window."""
    return World(client, prefix)


@pytest.fixture
def rail():
    """An application whose broker is in this process, and who passes work on through it."""
    made = make_app(load_settings(environ={"OM_BROKER_URL": "memory://"}))
    yield made, CeleryQueues(made)
    made.control.purge()  # the broker is in this process, for whoever comes next
    app.set_default()
    made.close()
