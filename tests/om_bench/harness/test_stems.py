from om_bench.harness.stems import stems, telling


def test_words_of_one_stem_number_or_month_are_the_same():
    assert stems("adopting two dogs in September") == [*stems("adopted"), "2", "dog", None, "sep"]
    assert telling("It is the") == frozenset()


def test_case_and_script_decide_what_is_a_word():
    for text, seen in [
        ("We may call on May 7 at 9 AM", ["call", "may", "7", "9", "am"]),
        ("I am with us and it", []),
        ("The US office, in IT", ["us", "offic", "it"]),
        ("Grüße aus Zürich", ["grüße", "aus", "zürich"]),
        ("裕子さんは in 金", ["裕子", "子さ", "さん", "んは", "金"]),
        ("at five o'clock", ["5", "o", "clock"]),
    ]:
        assert [stem for stem in stems(text) if stem] == seen, (text, seen)
