"""A model is tried from its page: asked for by a button, looked at until a worker has made the call, by whoever pays for all."""

import re
from html import unescape

from trial_worker import READY, answer

from om_api.domain.errors import ModelError

MODEL = "gemini-2.5-flash"
LOOKS_AGAIN = re.compile(r'hx-get="(/ui/models\?tried=[^"]+)"')


def _status(page):
    """What stands beside the button of the model."""
    row = page.text.split(f'aria-label="Try {MODEL}"')[1].split("</td>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", row.split('role="status">')[1]).split())


def test_the_page_looks_again_until_a_worker_has_made_the_call(sign_in, world):
    who = sign_in("operator", "*")
    refused = ModelError("refused (401): check <GEMINI_API_KEY>")
    for said, shown in [
        (READY, r"^answered in [\d.]+ s: 48 tokens in, 2 out, \$0.00002. It said: ready$"),
        (refused, r"^failed after [\d.]+ s: refused \(401\): check &lt;GEMINI"),
    ]:
        asked = who.send("/ui/models", {"model": MODEL})
        (again,) = LOOKS_AGAIN.findall(asked.text)
        waits = "Asked: a worker makes the call within seconds, if one runs."
        assert asked.status_code == 200
        assert [_status(asked), _status(who.ask("GET", unescape(again)))] == [waits] * 2
        assert answer(world, said)

        ended = who.ask("GET", unescape(again))
        assert re.search(shown, _status(ended)), _status(ended)
        assert not LOOKS_AGAIN.findall(ended.text)
        assert _status(who.get("/ui/models")) == ""
    assert who.send("/ui/models", {"model": "gpt-mystery"}).status_code == 404
    bound = sign_in("operator", "harold")  # who is bound to some agents sees no button, and may press none
    assert "Test call" not in bound.get("/ui/models").text
    assert bound.send("/ui/models", {"model": MODEL}).status_code == 403
