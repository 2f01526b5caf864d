"""A model is tried from its page: asked for by a button, looked at until a worker has made the call, by whoever pays for all."""

import re
from html import unescape

import pytest
from trial_worker import READY, answer

from om_api.domain.errors import ModelError

MODEL = "gemini-2.5-flash"
LOOKS_AGAIN = re.compile(r'hx-get="(/ui/models\?tried=[^"]+)"')


def _status(page):
    """What stands beside the button of the model."""
    row = page.text.split(f'aria-label="Try {MODEL}"')[1].split("</td>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", row.split('role="status">')[1]).split())


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (READY, r"^answered in [\d.]+ s: 48 tokens in, 2 out, \$0.00002. It said: ready$"),
        (
            ModelError("refused (401): check <GEMINI_API_KEY>"),
            r"^failed after [\d.]+ s: refused \(401\): check &lt;GEMINI",
        ),
    ],
)
def test_the_page_looks_again_until_a_worker_has_made_the_call(sign_in, world, said, shown):
    who = sign_in("operator", "*")
    asked = who.send("/ui/models", {"model": MODEL})
    (again,) = LOOKS_AGAIN.findall(asked.text)

    assert asked.status_code == 200
    assert (
        _status(asked)
        == _status(who.ask("GET", unescape(again)))
        == "Asked: a worker makes the call within seconds, if one runs."
    )
    assert answer(world, said)

    ended = who.ask("GET", unescape(again))
    assert re.search(shown, _status(ended)), _status(ended)
    assert not LOOKS_AGAIN.findall(ended.text)
    assert _status(who.get("/ui/models")) == ""


def test_who_is_bound_to_some_agents_sees_no_button_and_may_press_none(sign_in, world):
    who = sign_in("operator", "harold")

    assert "Test call" not in who.get("/ui/models").text
    assert who.send("/ui/models", {"model": MODEL}).status_code == 403
    assert not list(world.client.scan_iter(f"{world.prefix}:lock:try*"))


def test_a_model_that_no_worker_uses_is_refused_with_those_that_they_do(sign_in, world):
    answered = sign_in("operator", "*").send("/ui/models", {"model": "gpt-mystery"})

    assert (answered.status_code, MODEL in answered.text) == (404, True)


def test_who_had_a_model_tried_is_in_the_audit_trail_once(sign_in, world):
    who = sign_in("operator", "*")
    who.get("/ui/models")
    asked = who.send("/ui/models", {"model": MODEL})
    (again,) = LOOKS_AGAIN.findall(asked.text)
    looked = who.ask("GET", unescape(again), headers={"hx-request": "true"})
    told = [(each.did, each.of) for each in world.om.audit().entries if each.via == "page"]

    assert "<summary>" in asked.text
    assert "<summary>" not in looked.text  # each second anew it brings no prompts
    assert told[0] == ("model_tried", MODEL)
    assert [did for did, _ in told].count(
        "read"
    ) == 2  # the page of agents, by which they signed in, and that of models before they looked again
