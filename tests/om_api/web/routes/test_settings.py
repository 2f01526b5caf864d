"""Settings on the pages: of an agent that nobody knows yet, and a form that changes nothing."""

import re

from om_api.domain.api_keys import Role

AT = "/ui/agents/harald/settings"


def test_of_a_name_of_which_nothing_is_kept_the_page_says_so(sign_in, world):
    who = sign_in(Role.OPERATOR, "harald", "harold")
    world.say("Mine.", resource="harold")
    world.settle()
    assert "Nothing is kept of harald yet" in who.get(AT).text
    assert "Nothing is kept" not in who.get("/ui/agents/harold/settings").text


def test_a_form_that_changes_nothing_is_told_what_to_do(sign_in):
    answer = sign_in(Role.OPERATOR, "harald").send(AT, {"set.message_threshold": "500", "was.message_threshold": "500"})
    assert answer.status_code == 422
    assert "write another value into a field" in answer.text


def test_what_would_change_is_shown_without_the_heads_of_a_diff(sign_in):
    answer = sign_in(Role.OPERATOR, "harald").send(AT, {"set.message_threshold": "700", "was.message_threshold": "500"})
    assert answer.status_code == 200
    added = re.findall(r"<ins>(.*)</ins>", answer.text)
    assert any("message_threshold: 700" in line for line in added), added
    assert "@@" not in answer.text
