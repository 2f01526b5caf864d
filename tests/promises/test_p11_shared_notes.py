"""P11, shared notes: what is decided is told to a shared memory once, whatever crashes, and goes when its source goes."""

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.cli.commands.acl import AclRequest
from om_api.domain.errors import StoreError
from om_api.domain.values import Outcome, Scope
from om_api.ops.composed_faults import composed_faults
from om_api.store.sharing import copies
from om_workers.llm.extractive import Extractive
from om_workers.llm.scripted import Scripted


def answer(*lines, kind="decisions"):
    said = "".join(f'"{line}",' for line in lines).rstrip(",")
    section = f'<shared>\n{{"{kind}": [{said}]}}\n</shared>' if lines else ""
    return f"<observations>\n* 🟡 noted\n</observations>\n{section}"


@pytest.fixture
def house(client, prefix, tmp_path):
    """Harold shares his decisions with his team, whose memory he composes."""

    def make(*replies, more="", team="composed_by: [harold], shared_by: [harold]"):
        (tmp_path / "agents/harold").mkdir(parents=True, exist_ok=True)
        (tmp_path / "observational-memory.yaml").write_text(
            "observational_memory: {min_recent_messages: 0, tokenizer: estimate}\n"
        )
        (tmp_path / "agents/harold/memory.yaml").write_text(
            "observational_memory:\n  compose: [{resource: team, share: [decisions]}" + more + "]\n"
        )
        for other in ("team", "other"):
            (tmp_path / "agents" / other).mkdir(exist_ok=True)
            (tmp_path / "agents" / other / "memory.yaml").write_text(f"observational_memory: {{{team}}}\n")
        return World(client, prefix, Scripted(*replies), config_dir=tmp_path)

    return make


def observe(world, text="we talked"):
    world.say(text)
    world.observe_now()


def team(world):
    return [each.text.split(" ", 4)[-1] for each in world.om.observations("team")]


def test_what_was_decided_stands_in_the_shared_memory_with_where_it_comes_from(house):
    world = house(answer("Ada and Bo decided to ship in May."), answer())
    observe(world)
    observe(world)
    (note,) = world.om.observations("team")
    assert "* 🟡 From harold: Ada and Bo decided to ship in May." in note.text
    assert (note.origin, note.by, note.message_ids) == ("shared", "harold", ())
    assert note.shared_from.observation == world.om.observations("harold")[0].id
    assert "ship in May" in world.om.get_context("t-1", "berta", also=["team"]).text
    assert list(world.om.verify()) == []


def test_a_link_without_consent_opens_nothing(house):
    """Sec-01, sec-02: neither readers nor workers, and no user of Redis, reach a memory that does not name the agent."""
    tulip = "<observations>\n* 🟡 the code is tulip\n</observations>"
    world = house(tulip, answer("We ship in May"), team="composed_by: [ha]")
    world.say("hello", resource="team")
    world.observe_now("t-1", "team")
    observe(world, "We ship in May")
    world.sweep()
    context, found = world.om.get_context("t-1", "harold"), world.om.recall("tulip hello", "harold")
    for left_out in (context.left_out, found.left_out):
        assert "composed_by of team does not name harold" in left_out["team"]
    assert ("tulip" in context.text, {hit.resource_id for hit in found.hits} - {"harold"}) == (False, set())
    assert "no memory at all" in world.om.answer_share({"text": "We ship in May.", "with": "team"}, "harold")
    assert [each.by for each in world.om.observations("team")] == [""]
    keys = world.services.keys
    said = AclRequest("harold", "writer", *[False] * 3, None, None, *[False] * 4).user(keys, world.settings).line()
    assert (keys.of("harold").base in said, keys.of("team").base in said) == (True, False)
    faults = world.services.run(composed_faults(world.settings, keys, ["harold"]))
    assert [(each.composed, each.do.split("=")[0]) for each in faults] == [
        ("team", "om config set team composed_by"), ("team", "om config set team shared_by")]  # fmt: skip


def test_only_what_is_permitted_is_asked_for_and_shared(house):
    world = house(answer("I like tea", kind="preferences"), answer("We ship in May"))
    observe(world)
    observe(world)
    (note,) = world.om.observations("team")
    assert "We ship in May" in note.text
    assert "`shared`" in world.model.requests[0].system
    assert "preferences" not in str(world.model.requests[0].extractors[-1].schema)


def test_it_is_shared_once_whatever_is_repeated_or_crashes_between(house, monkeypatch):
    world = house(answer("We ship in May"), answer())
    note, seen = copies.note_shared, []

    def crashes(*args):
        seen.append(args)
        if len(seen) == 1:
            raise StoreError("died", stored=False)
        return note(*args)

    monkeypatch.setattr(copies, "note_shared", crashes)
    observe(world)
    for _ in range(3):
        world.sweep()
    observe(world)
    assert len(seen) > 1
    assert len(world.om.observations("team")) == 1


def test_a_source_that_shares_too_much_is_skipped_and_logged(house, monkeypatch):
    monkeypatch.setattr(copies, "MOST_TOKENS", 80)
    world = house(answer("We ship in May"), answer("We ship in June " * 20), answer("Bo leads"))
    with capture_logs() as logs:
        for _ in range(3):
            observe(world)
        world.sweep()
    texts = [each.text.partition("harold: ")[2] for each in world.om.observations("team")]
    assert texts == ["We ship in May", "Bo leads"]
    (log,) = [each for each in logs if each["event"] == "share_quota_reached"]
    assert (log["scope"], log["target"], log["observations"]) == ("harold", "team", 1)
    assert log["tokens"] > 80


def test_share_joins_broken_lines_skips_empty_ones_and_redacts_no_owner(house, client, prefix, tmp_path):
    """An id may look like an e-mail address: it is added after redaction, so that readers see the note's owner."""
    house(team="redaction: {before: store}, composed_by: ['*'], shared_by: ['*']")
    (tmp_path / "agents/harold").rename(tmp_path / "agents/anna@example.org")
    said = answer("ask bo@example.org\\nin May", "🟡", "We ship in May")
    world = World(client, prefix, Scripted(said), config_dir=tmp_path)
    world.say("we talked", resource="anna@example.org")
    world.observe_now("t-1", "anna@example.org")
    (note,) = world.om.observations("team")
    assert note.text.splitlines()[1:] == ["* 🟡 From anna@example.org: ask [email] in May",
        "* 🟡 From anna@example.org: We ship in May"]  # fmt: skip


def test_a_source_that_cannot_be_read_keeps_no_other_shared_note(house, client, prefix, tmp_path):
    world = house(answer("We ship in May"), answer("We ship in June"), team="composed_by: ['*'], shared_by: ['*']")
    (tmp_path / "agents/dora").mkdir()
    (tmp_path / "agents/dora/memory.yaml").write_text((tmp_path / "agents/harold/memory.yaml").read_text())
    world = World(client, prefix, world.model, config_dir=tmp_path)
    for resource in ("harold", "dora"):
        world.say("we talked", resource=resource)
        world.observe_now("t-1", resource)
    name = world.services.keys.of("harold").observations(Scope("harold"))
    client.rename(name, f"{name}:aside")
    client.set(name, "junk")
    world.om.clear("dora")
    assert [each.by for each in world.om.observations("team")] == ["harold"]
    client.rename(f"{name}:aside", name)


@pytest.mark.parametrize("how", ["forget", "clear", "erase"])
def test_what_is_removed_takes_what_was_shared_of_it_along(house, how):
    world = house(answer("We ship in May"))
    observe(world, "let us say that we ship in May")
    assert len(world.om.observations("team")) == 1
    if how == "forget":
        world.om.forget(world.om.observations("harold")[0].id, "harold")
    elif how == "clear":
        world.om.clear("harold")
    else:
        world.om.erase("harold", message_id=world.om.observations("harold")[0].message_ids[0], thread_id="t-1")
    assert world.om.observations("team") == []


def test_what_a_shared_memory_did_not_take_back_at_once_the_sweep_takes_back(house, monkeypatch):
    def nothing(*_):
        yield from ()
        return []

    world = house(answer("We ship in May"))
    observe(world)
    with monkeypatch.context() as patched:
        patched.setattr(copies, "gone", nothing)
        world.om.clear("harold")
    assert len(world.om.observations("team")) == 1
    world.sweep()
    assert world.om.observations("team") == []


def test_a_source_is_read_only_if_its_own_record_says_that_it_shares(house, monkeypatch):
    """Time 0: a note is added. Time 1: the sweep looks for its source. Time 2: the source notes how far it has shared."""
    world = house(answer("We ship in May"))
    keys, share, content, found, read = world.services.keys, copies.share, copies.content, [], []

    def shares(*args):
        done = yield from share(*args)
        found.append((yield from copies.gone(keys, Scope("team"))))
        return done

    monkeypatch.setattr(copies, "share", shares)
    observe(world)
    assert (found, len(team(world))) == ([[]], 1)
    world.client.hdel(keys.of("harold").record(Scope("harold")), "shared|team")  # as of a source that an import names
    monkeypatch.setattr(copies, "content", lambda keys, scope: read.append(scope.resource) or content(keys, scope))
    assert len(world.services.run(copies.gone(keys, Scope("team")))) == 1
    assert read == ["team"]


def test_a_memory_that_takes_nothing_hurts_nobody_and_is_told_when_it_does(house):
    world = house(answer("We ship in May"), answer(), more=", {resource: other, share: [decisions]}")
    world.om.pause("team")
    observe(world)
    assert [len(world.om.observations(name)) for name in ("harold", "other", "team")] == [1, 1, 0]
    world.om.resume("team")
    world.sweep()
    assert len(world.om.observations("team")) == 1


def test_an_actor_tells_a_shared_memory_something_by_its_tool_once(house):
    world = house()
    world.say("hello")
    call = {"name": "share_note", "input": {"text": "We ship in May.", "with": "team"}}
    answers = [world.om.answer_share(call, "harold") for _ in range(2)]
    refused = world.om.answer_share({"text": "We ship in May.", "with": "org"}, "harold")
    (note,) = world.om.observations("team")
    assert answers == ["It stands in the memory of team now."] * 2
    assert "We ship in May." in note.text
    assert "permitted is team" in refused
    assert world.om.share_tool("harold", "anthropic")["input_schema"]["properties"]["with"]["enum"] == ["team"]


def test_what_a_reflection_has_taken_in_of_a_source_goes_when_the_source_goes(house):
    world = house(answer("We ship in May"), "<observations>\n* 🟡 We ship in May\n</observations>")
    observe(world)
    world.reflect_now("team")
    assert "ship in May" in world.om.generations("team")[-1].text
    world.om.forget(world.om.observations("harold")[0].id, "harold")
    assert "ship in May" not in world.om.generations("team")[-1].text
    assert (world.om.get_context("t-9", "team").text.count("ship"), world.om.verify()) == (0, [])


REFLECTED = {
    "each by itself": "* 🔴 Luna is allergic to penicillin.\n* 🟡 From harold: We decided that Luna is allergic to penicillin.",
    "without its source": "* 🔴 Luna is allergic to penicillin.\n* 🟡 Decided: Luna is allergic to penicillin",
    "as one": "* 🔴 Luna: we decided that she is allergic to penicillin",
}


@pytest.mark.parametrize("model", [*REFLECTED, "built in"])
def test_what_a_source_takes_back_takes_nothing_of_the_owner(house, model):
    """Whoever may share into a memory shared what its owner had noted, and removed that again."""
    shares = answer("We decided that Luna is allergic to penicillin.", "Luna lives at 5 Elm Street")
    own, pin = "* 🔴 Luna is allergic to penicillin.", "* 🟡 Luna gets no penicillin for her allergy"
    noted = f"<observations>\n{own}\n{pin}\n* 🟢 Luna is a cat\n</observations>"
    more = f"{pin}\n* 🟢 Luna is a cat\n* 🟡 From harold: Luna lives at 5 Elm Street"
    team = "composed_by: [harold], shared_by: [harold], working_memory: {template: '- allergy:'}"
    world = house(noted, shares, f"<observations>\n{REFLECTED.get(model, '')}\n{more}\n</observations>", team=team)
    world.say("we talked", resource="team")
    world.observe_now("t-1", "team")
    world.om.pin(pin, "team")
    world.om.update_working_memory({"allergy": "Luna is allergic to penicillin"}, "team")
    observe(world)
    if model == "built in":
        world.model = Extractive()
    world.reflect_now("team")
    before = world.om.generations("team")[-1].text
    assert "Luna lives at 5 Elm Street" in before
    world.om.forget(world.om.observations("harold")[0].id, "harold")

    text = world.om.generations("team")[-1].text
    assert [line in text for line in (own, pin, "Luna is a cat")] == [True] * 3, (before, text)
    assert [gone in text.lower() for gone in ("decided", "elm street", "from harold")] == [False] * 3, (before, text)
    assert [each.text for each in world.om.pins("team")] == [pin]
    assert world.om.working_memory("team").fields == {"allergy": "Luna is allergic to penicillin"}
    assert list(world.om.verify()) == []


def test_an_earlier_generation_and_a_correction_show_what_is_the_owners(house):
    """What the owner's first generation was made of has expired: only that text shows that the first line is not shared."""
    own, dose, shared = "* 🔴 Luna gets no penicillin", "* 🟡 The dose is 5 ml", "Luna gets no penicillin since June"
    notes = [f"<observations>\n{text}\n</observations>" for text in (own, own, f"{own}\n* 🟡 The dose is 3 ml")]
    world = house(notes[0], notes[1], answer(shared, "The dose is 3 ml or 5 ml"), notes[2])
    world.say("we talked", resource="team")
    world.observe_now("t-1", "team")
    world.reflect_now("team")
    observe(world)
    world.reflect_now("team")
    world.om.correct_line("* 🟡 The dose is 3 ml", dose, "team")
    world.client.delete(world.services.keys.of("team").reflected(Scope("team"), 1))
    world.om.forget(world.om.observations("harold")[0].id, "harold")
    assert world.om.generations("team")[-1].text.splitlines() == [own, dose]


def test_a_line_goes_although_a_copy_that_goes_too_could_not_be_removed_yet(house, monkeypatch):
    def superseded(*_):
        yield from ()
        return Outcome.SUPERSEDED

    ships = "<observations>\n* 🟡 We ship in May\n</observations>"
    world = house(answer("We ship in May"), ships, answer("We ship in May"))
    observe(world)
    world.reflect_now("team")
    observe(world)
    monkeypatch.setattr(copies, "forget", superseded)
    world.om.clear("harold")
    assert ("ship" in world.om.generations("team")[-1].text, len(world.om.observations("team"))) == (False, 1)
