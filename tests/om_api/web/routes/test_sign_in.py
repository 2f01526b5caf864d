"""Signing in and out: what opens, what does not and says why, and how the browser keeps it."""

import msgspec
from served import serving

UNKNOWN = "om_0123456789ab_" + "x" * 43


def _sign_in(app, key, **fields):
    return app.post("/ui/sign-in", data={"key": str(key), **fields})


def test_a_key_opens_what_was_asked_for_and_nothing_but_our_pages(app, ring):
    _, token = ring.create(["harold"], "reader")
    page = app.get("/ui/sign-in?next=%2Fui%2Fagents%2Fharold%3Fthread%3Dt-1")
    answer = _sign_in(app, token, next="/ui/agents/harold?thread=t-1")
    assert 'name="next" value="/ui/agents/harold?thread=t-1"' in page.text
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/agents/harold?thread=t-1")

    for there in [
        *("https://elsewhere.example/ui/", "//elsewhere.example/ui/", "/\\elsewhere.example", "/ui/\\..\\elsewhere"),
        *("/ui/\r\nSet-Cookie: a=b", "javascript:alert(1)", "/v1/resources", "/ui", "/ui/ü", ""),
    ]:
        app.cookies.clear()
        answer = _sign_in(app, token, next=there)
        assert (answer.status_code, answer.headers["location"]) == (303, "/ui/agents"), there


def test_what_is_no_key_opens_nothing_and_is_not_shown(app, ring, client, prefix):
    for key in (UNKNOWN, "nonsense", "", "x" * 5_000, "<script>alert(1)</script>"):
        answer = _sign_in(app, key)
        assert answer.status_code in {403, 413}
        assert 'role="alert"' in answer.text
        assert "set-cookie" not in answer.headers
        assert not key or key not in answer.text
    key, token = ring.create(["harold"], "reader", expires_s=60)
    elsewhere = app.post("/ui/sign-in", data={"key": str(token)}, headers={"Origin": "http://elsewhere.example"})
    assert (elsewhere.status_code, "set-cookie" in elsewhere.headers) == (403, False)
    client.hset(f"{prefix}:keys", key.id, msgspec.json.encode(msgspec.structs.replace(key, expires_at=1)))
    answer = _sign_in(app, token)
    assert (answer.status_code, f"key {key.id} has expired" in answer.text) == (403, True)


def test_the_cookie_is_for_our_pages_alone_and_for_no_script(app, settings, ring):
    _, token = ring.create(["harold"], "reader")
    plain = _sign_in(app, token).headers["set-cookie"]
    with serving(settings, pages=True, base_url="https://memory.example", follow_redirects=False) as http:
        secure = _sign_in(http, token).headers["set-cookie"]

    for cookie in (plain, secure):
        told = {part.strip().lower() for part in cookie.split(";")}
        assert {"httponly", "samesite=strict", "path=/ui", "max-age=43200"} <= told
        assert token.secret not in cookie
    assert ("secure" in plain.lower(), "secure" in secure.lower()) == (False, True)


def test_a_session_is_kept_as_a_hash_that_expires_or_ends_when_somebody_signs_out(sign_in, client, prefix):
    who = sign_in("reader", "harold")
    (name,) = client.scan_iter(f"{prefix}*session*")
    assert who.cookie.encode() not in name + client.get(name)
    assert 0 < client.ttl(name) <= 43_200

    answer = who.send("/ui/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/sign-in")
    assert 'om_session=""' in answer.headers["set-cookie"]
    assert (list(client.scan_iter(f"{prefix}*session*")), who.get("/ui/agents").status_code) == ([], 303)


def test_a_session_ends_with_its_key(ring, sign_in, client, prefix):
    for end in ("revoked", "rotated", "expired", "the session's time is over"):
        client.delete(f"{prefix}:keys")
        who = sign_in("reader", "harold")
        (key,) = ring.list()
        if end == "revoked":
            ring.revoke(key.id)
        elif end == "rotated":
            ring.rotate(key.id)
        elif end == "expired":
            client.hset(f"{prefix}:keys", key.id, msgspec.json.encode(msgspec.structs.replace(key, expires_at=1)))
        else:
            client.delete(*client.scan_iter(f"{prefix}*session*"))
        assert who.get("/ui/agents").headers["location"] == "/ui/sign-in?next=%2Fui%2Fagents", end


def test_without_keys_there_is_nothing_to_sign_in_to(settings):
    with serving(settings, pages=True, locked=False, follow_redirects=False) as http:
        assert http.get("/ui/sign-in").headers["location"] == "/ui/agents"
        assert http.get("/ui/agents").status_code == 200
        assert http.get("/ui/agents", headers={"Origin": "http://elsewhere.example"}).status_code == 403
