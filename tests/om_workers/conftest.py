import pytest

from om_api import load_settings
from om_workers.app import CeleryQueues, app, make_app


@pytest.fixture
def rail():
    """An application whose broker is in this process, and who passes work on through it."""
    made = make_app(load_settings(environ={"OM_BROKER_URL": "memory://"}))
    yield made, CeleryQueues(made)
    made.control.purge()  # the broker is in this process, for whoever comes next
    app.set_default()
    made.close()
