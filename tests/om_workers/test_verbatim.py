"""What a model noted is stored and shown as it wrote it: no trimming for the actor's sake."""

from om_workers.llm.scripted import Scripted

NOTES = """Date: Dec 30, 2025
* 🟡 (09:15) Edited app/[slug]/page.tsx; items[0] -> items[1], [72 items collapsed], a => b
  * -> moved `C:\\Temp\\x` to ~/y  (two blanks), see [docs](https://example.org/a_(b)?c=1&d=2#e)
    if a < b and c > d:  # indented by four
\tx = {"k": [1, 2]}  # indented by a tab
* 🟢 (09:20) ✅ <div class="x">&amp;</div> <- -> <-> |--| +--+ ..."""


def _answer(text):
    return f"<observations>\n{text}\n</observations>"


def test_code_paths_brackets_arrows_and_indentation_reach_the_context_as_the_observer_wrote_them(world):
    world.model = Scripted(_answer(NOTES))
    world.say("edit the page")
    world.om.force_observe("t-1", "harold")
    world.settle()

    assert world.om.observations("harold")[0].text == NOTES
    assert NOTES in world.context().text
    assert NOTES in world.context().as_openai()[0]["content"]


def test_and_so_do_those_of_the_reflector(world):
    world.say("edit the page")
    world.om.force_observe("t-1", "harold")
    world.settle()
    world.model = Scripted(*[_answer(NOTES)] * 4)
    world.om.force_reflect("harold")
    world.settle()

    assert world.om.generations("harold")[0].text == NOTES
    assert NOTES in world.context().text
