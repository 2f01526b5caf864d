"""What became of messages is told once for each of them."""

from om_api.client.receipts import ReceiptTally
from om_api.domain.identity import Said
from om_api.store.memory.push import Pushed


def test_each_message_is_told_once():
    tally = ReceiptTally()
    tally.take(Pushed(2, ("same",), (), (), 0))
    tally.said("grown", Said.GROWN, sealed=True)
    tally.said("raw", Said.CHANGED, sealed=False)
    tally.said("sealed", Said.CHANGED, sealed=True)
    tally.said("replaced", Said.REPLACED, sealed=False)
    tally.said("met again", Said.SAME, sealed=False)
    receipt = tally.receipt(["a", "b"])

    assert (receipt.ids, receipt.added) == (("a", "b"), 2)
    assert receipt.duplicates == ("same", "met again")
    assert (receipt.grown, receipt.replaced) == (("grown",), ("replaced",))
    assert [each.id for each in receipt.changed] == ["raw", "sealed"]


def test_who_meets_something_else_is_told_what_to_do():
    tally = ReceiptTally()
    for sealed in (False, True):
        tally.said("m-1", Said.CHANGED, sealed=sealed)
    raw, observed = (each.advice for each in tally.receipt([]).changed)

    assert "with `replace`" in raw
    assert "replace" not in observed
    assert all("an id of its own" in advice for advice in (raw, observed))
