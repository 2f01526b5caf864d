from provider_requests import anthropic, context, gemini, openai


def test_one_side_speaks_at_a_time():
    turns = [("user", "a"), ("user", "b"), ("assistant", "c"), ("assistant", "d")]

    assert [len(message["content"]) for message in anthropic(*turns)] == [2, 2]
    assert [len(content["parts"]) for content in gemini(*turns)] == [2, 2]
    assert len(openai(*turns)) == 4


def test_blanks_at_the_end_are_left_out_only_of_what_the_assistant_said():
    """Catches an assistant's last words that end in a blank, which Anthropic refuses, and a user's that are changed."""
    sent = anthropic(("user", "for i in x:\n    "), ("assistant", "    print(i)\n"))

    assert [message["content"][0]["text"] for message in sent] == ["for i in x:\n    ", "    print(i)"]


def test_where_the_assistant_would_be_first_something_is_said_before():
    assert "not shown" in anthropic(("assistant", "hi"))[0]["content"][0]["text"]
    assert "not shown" in gemini(("assistant", "hi"))[0]["parts"][0]["text"]


def test_the_volatile_block_joins_the_newest_message_of_the_user():
    made = context(("user", "hi"), activations=1)

    assert [part["text"].split("\n")[0] for part in made.as_anthropic()["messages"][0]["content"]] == [
        '<system-reminder id="om-continuation">',
        "<system-reminder>",
        "hi",
        "<system-reminder>",
    ]
    assert len(made.as_gemini()["contents"]) == 1
    assert len(made.as_openai()) == 4
