from extracts import block, reflect


def test_a_reflection_weighs_the_sentences_of_a_sitting_one_by_one():
    line = (
        "* 🔴 Ilse: some remark about lamp colours; other remark about lamp shades; adopted greyhound Biscuit Tuesday"
    )
    text = reflect(f"Date: Dec 2, 2025\n{line}", target_tokens=45)

    assert block(text)[1].startswith("* 🔴 Ilse: ")
    assert "greyhound Biscuit" in text
    assert text.count("Ilse") == 1
