"""A request as the pieces that a provider counts."""

from om_api.domain.tokens import counter
from om_bench.cost.wire import of_anthropic, of_openai


def test_a_request_counts_the_same_in_every_providers_form():
    args = {"path": "a.py"}
    calls = [{"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"path":"a.py"}'}}]
    openai = [{"role": "system", "content": "notes\n\nmore"}, {"role": "assistant", "content": "see", "tool_calls": calls},
              {"role": "tool", "tool_call_id": "c", "content": "text"}]  # fmt: skip
    parts = [{"type": "text", "text": "see"}, {"type": "tool_use", "id": "c", "name": "read", "input": args}]
    result = {"type": "tool_result", "tool_use_id": "c", "content": "text", "cache_control": {}}
    anthropic = {"system": [{"type": "text", "text": "notes"}, {"type": "text", "text": "more"}],
                 "messages": [{"role": "assistant", "content": parts}, {"role": "user", "content": [result]}]}  # fmt: skip
    plain, marked = list(of_openai(openai, counter())), list(of_anthropic(anthropic, counter()))

    assert [piece.tokens for piece in plain] == [piece.tokens for piece in marked]
    assert [piece.mark for piece in marked] == [False, False, False, False, True]
