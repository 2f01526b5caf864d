"""What a process logs while its broker fails."""

import logging

from structlog.testing import capture_logs

from om_workers.tasks.outages import BrokerOutages


def test_an_outage_of_the_broker_is_one_line_and_another_when_it_is_over():
    """Catches a line, most of them with a traceback, for each retry: hundreds in an outage of a minute."""
    outages, full = BrokerOutages(), ValueError("OOM command not allowed when used memory > 'maxmemory'")

    def passes(text, *args, exc_info=None):
        return outages.filter(logging.LogRecord("celery", logging.ERROR, "", 1, text, args, exc_info))

    with capture_logs() as lines:
        for _ in range(2):
            assert passes("%s ready.", "celery@vm")
            for _ in range(3):
                assert not passes("consumer: Cannot connect to %s: %s.\n%s\n", "redis://:**@h/0", full, "retry")
                assert not passes("Frequent restarts detected: %r", full, exc_info=(ValueError, full, None))
                assert not passes("Message Error: %s\n%s", full, [], exc_info=(ValueError, full, None))
        assert passes("%s ready.", "celery@vm")
        outages.over()
    assert [line["event"] for line in lines] == ["broker_away", "broker_back"] * 2
    assert all("OOM" in line["error"] for line in lines[::2])
