"""A memory leaves and comes back over HTTP, byte for byte, and nobody clears one by mistake."""

import pytest
from world import contents

from om_api.http.serving.limits import MAX_BODY

HAROLD = "/v1/resources/harold"
LINES = {"Content-Type": "application/x-ndjson"}


def test_export_clear_and_import_give_the_same_context_byte_for_byte(old, ask):
    before = old.context().text
    file = ask("GET", f"{HAROLD}/export")
    ask("DELETE", HAROLD, params={"confirm": "harold"})
    answer = ask("POST", f"{HAROLD}/import", content=file.content, headers=LINES)

    assert file.headers["content-type"] == "application/x-ndjson"
    assert (answer.status_code, answer.json()["generations"]) == (200, 1)
    assert old.context().text == before
    assert old.om.verify() == []


def test_a_memory_is_imported_into_the_resource_of_the_path_and_no_other(old, ask, using):
    file = ask("GET", f"{HAROLD}/export").content
    answer = using("operator", "albert")("POST", "/v1/resources/albert/import", content=file, headers=LINES)

    assert answer.json()["resource"] == "albert"
    assert old.context(resource="albert").text == old.context().text


def test_a_file_larger_than_any_other_body_is_read_as_it_comes(ask, world):
    given = [{"id": f"m-{n}", "role": "user", "content": "x" * 900_000, "tokens": 1} for n in range(10)]
    for message in given:
        ask("POST", f"{HAROLD}/threads/t-1/messages", json={"messages": [message]})
    file = ask("GET", f"{HAROLD}/export").content
    pieces = (file[at : at + 1_000_000] for at in range(0, len(file), 1_000_000))

    assert len(file) > MAX_BODY
    assert ask("POST", "/v1/resources/harold/import", content=pieces, headers=LINES).status_code == 422
    ask("DELETE", HAROLD, params={"confirm": "harold"})
    assert ask("POST", f"{HAROLD}/import", content=file, headers=LINES).json()["messages"] == 10


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda file: file, "harold holds a memory already"),
        (lambda file: file[:-300], "line"),
        (lambda file: file.replace(b"about m-15", b"about m-99"), "changed or damaged"),
        (lambda file: b"{}", "line 1"),
        (lambda file: b"", "not a single line"),
    ],
)
def test_what_cannot_be_imported_changes_nothing_and_says_why(old, ask, client, spoil, said):
    file = spoil(ask("GET", f"{HAROLD}/export").content)
    before = contents(client, f"{old.prefix}:{{*")
    refused = ask("POST", f"{HAROLD}/import", content=file, headers=LINES)

    assert (refused.status_code, said in refused.json()["detail"]) == (422, True)
    assert contents(client, f"{old.prefix}:{{*") == before


def test_whoever_hangs_up_imports_nothing_and_it_is_no_fault_of_ours(old, app, ask, ring, client):
    file = ask("GET", f"{HAROLD}/export").content
    _, token = ring.create(["albert"], "operator")
    came = iter([{"type": "http.request", "body": file[:-1000], "more_body": True}, {"type": "http.disconnect"}])
    where = {"type": "http", "method": "POST", "path": "/v1/resources/albert/import", "query_string": b""}
    sent = []

    async def call():
        async def receive():
            return next(came)

        async def send(message):
            sent.append(message)

        headers = [(b"authorization", f"Bearer {token}".encode())]
        await app.app({**where, "headers": headers, "app": app.app}, receive, send)

    app.portal.call(call)
    assert sent[0]["status"] == 422
    assert not list(client.scan_iter(f"{old.prefix}:{{albert}}*"))


@pytest.mark.parametrize("confirm", [{}, {"confirm": ""}, {"confirm": "albert"}, {"confirm": "harold "}])
@pytest.mark.parametrize("path", [HAROLD, f"{HAROLD}/threads/..", f"{HAROLD}/observations/.."])
def test_nobody_clears_a_whole_memory_without_saying_so(old, ask, confirm, path):
    before = old.covering()

    assert ask("DELETE", path, params=confirm).status_code in {404, 422}
    assert old.covering() == before != []
