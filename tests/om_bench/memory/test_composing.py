"""What composed memories cost a prompt cache, measured on a talk of a few messages."""

from om_bench.harness.talks import Talk, turn
from om_bench.memory import composing


def talk(name):
    said = [
        turn(f"{name}-{n}", "user", f"{name} tells of the number {n} " * 30, 1_763_600_000_000 + n, name)
        for n in range(40)
    ]
    return Talk(name=name, messages=tuple(said), questions=())


def test_others_notes_are_read_and_move_nothing_between_own_activations_but_at_the_end():
    (found, *_) = composing.measure([talk(name) for name in ("a", "b", "c")], 2, ["message_threshold=1000"])

    assert (found.talk, found.others, found.contexts) == ("a", 2, 40)
    assert found.moved == found.joined
    assert found.shown > 0
    assert found.composed > 80


def test_the_figures_are_a_table():
    (row,) = composing.as_lines([composing.ComposedReplay("a", 3, 100, 98.5, 98.4, 2, 2, 1_234)])[2:]

    assert row == "| a | 100 | 98.50 % | 98.40 % | 2 | 2 | 1,234 |"
