"""What a moved text is made of: nothing is copied twice, nothing is lost, and no line closes a section of ours."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain import pieces
from om_api.domain.pieces import Lead
from om_api.domain.values import Generation, TextPiece

KNOWN = ("t1", "t2", "t3")
LINES = ["* a", "* b", "", "Date: Nov 20, 2025", '<thread id="t1">', '<thread id="t2">', '<thread id="x">', "</thread>"]
DATED = "Date: Nov 20, 2025\n* common\n* to all"
FAULTS = {
    "told twice": (
        lambda moved: msgspec.structs.replace(
            moved, text=f"{moved.text}\n{moved.text}", pieces=moved.pieces + moved.pieces
        ),
        "holds piece 0 of generation e:5 2 times",
    ),
    "more text than pieces": (
        lambda moved: msgspec.structs.replace(moved, text=f"{moved.text}\n* more"),
        "is not made of the pieces that it names",
    ),
}


def moved(found, *, pooled):
    """The generation that a move makes of pieces."""
    text = pieces.text_of(found, pooled=pooled)
    return Generation(n=1, text=text, origin="restore", pieces=tuple(each.piece for each in found))


def apart(pool, threads=KNOWN):
    return {name: moved(pieces.of_thread(pool, name), pooled=False) for name in threads}


def together(generations, threads=KNOWN):
    return pieces.of_threads({name: Lead(f"{name}:1", each) for name, each in generations.items()}, threads)


def pool_of(text, origin="reflection"):
    return Lead("e:5", Generation(n=5, text=text, origin=origin))


def copied(*texts):
    """Threads' texts as a version that left no marks wrote them."""
    return {f"t{n}": Generation(n=1, text=text, origin="restore") for n, text in enumerate(texts, 1)}


@given(st.lists(st.sampled_from(LINES), max_size=20))
def test_any_text_comes_back_once_and_is_stable_from_then_on(lines):
    pool = pieces.of_pool(pool_of("\n".join(lines)), KNOWN)
    text = pieces.text_of(pool, pooled=True)
    back = moved(together(apart(pool)), pooled=True)
    again = pieces.of_pool(Lead("f:1", back), KNOWN)
    # a thread that was told nothing keeps no heading either
    threads = {name for name in KNOWN if pieces.of_thread(pool, name)}
    said = [each for each in pool if (each.piece.thread or next(iter(threads), None)) in threads]

    assert text.replace("&lt;", "<") == "\n".join(lines)
    assert back.text == pieces.text_of(said, pooled=True)
    assert moved(together(apart(again)), pooled=True).text == back.text
    assert list(pieces.faults(back, pooled=True)) == []


@given(st.lists(st.lists(st.sampled_from(LINES), min_size=1, max_size=6), min_size=1, max_size=3))
def test_what_threads_wrote_comes_back_to_each_whatever_it_looks_like(texts):
    wrote = {f"t{n}": Generation(n=3, text="\n".join(lines)) for n, lines in enumerate(texts, 1)}
    pool = moved(together(wrote), pooled=True)
    back = apart(pieces.of_pool(Lead("e:1", pool), KNOWN), wrote)

    plain = {name: each.text if each.text.strip() else "" for name, each in wrote.items()}
    assert {name: each.text.replace("&lt;", "<") for name, each in back.items()} == plain


def test_pieces_name_where_they_came_from():
    pool = pieces.of_pool(pool_of('* a\n<thread id="t2">\n* b\n* c\n</thread>\n* d'), KNOWN)

    assert [each.piece for each in pieces.of_thread(pool, "t2")] == [
        TextPiece(origin="e:5", at=0, lines=1),
        TextPiece(origin="e:5", at=1, lines=2, thread="t2"),
        TextPiece(origin="e:5", at=2, lines=1),
    ]


def test_a_common_text_that_stands_in_copies_without_marks_comes_back_once():
    back = together(copied(f"{DATED}\nDate: Nov 21, 2025\n* one", DATED, f"{DATED}\n* three"))

    assert pieces.text_of(back, pooled=True) == (
        f'{DATED}\n<thread id="t1">\nDate: Nov 21, 2025\n* one\n</thread>\n<thread id="t3">\n* three\n</thread>'
    )


def test_a_reflection_that_repeats_others_is_no_copy():
    said = {name: Generation(n=2, text=DATED) for name in KNOWN}

    assert [each.piece.thread for each in together(said)] == list(KNOWN)


def test_copies_that_share_nothing_stay_with_each():
    assert [each.piece.thread for each in together(copied("* one", "* two"))] == ["t1", "t2"]


def test_a_copy_closes_no_section_of_the_pool():
    text = pieces.text_of(together(copied(f"{DATED}\n</thread>", f"{DATED}\n* two")), pooled=True)

    assert text.count("</thread>") == 2


def test_a_pool_that_holds_a_common_text_in_each_section_is_healed_by_the_next_move():
    sections = "\n".join(f'<thread id="t{n}">\n{DATED}\n* of {n}\n</thread>' for n in (1, 2, 3))
    pool = pieces.of_pool(pool_of(sections, "restore"), KNOWN)
    back = moved(together(apart(pool)), pooled=True)

    assert back.text.count("* common\n* to all") == 1
    assert [back.text.count(f"* of {n}") for n in (1, 2, 3)] == [1, 1, 1]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("pooled", [True, False])
def test_what_is_told_more_than_once_is_a_fault(fault, pooled):
    change, says = FAULTS[fault]
    whole = moved(pieces.of_pool(pool_of("* a"), KNOWN), pooled=pooled)

    assert list(pieces.faults(whole, pooled=pooled)) == []
    assert list(pieces.faults(change(whole), pooled=pooled)) == [says]


def test_without_a_thread_the_rest_is_still_made_of_its_pieces():
    pool = pieces.of_pool(pool_of('* a\n<thread id="t1">\n* b\n</thread>\n<thread id="x">\n* c\n</thread>'), KNOWN)

    assert pieces.text_of(pieces.without(pool, "t1"), pooled=True) == '* a\n<thread id="x">\n* c\n</thread>'
    rest = moved(pieces.without(pieces.without(pool, "t1"), "x"), pooled=True)
    assert (rest.text, list(pieces.faults(rest, pooled=True))) == ("* a", [])


def test_who_had_words_of_its_own_is_not_given_the_common_ones_again():
    pool = pieces.of_pool(pool_of('* a\n<thread id="t1">\n* b\n</thread>'), KNOWN)
    leads = {**apart(pool), "t1": Generation(n=2, text="* a and b"), "new": Generation(n=1, text="* new")}
    back = moved(together(leads, [*KNOWN, "new", "noted"]), pooled=True)
    again = apart(pieces.of_pool(Lead("f:1", back), [*KNOWN, "new", "noted", "later"]), [*leads, "noted", "later"])

    assert back.pieces[0].lacking == ("new", "noted", "t1")
    assert {name: each.text for name, each in again.items()} == {
        **{name: each.text for name, each in leads.items()},
        "noted": "",
        "later": "* a",
    }
