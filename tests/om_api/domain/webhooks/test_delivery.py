"""A delivery is named by what it is, and tried again by a table."""

import msgspec
import pytest

from om_api.domain.events import Event
from om_api.domain.webhooks.delivery import ATTEMPTS, delivery_of, wait_s
from om_api.domain.webhooks.webhook import Webhook

HOOK = Webhook(id="3f1c20a9be77", url="https://example.org", secret="whsec_")


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(1, 15), (2, 60), (3, 240), (4, 960), (5, 3_840), (6, 15_360), (7, 61_440)]
)
def test_each_wait_is_four_times_the_one_before_spread_by_a_fifth(attempts, seconds):
    assert wait_s(attempts, 0.5) == seconds
    assert wait_s(attempts, 0) == pytest.approx(0.8 * seconds)
    assert wait_s(attempts, 1) == pytest.approx(1.2 * seconds)


def test_after_eight_attempts_over_about_a_day_it_is_given_up():
    waits = [wait_s(attempt, 0.5) for attempt in range(1, ATTEMPTS)]

    assert (ATTEMPTS, round(sum(waits) / 3_600)) == (8, 23)
    assert wait_s(ATTEMPTS, 0.5) is None


def test_a_delivery_holds_the_event_as_it_is_read_over_http_and_has_one_name_for_ever():
    event = Event(kind="reflected", id="1763630400000-7", at=1_763_630_400_000, resource="harold", generation=3)
    delivery = delivery_of(HOOK, event)

    assert delivery == delivery_of(HOOK, event)
    assert delivery.id == "msg_3f1c20a9be77_1763630400000-7_reflected"
    assert delivery.body.encode() == msgspec.json.encode(event)


def test_deliveries_stand_in_the_order_of_their_events():
    orders = [
        delivery_of(HOOK, Event(kind="failed", id=name)).order
        for name in ("1763630400000-2", "1763630400000-10", "1763630400000-4095", "1763630400001-0")
    ]

    assert orders == sorted(set(orders))
