import json

from extracts import DATA, block, called, chunks, load, observe, returned, said, size

from om_workers.llm.extractive.notes import counted


def kept(name):
    """The share of a fixture's facts of which every key stands in one line, or in two neighbouring ones."""
    lines = []
    for chunk, total in chunks(load(name)):
        text = observe(*chunk, target_tokens=total // 10)
        assert counted(text) <= total / 10
        lines += text.lower().splitlines()
    pairs = [f"{one}\n{two}" for one, two in zip(lines, [*lines[1:], ""], strict=True)]
    facts = json.loads((DATA / f"{name}_facts.json").read_text(encoding="utf-8"))
    found = [fact for fact in facts if any(all(key.lower() in pair for key in fact["keys"]) for pair in pairs)]
    return len(found) / len(facts)


def test_the_planted_conversation_is_as_large_and_varied_as_promised():
    messages = load("planted")
    facts = json.loads((DATA / "planted_facts.json").read_text(encoding="utf-8"))

    assert len(messages) >= 250
    assert sum(map(size, messages)) >= 18_000
    assert {message.role for message in messages} == {"user", "assistant", "tool"}
    assert len(facts) == 50
    assert sum(fact["kind"] == "tool" for fact in facts) >= 10


def test_nine_of_ten_planted_facts_survive_tenfold_compression():
    assert kept("planted") >= 0.9


def test_three_of_four_facts_of_a_conversation_nobody_tuned_on_survive():
    assert kept("planted_holdout") >= 0.75


def test_a_tool_error_comes_before_everything_else():
    talk = [
        said(f"Thing number {number} of the list looks like thing {number + 1}", minute=number) for number in range(80)
    ]
    failed = returned("deploy", "manifest for web:1.8 is gone", is_error=True, minute=90)
    lines = block(observe(*talk, called("deploy", {"env": "prod"}, minute=89), failed, target_tokens=60))

    assert any(line.startswith("* 🔴 deploy:") and "web:1.8" in line for line in lines)


def talk(*texts):
    return [said(text, minute=minute) for minute, text in enumerate(texts)]
