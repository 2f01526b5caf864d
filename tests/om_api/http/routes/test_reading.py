"""What a memory holds, over HTTP: contexts, threads, messages, chunks, observations, generations, groups, the quarantine."""

from refusals import problem
from world import World

from om_api.http.requests import replies
from om_api.http.serving import shares

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"
AT = f"{HAROLD}/threads"


def ids(answer):
    return [each["id"] for each in answer.json()["items"]]


def test_a_context_is_the_librarys_in_every_format_large_or_small(full, ask, threads, monkeypatch):
    own = full.context()
    meant = {form: getattr(own, f"as_{form}")() for form in ("openai", "openai_responses", "anthropic", "gemini")}
    for form in ("text", *meant, "blocks"):
        small = ask("GET", f"{THREAD}/context", params={"format": form})
        with monkeypatch.context() as patch:
            patch.setattr(shares, "LARGE", 100)
            patch.setattr(replies, "_PIECE", 50)
            large = ask("GET", f"{THREAD}/context", params={"format": form})
        assert (large.content, large.headers["content-length"]) == (small.content, str(len(small.content))), form
        found = small.json()
        assert found["tokens"] == own.tokens
        if form == "blocks":
            assert [block["hash"] for block in found["context"]] == [block.hash for block in own.blocks]
            named = [(block["kind"], block["id"]) for block in found["context"] if block["id"]]
            assert named == [("message", message.id) for message in own.messages]
        else:
            assert found["context"] == {**meant, "text": own.text}[form], form
    assert [name == "heavy" for name in threads] == [False, True]


def test_a_context_can_be_capped_and_says_what_it_left_out(say, ask):
    say(*[f"n-{n}" for n in range(9)])
    capped = ask("GET", f"{THREAD}/context", params={"max_tokens": 400}).json()
    assert (capped["omitted"] > 0, capped["recalled"]) == (True, [])
    assert ("about n-8" in capped["context"], "about n-0" in capped["context"]) == (True, False)


def test_notes_of_other_resources_stand_in_it_where_the_key_is_bound_to_them(using, world):
    for resource in ("harold", "albert", "berta"):
        world.say(f"the vault of {resource} is blue", resource=resource, thread=f"of-{resource}")
        world.om.force_observe(f"of-{resource}", resource)
        world.settle()
    both, every = using("reader", "harold", "albert"), using("reader", "*")
    doors = [("GET", f"{THREAD}/context", {}), ("GET", f"{HAROLD}/recall?q=vault", {})]
    doors.append(("POST", f"{HAROLD}/recall-tool", {"json": {"query": "vault"}}))
    context, recalled, answer = (
        both(*door, params={"also": "albert", "q": "vault"}, **body).json() for *door, body in doors
    )

    assert "the vault of albert is blue" in context["context"]
    assert list(context["composed"]) == ["albert"]
    assert {hit["resource_id"] for hit in recalled["hits"]} == {"harold", "albert"}
    assert "of albert, message" in answer["text"]
    for method, path, body in doors:
        refused = both(method, path, params={"also": ["albert", "berta"], "q": "vault"}, **body)
        assert "berta" in problem(refused, 403)["detail"], path
    for also in ("harold", "x" * 201, ["albert", "albert"], [f"r{n}" for n in range(9)]):
        assert every("GET", f"{THREAD}/context", params={"also": also}).status_code == 422, also


def test_what_was_added_can_be_read_back_and_a_cursor_names_a_message(say, ask):
    say("m-1", timestamp=1_763_600_001_000, metadata={"lang": "en"})
    say("m-3", timestamp=1_763_600_003_000)
    first = ask("GET", f"{THREAD}/messages", params={"limit": 1}).json()
    say("m-0", timestamp=1_763_600_000_000)
    say("m-2", timestamp=1_763_600_002_000)
    rest = ask("GET", f"{THREAD}/messages", params={"cursor": first["next"]})

    (found,) = first["items"]
    assert (found["id"], found["role"], found["content"], found["tokens"]) == ("m-1", "user", "about m-1", 100)
    assert (found["metadata"], found["at"]) == ({"lang": "en"}, 1_763_600_001_000)
    assert ids(rest) == ["m-2", "m-3"]
    assert ids(ask("GET", f"{AT}/t-2/messages")) == []


def test_statistics_record_and_what_is_removed_are_the_librarys(full, ask, walk):
    assert ask("GET", f"{HAROLD}/stats").json()["observations"] == full.om.stats("harold").observations
    assert ask("GET", f"{HAROLD}/record").json()["generation"] == 1
    for method, path in (("DELETE", "o-1"), ("GET", "o-1/messages")):
        assert "has no observation o-1" in problem(ask(method, f"{HAROLD}/observations/{path}"), 404)["detail"]
    names = [full.om.observations("harold")[0].id, full.om.replaced(1, "harold")[0].id]
    assert full.client.delete(*(f"{full.prefix}:{{harold}}:source:{name}" for name in names)) == 2  # as if expired
    for name in names:
        assert ask("GET", f"{HAROLD}/observations/{name}/messages").json() == {"items": [], "next": None}

    assert ask("DELETE", f"{HAROLD}/observations/{names[0]}").json() == {"outcome": "cleared"}
    assert ask("DELETE", f"{AT}/t-2").json()["outcome"] == "cleared"
    assert [thread["id"] for thread in walk(AT)] == ["t-1"]
    assert ask("DELETE", HAROLD, params={"confirm": "harold"}).json()["outcome"] == "cleared"
    assert list(full.client.scan_iter(f"{full.prefix}:{{harold}}:*")) == []


def test_a_reflection_is_read_page_by_page_and_undone(full, ask, walk):
    before, path = full.covering(), f"{HAROLD}/reflections/1/observations"
    first = ask("GET", path, params={"limit": 2}).json()
    names = sorted(o.id for o in full.om.replaced(1, "harold"))
    assert [entry["id"] for entry in first["items"] + walk(path, cursor=first["next"])] == names

    assert ask("POST", f"{HAROLD}/reflections/0/restore").json() == {"outcome": "restored"}
    assert "no generation 9" in problem(ask("POST", f"{HAROLD}/reflections/9/restore"), 404)["detail"]
    assert full.covering() == before


def test_groups_are_listed_in_pages_and_read_by_their_names(world, ask, walk):
    for n in range(3):
        world.om.add_line(f"fact {n} about the harbour", "harold", f"t-{n}")
    house = World(world.client, world.prefix, reflection__mode="archive")
    house.om.force_reflect("harold")
    house.settle()
    groups = house.om.groups("harold")
    for limit in (1, 500):
        assert [each["id"] for each in walk(f"{HAROLD}/groups", limit=limit)] == [each.id for each in groups]
    (note,) = ask("GET", f"{HAROLD}/groups/{groups[0].id}").json()["items"]
    assert (note["group"], "about the harbour" in note["text"]) == (groups[0].id, True)
    assert ids(ask("GET", f"{HAROLD}/groups", params={"within": "1999"})) == []

    assert "keeps no group" in problem(ask("GET", f"{HAROLD}/groups/aaaaaaaa"), 404)["detail"]
    assert "a month such as" in problem(ask("GET", f"{HAROLD}/groups/..%5cx"), 422)["detail"]


def test_a_memory_mode_is_set_with_messages_and_for_a_thread(ask, using, world):
    said, writer = {"messages": [{"role": "user", "content": "one"}], "memory": "off"}, using("writer", "harold")
    assert writer("POST", f"{AT}/a/messages", json=said).status_code == 200
    assert writer("POST", f"{AT}/b/sync", json={**said, "memory": "read_only"}).status_code == 200
    assert writer("PATCH", f"{AT}/c", json={"memory": "write_only"}).json()["memory"] == "write_only"
    listed = {each["id"]: each["memory"] for each in ask("GET", AT).json()["items"]}
    assert listed == {"a": "off", "b": "read_only", "c": "write_only"}
    for path, how in ((f"{AT}/a/messages", "POST"), (f"{AT}/a/sync", "POST"), (f"{AT}/a", "PATCH")):
        refused = writer(how, path, json={"memory": "Off"} if how == "PATCH" else {**said, "memory": "Off"})
        assert (refused.status_code, "'full', 'off', 'write_only' or 'read_only'" in refused.text) == (422, True), path
    assert len(world.covering()) == 2


def test_a_thread_is_named_archived_listed_in_an_order_and_copied(ask, using, world):
    for n, (name, text) in enumerate((("a", "one"), ("b", "two"))):
        world.say(text, thread=name, timestamp=1_763_600_000_000 + n)
    writer = using("writer", "harold")
    first = ask("GET", f"{AT}?order=activity&limit=1")
    second = ask("GET", f"{AT}?order=activity&limit=1&cursor={first.json()['next']}")
    assert (ids(first), ids(second), second.json()["next"]) == (["b"], ["a"], None)
    named = writer("PATCH", f"{AT}/a", json={"title": "The roof", "metadata": {"n": 1}}).json()
    hidden = ask("PATCH", f"{AT}/a", json={"archived": True}).json()
    assert (named["title"], named["metadata"], named["messages"]) == ("The roof", {"n": 1}, 1)
    assert (hidden["title"], hidden["archived_at"] > 0) == ("The roof", True)
    found = [ids(ask("GET", f"{AT}{query}")) for query in ("", "?archived=yes", "?archived=all")]
    assert found == [["b"], ["a"], ["a", "b"]]

    copied = writer("POST", f"{AT}/a/copies", json={"to": "a2"}).json()
    assert (copied["messages"], copied["thread_id"]) == (1, "a2")
    assert writer("POST", f"{AT}/a/copies", json={"to": "a", "to_resource": "ingrid"}).status_code == 403
    made = ask("PUT", f"{HAROLD}/aliases/b", json={"thread_id": "a"})
    assert made.json() == {"alias": "b", "thread": "a", "messages": 1, "known": 0, "observations": 0}
    assert ask("GET", f"{HAROLD}/aliases").json()["items"] == [{"alias": "b", "thread_id": "a"}]
    assert [ask("DELETE", f"{HAROLD}/aliases/b").json()["outcome"] for _ in range(2)] == ["cleared", "rest"]
    did = {(each.did, each.thread or each.of) for each in world.om.audit(count=9).entries}
    assert did >= {("thread_aliased", "b"), ("thread_changed", "a")}
    assert "roof" not in f"{world.om.audit(count=9)} {world.om.events('0')}"

    for method, path, given, status in [
        ("GET", "?order=size", None, 422), ("PATCH", "/nowhere", {"title": "x"}, 404),
        ("PATCH", "/a", {"title": "two\nlines"}, 422), ("POST", "/a/copies", {"to": "a2"}, 422),
    ]:  # fmt: skip
        assert ask(method, AT + path, json=given).status_code == status, (method, path)


def test_the_quarantine_can_be_looked_at_and_emptied_and_a_broken_one_hides_no_other(ask, walk, using, world):
    """Catches a writer whose key of another type had `GET /v1/rejected` answer 503 to everybody."""
    world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {b'{"role":"robot"}': 1_763_600_000_000})
    world.sweep()
    world.client.zadd(f"{world.prefix}:resources", {"ada": 1})
    world.client.set(f"{world.prefix}:{{ada}}:rejected", "oops")
    every = using("operator", "*")
    assert every("GET", "/v1/rejected").json()["items"] == [{"resource": "harold", "rejected": 1}]
    assert "harold" in every("GET", "/v1/resources").json()["items"]

    (entry,) = walk(f"{HAROLD}/rejected")
    assert (entry["kind"], entry["member"]) == ("malformed", '{"role":"robot"}')
    assert ask("POST", f"{HAROLD}/rejected/{entry['id']}/retry").json() == {"outcome": "busy"}
    world.sweep()
    (entry,) = walk(f"{HAROLD}/rejected")
    assert ask("DELETE", f"{HAROLD}/rejected/{entry['id']}").json() == {"outcome": "cleared"}
    world.say("m-1")
    assert ask("DELETE", f"{HAROLD}/rejected/{entry['id']}").json() == {"outcome": "superseded"}
    world.client.delete(f"{world.prefix}:{{ada}}:rejected")


def test_every_list_comes_in_pages_that_hold_each_entry_once(full, walk):
    om, first = full.om, full.om.observations("harold")[0].id
    meant = {
        "observations": om.observations("harold"), "threads/t-1/messages": om.messages("harold", "t-1"),
        "threads": om.threads("harold"), "reflections": om.generations("harold"),
        "reflections/1/observations": om.replaced(1, "harold"),
        f"observations/{first}/messages": om.sources(first, "harold"),
    }  # fmt: skip
    for path, entries in meant.items():
        names = [getattr(entry, "id", None) or entry.n for entry in entries]
        for limit in (1, 500):
            found = [entry.get("id", entry.get("n")) for entry in walk(f"{HAROLD}/{path}", limit=limit)]
            assert (sorted(found), len(found) > 0) == (sorted(names), True), path
    assert {entry["thread_id"] for entry in walk(f"{HAROLD}/observations", thread_id="t-1")} == {"t-1"}
