"""The quarantine over HTTP: it can be looked at and emptied, and a broken one hides no other."""

from refusals import problem

HAROLD = "/v1/resources/harold"


def test_the_quarantine_can_be_looked_at_and_emptied(ask, walk, say, world):
    world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {b'{"role":"robot"}': 1_763_600_000_000})
    world.sweep()
    (entry,) = walk(f"{HAROLD}/rejected")

    assert (entry["kind"], entry["member"]) == ("malformed", '{"role":"robot"}')
    assert ask("POST", f"{HAROLD}/rejected/{entry['id']}/retry").json() == {"outcome": "busy"}
    world.sweep()
    (entry,) = walk(f"{HAROLD}/rejected")
    assert ask("DELETE", f"{HAROLD}/rejected/{entry['id']}").json() == {"outcome": "cleared"}
    assert "harold is not known here" in problem(ask("DELETE", f"{HAROLD}/rejected/{entry['id']}"), 404)["detail"]
    say("m-1")
    assert ask("DELETE", f"{HAROLD}/rejected/{entry['id']}").json() == {"outcome": "superseded"}


def test_a_resource_of_which_everything_was_malformed_is_listed(using, world, client, prefix):
    """Catches a quarantine that `GET /v1/rejected` left out: no worker had met the resource."""
    client.zadd(f"{prefix}:{{harold}}:messages:t-1", {b"broken": 1_763_600_000_000})
    world.sweep()
    ask = using("operator", "*")

    assert ask("GET", "/v1/rejected").json()["items"] == [{"resource": "harold", "rejected": 1}]
    assert ask("GET", "/v1/resources").json()["items"] == ["harold"]


def test_a_broken_quarantine_hides_no_other_one(using, world, client, prefix):
    """Catches a writer whose key of another type had `GET /v1/rejected` answer 503 to everybody."""
    client.zadd(f"{prefix}:resources", {"ada": 1, "harold": 2})
    client.rpush(f"{prefix}:{{harold}}:rejected", "entry")
    client.set(f"{prefix}:{{ada}}:rejected", "oops")
    found = using("operator", "*")("GET", "/v1/rejected")

    assert found.status_code == 200
    assert found.json()["items"] == [{"resource": "harold", "rejected": 1}]
