"""What operators do over HTTP: export, import, clear, erase, redact, force, pause, move; models, costs, series, agents."""

from hook_house import hooked, hooks_installed
from refusals import problem
from served import serving, settings_of
from trial_worker import READY, answering
from world import contents, wait_until

from om_api.domain.errors import ModelError
from om_api.http.serving.limits import MAX_BODY
from om_api.redaction.making import key_of
from om_api.store.fleet import spending
from om_api.store.fleet.spending import Most, Need
from om_workers.work.sampling import Sampler

HAROLD, NOBODY = "/v1/resources/harold", "/v1/resources/harld"
LINES = {"Content-Type": "application/x-ndjson"}


def test_export_clear_and_import_give_the_same_context_byte_for_byte(full, ask, client):
    before, kept = full.context().text, full.covering()
    for path in (HAROLD, f"{HAROLD}/threads/..", f"{HAROLD}/observations/.."):
        for confirm in ({}, {"confirm": ""}, {"confirm": "albert"}, {"confirm": "harold "}):
            assert ask("DELETE", path, params=confirm).status_code in {404, 422}, (path, confirm)
    assert full.covering() == kept != []

    file = ask("GET", f"{HAROLD}/export")
    store = contents(client, f"{full.prefix}:{{*")
    for spoiled, said in ((file.content, "harold holds a memory already"), (file.content[:-300], "line")):
        refused = ask("POST", f"{HAROLD}/import", content=spoiled, headers=LINES)
        assert said in problem(refused, 422)["detail"], said
        assert contents(client, f"{full.prefix}:{{*") == store

    ask("DELETE", HAROLD, params={"confirm": "harold"})
    answer = ask("POST", f"{HAROLD}/import", content=file.content, headers=LINES)
    assert file.headers["content-type"] == "application/x-ndjson"
    assert (answer.status_code, answer.json()["generations"], full.context().text) == (200, 1, before)


def test_a_file_larger_than_any_other_body_is_read_as_it_comes(ask, world):
    for n in range(10):
        world.say("x" * 900_000, id=f"m-{n}", tokens=1)
    file = ask("GET", f"{HAROLD}/export").content
    pieces = (file[at : at + 1_000_000] for at in range(0, len(file), 1_000_000))

    assert len(file) > MAX_BODY
    assert ask("POST", f"{HAROLD}/import", content=pieces, headers=LINES).status_code == 422
    ask("DELETE", HAROLD, params={"confirm": "harold"})
    assert ask("POST", f"{HAROLD}/import", content=file, headers=LINES).json()["messages"] == 10


def test_a_fact_is_told_and_then_removed(ask, world):
    erase = f"{HAROLD}/erase"
    world.say("it rains", id="rain")
    for n, named in enumerate(({"matching": "Door Code"}, {"message_id": "m-1", "thread_id": "t-1"})):
        world.say("the door code is 4711", id=f"m-{n}")
        would = ask("POST", erase, json={**named, "dry_run": True})
        assert (would.status_code, world.covering()) == (200, [f"m-{n}", "rain"])
        did = ask("POST", erase, json=named)
        assert did.json() == would.json()
        assert (did.json()["messages"], world.covering()) == ([{"thread_id": "t-1", "id": f"m-{n}"}], ["rain"])

    for body, status, says in [({}, 422, "name what is to be erased"), ({"matchin": "x"}, 422, "body.matchin")]:
        assert says in problem(ask("POST", erase, json=body), status)["detail"], body
    assert world.covering() == ["rain"]


def test_old_text_is_told_and_then_redacted_and_what_is_pushed_is_at_once(settings, ring, world, monkeypatch):
    world.say("write to ada@example.com")
    said = {"messages": [{"role": "user", "content": "ada@example.com"}]}
    with serving(settings_of(settings, redaction__before="store")) as http:
        http.headers["Authorization"] = f"Bearer {ring.create(['harold'], 'operator')[1]}"
        would, did, again = (http.post(f"{HAROLD}/redact", json=body).json() for body in ({"dry_run": True}, {}, {}))
        assert http.post(f"{HAROLD}/threads/t-2/messages", json=said).status_code == 200
        monkeypatch.setattr("om_api.client.redacting.redactor", lambda *_: key_of("NOWHERE_SET"))
        refused = http.post(f"{HAROLD}/threads/t-2/messages", json=said)

    found = {"kinds": {"email": 1}, "places": {"messages": 1}}
    assert (would, did, again["outcome"]) == ({"outcome": "rest", **found}, {"outcome": "cleared", **found}, "rest")
    assert "ada@example.com" not in world.context().text
    assert [each.content for each in world.om.messages("harold", "t-2")] == ["[email]"]
    assert "NOWHERE_SET, which is not set" in problem(refused, 503)["detail"]


def test_the_workers_can_be_asked_and_stopped(say, ask, world):
    """Catches a body that had to be sent though nothing in it had to be said."""
    say("m-1")
    problem(ask("POST", f"{HAROLD}/observe", json={"wait": -1}), 422)
    assert ask("POST", f"{HAROLD}/observe", json={"thread_id": "t-1"}).json() == {"outcome": "busy"}
    world.settle()
    assert ask("POST", f"{HAROLD}/observe").json() == {"outcome": "rest"}
    assert ask("POST", f"{HAROLD}/reflect").json()["outcome"] == "busy"
    assert ask("POST", f"{HAROLD}/pause").json() == {"outcome": "rest"}
    assert "is paused" in problem(ask("POST", f"{HAROLD}/observe", json={}), 422)["detail"]
    assert ask("POST", f"{HAROLD}/resume").json() == {"outcome": "rest"}


def test_what_is_wanted_of_a_resource_that_nobody_knows_is_not_found(using, client, prefix):
    """Catches a mistyped name that was answered like work done, and left a key behind."""
    ask = using("operator", "*")
    for act in [
        "POST /pause, POST /resume, POST /observe, POST /reflect, DELETE ?confirm=harld, DELETE /threads/t-1",
        "DELETE /observations/o-1, POST /reflections/1/restore, POST /rejected/3f1c20a9be77/retry",
        "DELETE /rejected/3f1c20a9be77, GET /stats, GET /record, GET /export, POST /migrate-scope, POST /erase",
        "POST /lines/correct, POST /observations/o-1/undo, POST /pins",
    ]:
        for method, path in (each.split(" ") for each in act.split(", ")):
            bodies = {"/migrate-scope": {"to": "thread"}, "/erase": {"matching": "x"}, "/pins": {"line": "x"}}
            bodies["/lines/correct"] = {"was": "a", "now": "b"}
            given = {"json": bodies[path]} if path in bodies else {}
            assert "harld is not known here" in problem(ask(method, f"{NOBODY}{path}", **given), 404)["detail"], path
    for path in (
        *("threads/t-1/context", "threads", "observations", "reflections", "reflections/1/observations"),
        *("threads/t-1/messages", "rejected", "costs", "settings"),
    ):
        assert ask("GET", f"{NOBODY}/{path}").status_code == 200, path
    assert list(client.scan_iter(f"{prefix}:{{*")) == []
    assert ask("POST", f"{NOBODY}/pause?create=true").json() == {"outcome": "rest"}
    assert ask("GET", f"{NOBODY}/stats").json()["paused"] is True


def test_a_memory_moves_to_its_threads_and_back(full, ask):
    before = full.covering()
    problem(ask("POST", f"{HAROLD}/migrate-scope", json={"to": "threads"}), 422)
    for to, outcome in (("thread", "activated"), ("thread", "rest"), ("resource", "activated")):
        assert ask("POST", f"{HAROLD}/migrate-scope", json={"to": to}).json()["outcome"] == outcome
        assert ask("GET", f"{HAROLD}/stats").json()["scope"] == to
    assert full.covering() == before


def test_hooks_are_listed_and_a_context_that_one_stops_is_to_be_asked_for_again(settings, ring, world, monkeypatch):
    world.say("hello")
    with hooks_installed(monkeypatch) as house:
        house.install(stops=lambda _: 1 / 0)
        with serving(settings_of(settings, **hooked("before_context", "stops", on_failure="stop"))) as http:
            http.headers["Authorization"] = f"Bearer {ring.create(['harold'], 'operator')[1]}"
            (state,) = http.get(f"{HAROLD}/hooks").json()
            refused = http.get(f"{HAROLD}/threads/t-1/context")
            (failed,) = http.get(f"{HAROLD}/hooks").json()

    assert (state["point"], state["name"], state["on_failure"]) == ("before_context", "stops", "stop")
    assert (state["ready"], state["failures"], failed["failures"]) == (True, 0, 1)
    assert "om hooks list harold" in problem(refused, 503)["detail"]
    assert refused.headers["retry-after"]


def test_models_are_listed_and_tried_by_operators_of_all(using, world):
    ask, harold, try_it = using("operator", "*"), using("operator", "harold"), "/v1/models/try?model=gemini-2.5-flash"
    models = {each["name"]: each for each in harold("GET", "/v1/models").json()["items"]}
    assert models["gemini-2.5-flash"]["prices"]["input"] > 0

    assert [using(*key)("POST", try_it).status_code for key in (("writer", "*"), ("operator", "harold"))] == [403] * 2
    assert ask("POST", try_it.replace("gemini-2.5-flash", "gpt-mystery")).status_code == 404
    with answering(world, READY, ModelError("gemini-2.5-flash refused (401): check GEMINI_API_KEY")):
        first, second = (ask("POST", f"{try_it}&wait=30").json() for _ in range(2))
    assert (first["outcome"], first["text"], first["input"], first["output"]) == ("answered", "ready", 48, 2)
    assert (second["outcome"], "check GEMINI_API_KEY" in second["error"]) == ("failed", True)
    waits, again = (ask("POST", try_it).json() for _ in range(2))  # while no worker comes
    assert (waits["outcome"], again) == ("busy", waits)
    did = {(each.did, each.of, each.status) for each in world.om.audit().entries}
    assert did >= {("model_tried", "gemini-2.5-flash", 200), ("model_tried", "gpt-mystery", 404)}


def test_costs_and_series_are_the_librarys_of_whom_the_key_is_bound_to(world, ask, using):
    run, keys, day = world.services.run, world.services.keys, spending.day_of(world.om.ping())
    for name, micros in (("harold", 7), ("ada", 9)):
        run(spending.reserve(keys, world.services.clock, name, "e", Need(), Most(), Most()))
        bill = {spending.field("m", "observe", what): n for what, n in (("micros", micros), ("calls", 1))}
        run(spending.settle(keys, day, name, "e", Need(1, micros), bill))
    world.say("hello")
    world.settle()
    world.sweep()
    Sampler(world.services).sample()
    every = using("operator", "*")

    costs = [each("GET", "/v1/costs/agents", params={"days": 2}).json() for each in (every, ask)]
    assert [[agent["resource"] for agent in told["agents"]] for told in costs] == [["ada", "harold"], ["harold"]]
    assert costs[1]["cost"] == ask("GET", f"{HAROLD}/costs", params={"days": 3}).json()["cost"] == 7e-06
    own, all_of_them = ask("GET", f"{HAROLD}/series").json(), every("GET", "/v1/series").json()
    assert [every("GET", "/v1/costs").json()["resource"], own["resource"]] == [None, "harold"]
    assert [point["message_tokens"] for point in own["points"]] == [100]
    assert [point["agents"] for point in all_of_them["points"]] == [1]
    for path in ("costs?days=0", "series?days=401"):
        assert ask("GET", f"{HAROLD}/{path}").status_code == 422, path


def test_agents_come_in_pages_and_a_key_is_told_of_its_own_only(world, using, app):
    """Breaks where totals, states or the next cursor are those of everybody."""
    for n, name in enumerate(("harold", "berta", "clara")):
        world.say(*["x"] * (n + 1), resource=name)
    world.settle()
    every, berta, by = using("reader", "*"), using("reader", "berta", "nobody"), {"sort": "pressure", "limit": 2}
    first = every("GET", "/v1/agents", params=by).json()
    rest = every("GET", "/v1/agents", params={**by, "cursor": first["next"]}).json()
    names = [[agent["resource"] for agent in page["items"]] for page in (first, rest)]
    assert (names, rest["next"]) == ([["clara", "berta"], ["harold"]], None)
    own = berta("GET", "/v1/agents").json()
    assert [agent["resource"] for agent in own["items"]] == ["berta"]
    assert (own["known"], own["matching"], own["read"], own["next"], sum(own["states"].values())) == (1, 1, 1, None, 1)
    assert berta("GET", "/v1/agents", params={"search": "clara"}).json()["items"] == []
    for params in ({"sort": "size"}, {"state": "asleep"}, {"limit": 0}, {"cursor": "x"}):
        assert every("GET", "/v1/agents", params=params).status_code == 422, params

    world.om.pause("berta")
    table = app.app.state.app_state.memory._core.agents._table
    wait_until(lambda: table.states()["paused"] == 1, "the table to hear of a pause although nobody asked again")
