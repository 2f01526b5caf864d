import pytest

from om_api.domain.errors import ModelError
from om_bench.judged import patience
from om_bench.judged.patience import patiently


@pytest.fixture
def pauses(monkeypatch):
    taken = []
    monkeypatch.setattr(patience.time, "sleep", taken.append)
    return taken


def failing(*errors):
    left = list(errors)

    def ask():
        if left:
            raise left.pop(0)
        return "there"

    return ask


def test_who_is_away_is_asked_again(pauses):
    assert patiently(failing(ModelError("away"), ModelError("busy", retry_after=40))) == "there"
    assert len(pauses) == 2
    assert pauses[1] >= 40


def test_what_waiting_does_not_change_is_raised_at_once(pauses):
    with pytest.raises(ModelError, match="never"):
        patiently(failing(ModelError("never", retryable=False)))
    with pytest.raises(ModelError, match="key"):
        patiently(failing(ModelError("key", why="refused")), lambda error: error.why == "refused")
    assert pauses == []


def test_patience_ends_after_five_minutes(pauses):
    with pytest.raises(ModelError):
        patiently(failing(*[ModelError("busy", retry_after=100)] * 9))
    assert sum(pauses) <= 300
