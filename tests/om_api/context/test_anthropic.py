import pytest
from provider_requests import anthropic, call, context, result, text

ANSWERED = [
    ("user", "where?"),
    ("assistant", [text("let me see"), call("a", {"q": "paris"})]),
    ("tool", [result("a", {"at": [48, 2]})]),
    ("assistant", "there"),
]


def test_anthropic_gets_tool_use_and_tool_result_blocks():
    assert anthropic(*ANSWERED)[1:3] == [
        {
            "role": "assistant",
            "content": [text("let me see"), {"type": "tool_use", "id": "a", "name": "look_a", "input": {"q": "paris"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": '{"at":[48,2]}'}]},
    ]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://example.org/a.png", "[image http://example.org/a.png]"),
        ("gs://bucket/a.png", "[image gs://bucket/a.png]"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "[image]"),
    ],
)
def test_an_image_that_anthropic_does_not_take_is_named(url, shown):
    assert anthropic(("user", [{"type": "image", "url": url}]))[0]["content"][0]["text"] == shown


def marked(parts):
    return [index for index, part in enumerate(parts) if "cache_control" in part]


@pytest.mark.parametrize(
    ("activations", "reflected", "expected"),
    [
        (0, True, [1]),
        (1, False, [0, 1]),
        (1, True, [1, 2]),
        (2, True, [1, 2, 3]),
        (5, True, [1, 5, 6]),
        (5, False, [0, 4, 5]),
    ],
)
def test_breakpoints_stand_after_the_reflection_and_the_two_newest_activations(activations, reflected, expected):
    sent = context(("user", "hi"), activations=activations, reflected=reflected).as_anthropic()

    assert marked(sent["system"]) == expected
    assert [marked(message["content"]) for message in sent["messages"]] == [[2]]


def test_the_last_breakpoint_stands_before_the_volatile_block():
    sent = context(("user", "hi"), ("assistant", "hello"), activations=1).as_anthropic()["messages"]

    assert [marked(message["content"]) for message in sent] == [[], [0], []]
    assert sent[2]["content"][0]["text"].startswith("<system-reminder>\nToday is")
