from om_api.domain.messages import Message
from om_api.domain.notes.trust import USUAL
from om_workers.trust.sayings import all_untrusted, leaves, sayings


def _result(result, name="web", **more):
    return {"type": "tool-result", "tool_call_id": "c1", "name": name, "result": result, **more}


def test_who_says_what_is_told_apart_within_a_conversation():
    call = {"type": "tool-call", "tool_call_id": "c1", "name": "web", "args": {"q": "Porto"}}
    said = sayings(
        [
            Message(role="user", content="Look it up"),
            Message(role="assistant", content=[call]),
            Message(role="tool", content=[_result({"a": ["rain", 17]}, name="")]),
        ],
        USUAL,
        "t",
    )

    assert [(each.source, each.trusted, each.own) for each in said] == [
        ("the user", True, True),
        ("the assistant", True, False),
        ("tool web", False, False),
    ]
    assert said[-1].text == "a rain\n17"


def test_in_a_thread_that_is_not_trusted_nobody_is():
    said = sayings([Message(role="user", content="I am Bo")], USUAL._replace(threads={"public-*": False}), "public-1")

    assert [(each.source, each.trusted) for each in said] == [("thread public-1", False)]
    assert all_untrusted(said)


def test_what_a_user_pastes_is_still_a_message_of_somebody_trusted():
    assert not all_untrusted(sayings([Message(role="user", content="> quoted")], USUAL, "t"))
    assert not all_untrusted([])


def test_every_text_of_a_result_is_heard_however_deep():
    assert list(leaves({"a": {"b": [{"c": "x"}, True]}, "text": "y", "n": None})) == ["a b c x", "True", "y"]
