from om_workers.llm.extractive.noted import units_of
from om_workers.llm.extractive.notes import read


def of(text):
    (note,) = read(text)
    return list(units_of(note, 3))


def test_a_line_is_the_sentences_it_was_made_of_and_who_said_them():
    units = of(
        "* 🔴 (09:00) Ilse: I adopted a greyhound last Tuesday (meaning Dec 2). He is called Biscuit. … I work in IT."
    )

    assert [unit.text for unit in units] == [
        "I adopted a greyhound last Tuesday (meaning Dec 2).",
        "He is called Biscuit.",
        "I work in IT.",
    ]
    assert {(unit.heard, unit.role, unit.order) for unit in units} == {("Ilse", "user", 3)}
    assert [unit.place for unit in units] == [0, 1, 3]


def test_what_a_date_means_is_no_word_of_its_sentence():
    (unit,) = of("* 🟡 User: the review is tomorrow (meaning Dec 4)")

    assert unit.words == ["the", "review", "is", "tomorrow"]


def test_a_detail_is_a_unit_of_its_line():
    head, nested = of("* 🟡 get_price: city Graz, euros 40\n  * -> city Linz, euros 41")

    assert (head.role, head.nested, nested.nested) == ("tool", False, True)
    assert (nested.text, nested.heard) == ("city Linz, euros 41", "get_price")


def test_a_line_that_names_nobody_is_heard_from_nobody():
    (unit,) = of("Ada owns a boat")

    assert (unit.heard, unit.role, unit.text) == ("", "user", "Ada owns a boat")
