from provider_requests import call, openai, result, text

ANSWERED = [
    ("user", "where?"),
    ("assistant", [text("let me see"), call("a", {"q": "paris"})]),
    ("tool", [result("a", {"at": [48, 2]})]),
    ("assistant", "there"),
]


def test_openai_gets_calls_and_results_by_id():
    assert openai(*ANSWERED) == [
        {"role": "user", "content": "where?"},
        {
            "role": "assistant",
            "content": "let me see",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "look_a", "arguments": '{"q":"paris"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"at":[48,2]}'},
        {"role": "assistant", "content": "there"},
    ]
