"""What is measured of a memory message by message."""

from statistics import mean

from benches import PLANTED

from om_api.domain.tokens import counter
from om_bench.harness.pipeline import RECOMMENDED
from om_bench.harness.talks import Talk
from om_bench.memory.quality import CacheReplay, online
from om_bench.memory.recall import read_told


def test_a_prompt_cache_serves_almost_all_of_what_is_read_call_after_call():
    talk = Talk("planted", tuple(read_told(PLANTED[1], "told")), ())
    found = online([talk], counter(), ("message_threshold=3000", *RECOMMENDED))

    assert mean(found.prefix_share) >= 0.97
    assert mean(found.phi) <= 1.4
    assert mean(found.window_phi) > 5 * mean(found.phi)
    assert 5 <= mean(found.compression) <= 40


def replay(*texts, appended=1):
    made = CacheReplay(lambda text: len(text.split()))
    for text in texts:
        made.read(text, appended)
    return made


def test_a_history_that_only_grows_is_served_again_whole():
    grown = replay("one", "one two", "one two three")

    assert (grown.share, grown.phi) == (1.0, 1.0)


def test_what_changes_at_the_beginning_is_read_afresh():
    changed = replay("one two three", "two three four")

    assert (changed.share, changed.phi) == (0.0, 3.0)


def test_one_context_has_nothing_to_be_compared_with():
    assert (replay("one").share, replay("one").phi) == (1.0, 0.0)


def test_a_context_is_compared_with_the_one_before_it_in_its_own_thread():
    made = CacheReplay(len)
    for thread, text in (("a", "one"), ("b", "two"), ("a", "one and more"), ("b", "two and more")):
        made.read(text, 9, thread)

    assert (made.share, made.phi) == (1.0, 1.0)
