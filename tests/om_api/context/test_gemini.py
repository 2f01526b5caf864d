import pytest
from provider_requests import call, gemini, result, text

UNSIGNED = "skip_thought_signature_validator"
ANSWERED = [
    ("user", "where?"),
    ("assistant", [text("let me see"), call("a", {"q": "paris"})]),
    ("tool", [result("a", {"at": [48, 2]})]),
    ("assistant", "there"),
]


def test_gemini_gets_function_calls_and_responses():
    assert gemini(*ANSWERED)[1:3] == [
        {
            "role": "model",
            "parts": [
                {"text": "let me see"},
                {"functionCall": {"name": "look_a", "args": {"q": "paris"}}, "thoughtSignature": UNSIGNED},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "look_a", "response": {"at": [48, 2]}}}]},
    ]


def test_a_response_goes_by_the_name_of_its_call():
    sent = gemini(("user", "hi"), ("assistant", [call("a")]), ("tool", [{**result("a"), "name": None}]))

    assert sent[-1]["parts"][0]["functionResponse"]["name"] == "look_a"


@pytest.mark.parametrize("value", ["found", [1], None])
def test_a_response_is_always_an_object(value):
    """Catches a tool that gives text: Gemini refuses the whole request."""
    sent = gemini(("assistant", [call("a")]), ("tool", [result("a", value)]))

    assert sent[-1]["parts"][0]["functionResponse"]["response"] == {"result": value}


def test_a_signature_of_geminis_goes_back_and_the_calls_beside_it_need_none():
    """Gemini 3 refuses a turn whose first call has no signature, and a signature where it had put none."""
    calls = [call("a", thought_signature="//5hYg=="), call("b")]
    turn = gemini(("assistant", calls), ("tool", [result("a"), result("b")]))[1]

    assert [part.get("thoughtSignature") for part in turn["parts"]] == ["//5hYg==", None]


@pytest.mark.parametrize("mark", ["<task>", 5, "abc", ""])
def test_what_can_be_no_signature_is_not_sent_as_one(mark):
    turn = gemini(("assistant", [call("a", thought_signature=mark), call("b")]), ("tool", [result("a"), result("b")]))[
        1
    ]

    assert [part.get("thoughtSignature") for part in turn["parts"]] == [UNSIGNED, None]
