from om_bench.harness.talks import seen, turn


def test_what_tools_ask_and_answer_is_seen_of_a_message_too():
    call = {"type": "tool-call", "tool_call_id": "c", "name": "ferries", "args": {"day": "May 7"}}
    result = {"type": "tool-result", "tool_call_id": "c", "name": "ferries", "result": {"seats": [4, None]}}
    for content, shown in (("9 AM", "9 AM"), ([call], "ferries day May 7"), ([result], "seats 4\nnull")):
        assert seen(turn("m", "assistant", content, 1_741_593_600_000, "talk")) == shown, content
