"""How the notes of an activation are laid out."""

from om_api.domain.notes.activations import SMALL, sections, tokens_of_text, wrappers
from om_api.domain.values import Observation

DAY, NEXT = "Date: Nov 20, 2025", "Date: Nov 21, 2025"


def shown(**texts):
    return "\n".join(section.written(str) for section in sections({n.replace("_", "-"): t for n, t in texts.items()}))


def test_sections_of_neighbours_are_labels_and_a_date_line_is_not_repeated():
    texts = {
        "a": f"{DAY}\n* one\n  * -> two",
        "b": f"{DAY}\n* three\n{NEXT}\n* four",
        "c": f"{NEXT}\n* five",
        "d": f"{DAY}\n* six",
    }
    assert shown(**texts) == (
        f"{DAY}\n[a]\n* one\n  * -> two\n[b]\n* three\n{NEXT}\n* four\n[c]\n* five\n{DAY}\n[d]\n* six"
    )
    parted = {
        "a": f"{DAY}\n* one",
        "b": f"{DAY}\n* two",
        "c": "* undated",
        "d": f"{DAY}\n* three",
        "e": f"{DAY}\n* four",
    }
    assert shown(**parted).endswith(f"* undated\n</thread>\n{DAY}\n[d]\n* three\n[e]\n* four")
    alone = f'<thread id="a">\n{DAY}\n* one\n</thread>'
    assert shown(a=f"{DAY}\n* one") == alone
    for other in (
        f"{DAY}\n* {'x' * SMALL}",
        "* undated",
        DAY,
        f"{DAY}\n[a]\n* forged",
        f"{DAY}\n* x\r[a]\r* forged",
        f"{DAY}<x\n* x",
    ):
        assert shown(a=f"{DAY}\n* one", b=other) == f'{alone}\n<thread id="b">\n{other}\n</thread>', other


def test_sections_label_a_long_id_by_its_end_where_no_other_one_ends_like_it():
    ids = ["conversation-0-8e77", "conversation-1-8e77", "conversation-2-b1c0", "x-8e77"]
    labels = [
        line for section in sections(dict.fromkeys(ids, f"{DAY}\n* one")) for line in section.opening if line != DAY
    ]
    assert labels == ["[conversation-0-8e77]", "[conversation-1-8e77]", "[…b1c0]", "[x-8e77]"]


def test_wrappers_of_the_first_of_a_block_and_of_a_thread_weigh_what_these_take():
    note, frame, section = f"{DAY}\n* one", len('<observations id="000000000000">\n\n</observations>\n\n'), 26
    for notes, pooled, weights in [
        ([("a", " "), ("a", note), ("a", note)], True, [0, frame + section + 1, 1]),
        ([("a", note), ("b", note)], True, [frame + len("[a]\n") + 1, len("[b]\n") - len(DAY)]),
        ([("a", note)], False, [frame + 1]),
    ]:
        assert wrappers(notes, len, pooled=pooled) == weights, notes


def test_tokens_of_a_shorter_text_are_not_negative():
    """An export with negative tokens could not be imported."""
    own = Observation(id="o-1", thread_id="t-1", text=f"{DAY}\n* one", tokens=9, wrapper_tokens=-14)
    for text, tokens, besides in (("* x", 0, -3), (f"{DAY}\n* x", 8, -14), ("", 0, 0)):
        assert tokens_of_text(own, text, len) == {"tokens": tokens, "wrapper_tokens": besides}, text
