"""Pages that operate: managing a memory, models, money and old text."""

import re
from html import unescape

import pytest
from page_routes import PAGES, Owner
from served import filled
from trial_worker import READY, answer

from om_api.domain.errors import ModelError
from om_api.store.fleet import spending
from om_api.store.memory.push import ServerClock

AT = "/ui/agents/harold"
SECRET = "zanzibar"  # which stands in all that the owner said


@pytest.fixture
def owner(world):
    """Harold, who has something of everything, a pinned line among it."""
    made = Owner(world, "harold", filled("owner", world, lambda world: Owner(world, "harold").ids))
    line = next(line for line in world.om.observations("harold")[-1].text.split("\n") if SECRET in line)
    world.om.pin(line, "harold")
    return made


def test_what_would_go_is_seen_before_it_is_gone_from_every_page(sign_in, world, owner):
    who = sign_in("operator", "*")
    paths = [owner.path(path, "harold") for path in PAGES if "{" not in path.replace("{resource}", "")]
    world.say("The sun shines.", thread=owner.thread)
    would = who.send(f"{AT}/erase", {"matching": SECRET}).text.partition("This would go")[2]
    held = [who.get(path).text for path in paths]
    done = who.send(f"{AT}/erase", {"matching": SECRET, "sure": "yes"})
    world.settle()
    left = "".join(who.get(path).text for path in paths)

    assert [words in would for words in (" messages: ", "of generation ", "pinned no longer", "<del>")] == [True] * 4
    assert sum(SECRET in text for text in held) > 2
    assert (done.status_code, SECRET in left, "The sun shines." in left) == (303, False, True)
    assert "Nothing of it is kept." in who.send(f"{AT}/erase", {"matching": SECRET}).text
    assert (world.om.pins("harold"), world.om.verify()) == ([], [])


def test_a_memory_moves_and_is_removed_once_its_name_was_written_again(sign_in, world):
    world.say("one", thread="t-1")
    world.say("two", thread="t-2")
    world.om.add_line("User never flies", "harold", "t-1")
    who = sign_in("operator", "harold")
    for scope in ("thread", "resource"):
        assert who.send(f"{AT}/migrate", {"to": scope}).status_code == 303
        assert world.om.stats("harold").scope == scope

    wrong = who.send(f"{AT}/clear", {"thread": "t-2", "confirm": "t-1"})
    assert (wrong.status_code, "write t-2 into the field; nothing was removed" in wrong.text) == (422, True)
    assert len(world.covering()) == 2
    for thread, name, left in (("t-2", "t-2", 1), ("", "harold", 0)):
        gone = who.send(f"{AT}/clear", {"thread": thread, "confirm": name})
        assert (gone.status_code, len(world.covering())) == (303, left), name


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
        (again,) = map(unescape, LOOKS_AGAIN.findall(asked.text))
        assert {_status(page)[:6] for page in (asked, who.ask("GET", again))} == {"Asked:"}
        assert answer(world, said)

        ended = who.ask("GET", again)
        assert re.search(shown, _status(ended)), _status(ended)
        assert (LOOKS_AGAIN.findall(ended.text), _status(who.get("/ui/models"))) == ([], "")
    assert who.send("/ui/models", {"model": "gpt-mystery"}).status_code == 404
    bound = sign_in("operator", "harold")  # who is bound to some agents sees no button, and may press none
    assert "Test call" not in bound.get("/ui/models").text
    assert bound.send("/ui/models", {"model": MODEL}).status_code == 403


def test_below_zero_is_explained_and_what_a_cache_would_hold_is_told(sign_in, world):
    world.say("Mine.", resource="harold", tokens=10)
    world.settle()
    served = {"contexts": 1, "raw": 10, "raw_cached": 4, "tokens": 25, "cached": 3}
    world.services.run(spending.tell(world.services.keys, ServerClock(), {"harold": served}))
    told = sign_in("operator", "*").get("/ui/agents/harold/costs").text

    assert "Tokens saved are below zero: " in told
    assert [f'<td class="n">{each}</td>' in told for each in (10, 4, 25, 3, -15)] == [True] * 5
    assert "once actor_model (under Settings) names" in told
