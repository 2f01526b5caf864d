import json

from extracts import DATA, HIGH, LOW, block, chunks, load, observe, reflect
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
    assert [line[line.index("(") :] for line in block(text) if "parrots" in line] == [line[4:] for line in HIGH]
    assert text.count("🔴") == len(block(text)) // 4
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


def test_a_reflection_leaves_out_sentences_and_no_words():
    text = reflect(
        "Date: Dec 1, 2025\n* 🟡 Ilse: Some remark on lamps and their shades. I adopted 2 greyhounds in May. … It was the colour "
        "of a lamp.",
        target_tokens=50,
        level=2,
    )

    assert block(text) == ["Date: Dec 1, 2025", "* Ilse: I adopted 2 greyhounds in May."]


def test_a_day_has_one_heading_however_it_was_written():
    text = reflect(
        f"Date: Dec 2, 2025\n{HIGH[0]}", f"Date: 2025-12-02\n{HIGH[1]}", f"Date: December 2, 2025\n{HIGH[2]}"
    )

    assert block(text) == ["Date: Dec 2, 2025", *HIGH]


def test_condensing_holds_nine_tenths_of_what_observing_that_much_does():
    messages = load("planted")
    noted = [block(observe(*chunk, target_tokens=total // 4)) for chunk, total in chunks(messages)]
    whole = sum(total for _, total in chunks(messages))
    condensed = reflect(*("\n".join(lines) for lines in noted), target_tokens=whole // 7)
    observed = observe(*messages, target_tokens=whole // 7)

    assert len(told(condensed)) >= 0.9 * len(told(observed))


def told(text):
    facts = json.loads((DATA / "planted_facts.json").read_text(encoding="utf-8"))
    return [fact for fact in facts if any(all(key in line for key in fact["keys"]) for line in text.splitlines())]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=5), st.integers(0, 60), st.integers(-1, 6))
def test_a_reflection_of_anything_is_something(texts, target, level):
    reflected = block(reflect(*texts, target_tokens=target, level=level))

    assert bool(reflected) == any(text.strip() for text in texts)


def test_the_generation_in_force_is_reflected_once():
    assert block(reflect("* 🔴 new", previous="* 🔴 old")) == ["* 🔴 old", "* 🔴 new"]
    assert block(reflect("* 🔴 old", "* 🔴 new", previous="* 🔴 old")) == ["* 🔴 old", "* 🔴 new"]
