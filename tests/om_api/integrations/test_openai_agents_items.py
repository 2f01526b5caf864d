"""Items of the Responses API: what a model says in one go is one message, and a message is items again."""

from om_api.integrations.openai_agents_items import items_of, key_of, units, without
from om_api.integrations.turn import kept_as

MARKS = ("<CONVERSATION HISTORY>", "</CONVERSATION HISTORY>")
USER = {"role": "user", "content": "look a and b up"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SAID = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
}  # fmt: skip
RESULT = {"type": "function_call_output", "call_id": "c-a", "output": "found"}


def call(key, name="fc_1"):
    return {
        "type": "function_call", "id": name, "call_id": f"c-{key}", "name": "look", "arguments": f'{{"key": "{key}"}}',
    }  # fmt: skip


def test_what_a_model_says_in_one_go_is_one_message_and_its_thoughts_stay_with_it():
    made = units([USER, THOUGHT, SAID, call("a"), call("b"), RESULT], MARKS)

    assert [each.items for each in made] == [(USER,), (THOUGHT, SAID, call("a"), call("b")), (RESULT,)]
    assert [message.role for each in made for message in each.messages] == ["user", "assistant", "tool"]
    parts = made[1].messages[0].parts
    assert [part["type"] for part in parts] == ["text", "tool-call", "tool-call"]
    assert [part["args"] for part in parts[1:]] == [{"key": "a"}, {"key": "b"}]


def test_a_message_has_the_id_of_its_first_item_unless_that_is_a_placeholder_or_it_is_named():
    assert [each.messages[0].id for each in units([USER, THOUGHT, SAID, call("a")], MARKS)] == ["", "msg_1"]
    assert units([call("a", "__fake_id__")], MARKS)[0].messages[0].id == ""
    assert units([SAID], MARKS, lambda: "om-1")[0].messages[0].id == "om-1"


def test_what_is_nobodys_words_is_shown_and_kept_as_nothing():
    for item in [
        {"role": "developer", "content": "be brief"},
        {"type": "item_reference", "id": "msg_1"},
        {"role": "assistant", "content": f"For context: {MARKS[0]} 1. user: hi {MARKS[1]}"},
    ]:
        assert units([item], MARKS)[0].messages == (), item
    assert units([{"role": "user", "content": " ".join(MARKS)}], MARKS)[0].messages


def test_a_message_is_the_items_that_it_was():
    for given in ([USER], [SAID, call("a"), call("b")], [RESULT]):
        message = units(given, MARKS)[0].messages[0]
        again = units(items_of(message), MARKS)[0].messages[0]

        assert [*map(key_of, items_of(message))] == [*map(key_of, given)]
        assert again.parts == message.parts
        assert not any("id" in item for item in items_of(message))


def test_calls_that_somebody_wrote_without_ids_are_paired_by_their_tool():
    asked = kept_as({"role": "assistant", "content": [{"type": "tool-call", "name": "look", "args": {}}]})
    given = kept_as({"role": "tool", "content": [{"type": "tool-result", "name": "look", "result": "found"}]})

    assert items_of(asked)[0]["call_id"] == items_of(given)[0]["call_id"]


def test_each_of_what_is_known_is_left_out_once():
    assert without([USER, SAID, USER], [USER]) == [SAID, USER]
