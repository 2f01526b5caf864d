from om_bench.scale.templates import KNOWN, MIX, NEW, OLD


def test_the_memories_of_each_kind_are_what_the_kind_says(small):
    """Catches thresholds under which nobody reflects, or everything is condensed at once."""
    new, known, old = (small.running.om.stats(f"template-{kind.name}-000") for kind in (NEW, KNOWN, OLD))

    assert (new.observations, new.generation, new.threads) == (0, 0, 1)
    assert (known.observed_messages, known.generation) == (KNOWN.sittings * KNOWN.messages, 0)
    assert known.observations > 1
    assert (old.observed_messages, old.generation, old.threads) == (
        OLD.sittings * OLD.messages,
        OLD.reflections,
        OLD.threads,
    )
    assert all(each.message_tokens for each in (new, known, old))


def test_the_kinds_are_all_there_are():
    assert sum(kind.percent for kind in MIX) == 100
