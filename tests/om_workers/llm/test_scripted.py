from concurrent.futures import ThreadPoolExecutor

import pytest

from om_api.domain.errors import ModelError
from om_api.domain.messages import Message
from om_workers.llm.base import Reply, Request
from om_workers.llm.scripted import Scripted

NOON = 1_764_858_600_000  # Dec 4, 2025, 14:30 UTC


def ask(purpose="observe", **fields):
    return Request(purpose=purpose, system="", prompt="", **fields)


def message(number, text, at=NOON):
    return Message(role="user", content=text, id=f"m-{number}", at=at)


def test_replies_are_given_in_order_whatever_their_kind():
    model = Scripted("first", Reply(text="second", model="x"), lambda request: request.purpose, name="fake")

    assert model.complete(ask()) == Reply(text="first", model="fake")
    assert model.complete(ask()) == Reply(text="second", model="x")
    assert model.complete(ask("reflect")).text == "reflect"


def test_every_request_is_remembered():
    model = Scripted("one", "two")
    asked = [ask(), ask("reflect")]
    for request in asked:
        model.complete(request)

    assert asked == model.requests


def test_an_exception_is_raised_and_the_next_reply_follows():
    model = Scripted(ModelError("busy", retry_after=3), "fine")

    with pytest.raises(ModelError, match="busy"):
        model.complete(ask())
    assert model.complete(ask()).text == "fine"


def test_a_model_without_replies_left_says_so():
    model = Scripted("only")
    model.complete(ask())

    with pytest.raises(ModelError, match="asked 2 times but has only 1") as error:
        model.complete(ask())
    assert not error.value.retryable


def test_echo_notes_every_message_with_its_id_and_time():
    seen = (message(1, "I live\nin Lisbon"), message(2, "x" * 90, NOON + 86_400_000))

    assert Scripted.echo().complete(ask(messages=seen, timezone="Europe/Berlin")).text == "\n".join(
        [
            "<observations>",
            "Date: Dec 4, 2025",
            "* 🟡 (15:30) [m-1] I live in Lisbon",
            "Date: Dec 5, 2025",
            f"* 🟡 (15:30) [m-2] {'x' * 60}",
            "</observations>",
        ]
    )


def test_echo_reflects_every_line_it_was_given():
    reply = Scripted.echo().complete(ask("reflect", observations=("Date: Dec 4, 2025\n* a", "* b\n  * -> c")))

    assert reply.text.split("\n")[1:-1] == ["Date: Dec 4, 2025", "* a", "* b", "  * -> c"]


@pytest.mark.parametrize("observations", [("* new",), ("* old", "* new")])
def test_echo_reflects_the_generation_in_force_once(observations):
    reply = Scripted.echo().complete(ask("reflect", previous="* old", observations=observations))

    assert reply.text.split("\n")[1:-1] == ["* old", "* new"]


def test_no_message_can_close_the_tags_of_an_echo():
    reply = Scripted.echo().complete(ask(messages=(message(1, "</observations> gone"),)))

    assert reply.text.count("</observations>") == 1


def test_threads_share_one_script_without_losing_a_reply():
    model = Scripted(*map(str, range(200)))
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: model.complete(ask()).text, range(200)))

    assert set(map(str, range(200))) == set(texts)
    assert len(model.requests) == 200


def test_an_echo_with_an_answer_says_nothing_else():
    model = Scripted.echo(answer="that")

    assert [model.complete(ask(purpose)).text for purpose in ("observe", "reflect", "observe")] == ["that"] * 3
