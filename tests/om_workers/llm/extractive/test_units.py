import pytest
from extracts import TAGS, TALK, block, observe, reflect, returned, said
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from om_api.domain.messages import Message
from om_workers.llm.extractive.notes import counted


@pytest.mark.parametrize("blob", ["x", " ", "a-", "1.", "no. ", "<", "\n", "Date: ", "* ", "é", "e.g. a; "])
def test_an_endless_text_is_no_endless_work(blob):
    text = blob * (400_000 // len(blob))

    assert observe(said(text), returned("dump", text, minute=1), said("I live in Rome", minute=2)).count("Rome") == 1
    assert counted(reflect(text, "* 🔴 I live in Rome", target_tokens=200)) <= 200


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(max_size=300)), max_size=8),
    st.integers(0, 200),
    st.sampled_from(["UTC", "Asia/Tokyo", "No/Where", "", "../etc"]),
)
def test_no_text_makes_it_raise(turns, target, timezone):
    messages = [said(text, role, minute) for minute, (role, text) in enumerate(turns)]
    text = observe(*messages, target_tokens=target, timezone=timezone)

    assert text.startswith("<observations>\n")
    assert sum(line.startswith(TAGS) for line in block(text)) == 0


@pytest.mark.parametrize("at", [0, -1, 99_999_999_999_999, 10**17])
def test_a_time_out_of_range_is_no_error(at):
    assert "Lisbon" in observe(Message(role="user", content="I live in Lisbon since tomorrow", at=at))


def test_a_short_yes_keeps_the_question_it_answers():
    text = observe(said("Shall I deploy to eu-west-3?", "assistant"), said("yes please", minute=1))

    assert '(14:31) User asked: yes please (to "Shall I deploy to eu-west-3?")' in text


def test_pasted_text_is_damped_and_what_the_user_says_of_himself_is_not():
    pasted = "\n".join(f"The lamp of corridor {number} has a shade of colour {number * 37}." for number in range(60))
    text = observe(
        said(f"{pasted}\nI must finish the inventory before Easter."), said("My budget is 900 euros", minute=1)
    )

    assert "before Easter" in text
    assert "900 euros" in text
    assert text.count("corridor") <= 3


@pytest.mark.parametrize(
    "text",
    [
        "私は来週の金曜日に大阪へ引っ越します。",
        "Ich ziehe im Mai nach Köln um.",
        "Меня зовут Анна, мне 34 года.",
        "أنا أسكن في القاهرة",
    ],
)
def test_other_languages_survive(text):
    assert text.rstrip("。.") in observe(said(text))


def test_what_two_people_ask_each_other_is_no_task_of_the_agent():
    assert "<current-task>" not in observe(*TALK, said("Ilse: Could you weld me a gate?", minute=90))
