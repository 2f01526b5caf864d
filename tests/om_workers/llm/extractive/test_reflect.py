from extracts import HIGH, LOW, block, reflect
from hypothesis import given, settings
from hypothesis import strategies as st

from om_workers.llm.extractive.notes import counted


def test_reflection_keeps_high_lines_and_their_dates():
    text = reflect(
        "\n".join(["Date: Dec 1, 2025", *LOW[:20]]),
        "\n".join(["Date: Dec 2, 2025", *HIGH, *LOW[20:]]),
        target_tokens=150,
    )

    assert counted(text) <= 150
    assert [line for line in block(text) if "🔴" in line] == HIGH
    assert "Date: Dec 2, 2025" in text


def test_reflection_keeps_thread_sections():
    one = f'<thread id="t-1">\nDate: Dec 1, 2025\n{HIGH[0]}\n</thread>'
    two = f'<thread id="t-2">\nDate: Dec 1, 2025\n{HIGH[1]}\n</thread>'
    again = f'<thread id="t-1">\nDate: Dec 2, 2025\n{HIGH[2]}\n</thread>'

    assert block(reflect(one, two, again)) == [
        '<thread id="t-1">', "Date: Dec 1, 2025", HIGH[0], "Date: Dec 2, 2025", HIGH[2], "</thread>",
        '<thread id="t-2">', "Date: Dec 1, 2025", HIGH[1], "</thread>",
    ]  # fmt: skip


def test_each_level_leaves_less():
    lines = "\n".join(["Date: Dec 2, 2025", *HIGH, *LOW])
    sizes = [len(reflect(lines, level=level)) for level in range(5)]

    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 5


def test_from_level_two_on_articles_go():
    line = "* 🔴 (09:00) User: the owner of the boat is Ada Byron"

    assert "the owner of the boat is" in reflect(line, level=0)
    assert "the" not in reflect(line, level=2)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=5), st.integers(0, 60), st.integers(-1, 6))
def test_a_reflection_of_anything_is_something(texts, target, level):
    reflected = block(reflect(*texts, target_tokens=target, level=level))

    assert bool(reflected) == any(text.strip() for text in texts)


def test_the_generation_in_force_is_reflected_once():
    assert block(reflect("* 🔴 new", previous="* 🔴 old")) == ["* 🔴 old", "* 🔴 new"]
    assert block(reflect("* 🔴 old", "* 🔴 new", previous="* 🔴 old")) == ["* 🔴 old", "* 🔴 new"]
