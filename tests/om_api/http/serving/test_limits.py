"""The numbers of what a process may hold fit together."""

from om_api.http.serving import limits
from om_api.settings.sections.api_settings import ApiSettings
from om_api.store.driver.opening import POOL


def test_the_numbers_of_a_stream_fit_together():
    assert limits.LOOK_S < limits.BEAT_S
    assert ApiSettings().streams < POOL
