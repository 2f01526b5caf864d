"""The beat sends ticks while few wait, and goes on by itself after an outage."""

import contextlib
import signal

import pytest
from celery.apps.beat import Beat
from celery.beat import Scheduler as CelerysScheduler
from celery.beat import SchedulingError, Service

from om_api import load_settings
from om_workers.app import app, make_app
from om_workers.tasks import wiring
from om_workers.tasks.schedule import Scheduler


def test_the_beat_adds_no_tick_to_a_queue_in_which_others_wait(rail):
    """Catches ticks that pile up while no worker runs: an hour's outage left 840 of them before any work."""
    made, dispatch = rail
    beat = Scheduler(made, lazy=True)
    beat.setup_schedule()
    sent = [beat.apply_async(beat.schedule["om.observer_tick"], advance=False) is not None for _ in range(15)]

    assert sent == [True] * 11 + [False] * 4
    assert dispatch.waiting("ticks") == 11


@pytest.fixture
def said(monkeypatch, tmp_path):
    """The file with which a beat says that a tick is on its way."""
    file = tmp_path / "beat"
    monkeypatch.setattr(wiring, "settings", lambda: load_settings(environ={"OM_BEAT_FILE": str(file)}))
    return file


@pytest.mark.parametrize("wait", [0, 20])
def test_a_beat_says_whenever_a_tick_is_on_its_way_or_others_still_wait(rail, said, wait):
    """Catches a health check that only sees a process: one that hangs would stay healthy."""
    made, _ = rail
    beat = Scheduler(made, lazy=True)
    beat.setup_schedule()
    for _ in range(wait + 1):
        said.unlink(missing_ok=True)
        beat.apply_async(beat.schedule["om.observer_tick"], advance=False)

    assert said.exists()


def test_a_beat_whose_broker_is_away_says_nothing(said):
    made = make_app(load_settings(environ={"OM_BROKER_URL": "redis://127.0.0.1:1/0"}))
    app.set_default()
    beat = Scheduler(made, lazy=True)
    beat.setup_schedule()

    with pytest.raises(SchedulingError):
        beat.apply_async(beat.schedule["om.observer_tick"], advance=False)
    assert not said.exists()


def test_the_beat_sends_a_sweep_behind_the_adoptions_of_a_large_fleet(rail):
    """Catches a sweep that waits for ever where plain writers keep every worker adopting."""
    made, dispatch = rail
    beat = Scheduler(made, lazy=True)
    beat.setup_schedule()
    for _ in range(50):
        dispatch.adopt("a-key")

    assert beat.apply_async(beat.schedule["om.sweep"], advance=False)
    assert dispatch.waiting("maintenance") == 51


def test_a_beat_sends_ticks_again_when_its_broker_is_back(rail, monkeypatch):
    """Catches a length that is asked for on the beat's own channel: after an outage no tick was ever sent again."""
    made, dispatch = rail
    beat = Scheduler(made, lazy=True)
    beat.setup_schedule()
    monkeypatch.setattr(
        Scheduler, "producer", property(lambda _: pytest.fail("a channel of before the outage was asked"))
    )

    assert beat.apply_async(beat.schedule["om.observer_tick"], advance=False)
    assert dispatch.waiting("ticks") == 1


@pytest.fixture
def _handlers():
    """Those that the tests' own process has."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.usefixtures("_handlers")
def test_a_beat_that_is_told_to_end_in_a_callback_ends_with_the_next_tick(rail, monkeypatch, number):
    """Catches Celery's own way: what a handler raises within a weak reference's callback is printed, and forgotten."""
    ticks = []

    def tick(_):
        ticks.append(number)
        assert len(ticks) < 20, "it goes on and on"
        with contextlib.suppress(SystemExit):  # as such a callback does
            signal.raise_signal(number)

    monkeypatch.setattr(CelerysScheduler, "tick", tick)
    made, _ = rail
    service = Service(made, scheduler_cls=Scheduler)
    Beat(app=made).install_sync_handler(service)
    service.start()

    assert len(ticks) == 1
