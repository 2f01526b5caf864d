"""Lines, pins, reviews, working memory and the sharing tool over HTTP; the key is told as who did it."""

from refusals import problem
from served import serving, settings_of
from world import World

from om_api.http.serving.shares import Share

HAROLD = "/v1/resources/harold"
LINES, PINS, REVIEW, KEPT = (f"{HAROLD}/{name}" for name in ("lines", "pins", "review", "working-memory"))


def test_a_line_is_noted_corrected_and_taken_back(using, ask, world):
    line = {"thread_id": "t-1", "text": "User lives in Oslo", "priority": 5}
    done = using("writer", "harold")("POST", LINES, json=line).json()
    (own,) = world.om.observations("harold")
    assert (done["outcome"], done["observation_id"], own.by != "") == ("added", own.id, True)
    for path, body, status, says in [
        ("", {**line, "text": "a\nb"}, 422, "one line at a time"),
        ("/correct", {"was": "User owns a boat", "now": "x"}, 404, "no line of harold says"),
    ]:
        assert says in problem(ask("POST", LINES + path, json=body), status)["detail"]

    corrected = ask("POST", f"{LINES}/correct", json={"was": "User lives in Oslo", "now": "User lives in Bergen"})
    lines = {"was": "* 🔴 User lives in Oslo", "now": "* 🔴 User lives in Bergen", "pinned": False}
    where = {"observation_id": own.id, "generation": 0, "thread_id": "t-1"}
    assert corrected.json() == {"outcome": "corrected", **where, **lines}
    back, gone = (ask("POST", f"{HAROLD}/observations/{own.id}/undo").json()["outcome"] for _ in range(2))
    assert (back, gone, world.om.observations("harold")) == ("corrected", "cleared", [])
    trail = world.om.audit().entries[::-1]  # told by where it stands, never by its words
    done = [(each.did, each.of) for each in trail if each.outcome == "done"]
    assert done == [(did, own.id) for did in ("line_added", "line_corrected", "line_undone", "line_undone")]
    assert "Oslo" not in repr(trail)


def test_a_line_is_pinned_listed_and_let_go(ask, world):
    world.om.add_line("User never flies", "harold", "t-1", priority=5)
    pin, again = (ask("POST", PINS, json={"line": "User never flies"}).json() for _ in range(2))
    (kept,) = ask("GET", PINS).json()["items"]

    assert (pin["outcome"], again) == ("pinned", {"outcome": "rest", "pin": kept})
    assert (kept["text"], kept["thread"], kept["by"] != "") == ("* 🔴 User never flies", "t-1", True)
    assert ask("GET", f"{PINS}?thread_id=t-2").json()["items"] == []
    assert ask("DELETE", f"{PINS}/{kept['id']}").json() == {"outcome": "unpinned", "pin": kept}
    assert [ask("DELETE", f"{PINS}/p-1").status_code, world.om.pins("harold")] == [404, []]


def test_large_approval_is_parsed_in_a_thread_up_to_its_first_fault(ask, monkeypatch):
    worked, work = [], Share.work
    monkeypatch.setattr(Share, "work", lambda share, job: worked.append(job) or work(share, job))
    text, lists = "x" * 70_000, [[]] * 30_000
    for n, (given, status) in enumerate((({"text": text}, 404), ({"text": lists}, 422), ({"lists": lists}, 422))):
        answer = ask("POST", f"{REVIEW}/approve", json=given, headers={"Content-Type": "application/x+json"})
        assert (answer.status_code, len(worked)) == (status, n + 1), n
        assert len(answer.text) < 1_000


def test_reflections_that_wait_are_listed_approved_and_sent_back(client, prefix, ask, using):
    world = World(client, prefix, reflection__review="ask", reflection__drain="false")
    for resource in ("harold", "ada"):
        world.om.add_line("Ada is his sister.", resource, "t-1")
        world.om.force_reflect(resource)
    world.settle()
    every, ada = using("operator", "*"), REVIEW.replace("harold", "ada")
    (listed,) = ask("GET", "/v1/reviews").json()["items"]
    assert {each["resource"] for each in every("GET", "/v1/reviews").json()["items"]} == {"ada", "harold"}
    found = ask("GET", REVIEW).json()
    assert (listed["resource"], listed["id"], found["id"]) == ("harold", *[world.om.proposal("harold").id] * 2)

    assert ask("POST", f"{REVIEW}/approve", json={"id": "another"}).json() == {"outcome": "superseded"}
    approved = ask("POST", f"{REVIEW}/approve", json={"id": found["id"], "text": "* Ada is his sister!"})
    assert approved.json() == {"outcome": "reflected"}
    assert world.om.generations("harold")[0].text == "* Ada is his sister!"
    told = {event.kind: event for event in world.om.events().events}
    assert len(told["review_approved"].by) >= 8  # the key's id
    assert "waits for a review" in problem(ask("GET", REVIEW), 404)["detail"]

    assert every("POST", f"{ada}/send-back", json={"comment": "no zebrafinch"}).json() == {"outcome": "sent_back"}
    world.settle()
    assert any("no zebrafinch" in request.prompt for request in world.model.requests)
    problem(every("POST", f"{ada}/send-back", json={"comment": "x" * 8_001}), 422)


def test_fields_of_the_working_memory_are_kept_changed_and_brought_back(settings, ring, client, prefix):
    fields = "- **Name**: what they are called\n- City:"
    world = World(client, prefix, working_memory__template=fields)
    with serving(settings_of(settings, working_memory__template=fields)) as http:
        http.headers["Authorization"] = f"Bearer {ring.create(['harold'], 'operator')[1]}"
        first = http.patch(KEPT, json={"fields": {"Name": "Ada", "City": "Graz"}}).json()
        second = http.patch(KEPT, json={"fields": {"City": None}, "version": 1}).json()
        late = http.patch(KEPT, json={"fields": {"City": "Rome"}, "version": 1}).json()
        assert (first["outcome"], first["working_memory"]["fields"]) == ("updated", {"Name": "Ada", "City": "Graz"})
        assert (second["outcome"], second["working_memory"]["text"]) == ("updated", "- **Name**: Ada\n- City:")
        assert (late["outcome"], late["working_memory"]["version"]) == ("superseded", 2)
        assert http.put(KEPT, json={"fields": {"City": "Oslo"}}).json()["working_memory"]["fields"] == {"City": "Oslo"}
        assert http.post(f"{KEPT}/undo").json()["working_memory"]["fields"] == {"Name": "Ada"}
        assert (len(http.get(f"{KEPT}/versions").json()), world.om.working_memory("harold").by != "") == (3, True)
        assert "'Town' is no field" in problem(http.patch(KEPT, json={"fields": {"Town": "x"}}), 422)["detail"]
        assert http.get(f"{HAROLD}/extracted?thread_id=t-1").json() == {}

        tool = http.get(f"{KEPT}-tool?format=gemini").json()
        assert tool["function_declarations"][0]["name"] == "update_working_memory"
        call = {"name": "update_working_memory", "args": {"fields": {"Name": "Eve"}}}
        assert http.post(f"{KEPT}-tool", json=call).json()["text"].endswith("- **Name**: Eve\n- City:")


def test_the_sharing_tool_offers_what_is_shared_and_the_key_is_bound_to(settings, ring, client, prefix):
    composed = "[{resource: team, share: [decisions]}, {resource: org, share: [facts]}, {resource: seen}]"
    world, at = World(client, prefix, compose=composed), f"{HAROLD}/share-tool"
    with serving(settings_of(settings, compose=composed, shared_by="[harold]")) as http:
        for bound, offered in ((("harold", "team", "org"), ["team", "org"]), (("harold", "team"), ["team"])):
            http.headers["Authorization"] = f"Bearer {ring.create(bound, 'writer')[1]}"
            tool = http.get(f"{at}?format=anthropic").json()
            assert tool["input_schema"]["properties"]["with"]["enum"] == offered
        call = {"type": "tool_use", "name": "share_note", "input": {"text": "We ship in May.", "with": "team"}}
        said = http.post(at, json=call).json()["text"]
        told = http.post(at, json={"text": "We ship", "with": "org"}).json()["text"]

    assert (said, told.endswith("permitted is team")) == ("It stands in the memory of team now.", True)
    (note,) = world.om.observations("team")
    assert ("We ship in May." in note.text, note.by, world.om.observations("org")) == (True, "harold", [])
