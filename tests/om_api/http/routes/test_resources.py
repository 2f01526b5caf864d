"""A resource over HTTP: what the library says of it, and that what is removed is gone."""

from __future__ import annotations

HAROLD = "/v1/resources/harold"


def test_statistics_record_and_settings_are_the_librarys(full, ask):
    assert ask("GET", f"{HAROLD}/stats").json()["observations"] == full.om.stats("harold").observations
    assert ask("GET", f"{HAROLD}/record").json()["generation"] == 1
    settings = {each["key"]: each["value"] for each in ask("GET", f"{HAROLD}/settings").json()}
    assert settings["message_threshold"] == 1000


def test_what_is_removed_is_gone(full, ask, walk):
    name = full.om.observations("harold")[0].id

    assert ask("DELETE", f"{HAROLD}/observations/{name}").json() == {"outcome": "cleared"}
    assert ask("DELETE", f"{HAROLD}/threads/t-2").json()["outcome"] == "cleared"
    assert [thread["id"] for thread in walk(f"{HAROLD}/threads")] == ["t-1"]
    assert ask("DELETE", HAROLD, params={"confirm": "harold"}).json()["outcome"] == "cleared"
    assert list(full.client.scan_iter(f"{full.prefix}:{{harold}}:*")) == []
