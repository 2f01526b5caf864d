"""Workers whose clocks are hours ahead or behind do everything that others do."""

import textwrap

import pytest
from processes import BEAT, WORKER
from world import wait_until

from om_api import Message
from om_api.store.driver.connection import Connection
from om_api.store.fleet import health
from om_api.store.memory.keys import Keys

# Python runs this at its start, before anything has asked for the time.
_SHIFT = textwrap.dedent("""
    import datetime, os, time

    _shift, _time, _right = float(os.environ.get("SHIFT_S", 0)), time.time, datetime.datetime

    class _Meta(type):
        def __instancecheck__(cls, value):
            return isinstance(value, _right)

    class _Shifted(_right, metaclass=_Meta):
        @classmethod
        def now(cls, tz=None):
            return _right.now(tz) + datetime.timedelta(seconds=_shift)

        @classmethod
        def utcnow(cls):
            return cls.now(datetime.timezone.utc).replace(tzinfo=None)

    time.time = lambda: _time() + _shift
    datetime.datetime = _Shifted
""")


@pytest.mark.parametrize("hours", [2, -2])
def test_a_worker_whose_clock_is_hours_off_observes_all_the_same(run, tmp_path, hours):
    """Breaks when a tick carries an hour at which it expires: a worker whose clock is ahead drops every one of them."""
    folder = tmp_path / "shifted"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_SHIFT)
    house = run(commands=(BEAT,), message_threshold="1000", min_recent_messages="0")
    house.spawn(*WORKER, PYTHONPATH=str(folder), SHIFT_S=str(hours * 3_600))
    ids = [f"m-{n}" for n in range(12)]
    for name in (*ids, *ids):  # the second time each is a duplicate, whoever's clock the worker goes by
        house.om.add_message(
            Message(role="user", content=name, id=name, thread_id="t-1", resource_id="harold", tokens=100)
        )

    wait_until(lambda: house.om.observations("harold"), "an observation", 60)
    context = house.om.get_context("t-1", "harold")
    raw, text = [message.id for message in context.messages], context.text
    assert [name for name in ids if (name in raw) + (f"[{name}]" in text) != 1] == []
    (worker,) = Connection(house.client).run(health.workers(Keys(house.prefix)))
    assert abs(worker.skew_ms - hours * 3_600_000) < 60_000
    assert house.om.verify() == []
