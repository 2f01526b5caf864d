import time

from om_api.redaction import finding
from om_api.redaction.finding import find
from om_api.redaction.found import Sensitive
from om_api.redaction.placeholders import KINDS

FOUND = [
    ("email", "ada.lovelace+news@mail.example.co.uk"),
    ("email", "ünal@exämple.org"),
    ("phone", "+43 664 1234567"),
    ("phone", "+1 (415) 555-2671"),
    ("card", "4111 1111 1111 1111"),
    ("iban", "AT61 1904 3002 3457 3201"),
    ("secret", "sk-proj-Zx81kqLm02PwVt7Ya93b"),
    ("secret", "AKIAIOSFODNN7EXAMPLE"),
    ("secret", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N"),
    ("secret", "om_0123456789ab_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq"),
    ("secret", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"),
    ("phone", "+43\u00a0664\u202f1234567"),
    ("card", "4111\u20111111\u20111111\u20111111"),
]
ORDINARY = (
    "We met on 2026-11-27 at 10:30, and again on 27.11.2026 or 11/27/2026.",
    "2026-11-27T03:50:47.123456Z to 2026-11-28T00:00:00+01:00",
    "order 20240117-4455, invoice INV-2026-000123, ticket #1234567, ISBN 978-3-16-148410-0",
    "reference 1234567890123456 and tracking 1Z999AA10123456784",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b, tree 89e6c98d92887913cadf06b2adb97f26cde4849b",
    "id 123e4567-e89b-12d3-a456-426614174000, ulid 01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "at 1763600000000 ms, 1763600000000000000 ns, 192.168.178.21:8080, fe80::1ff:fe23:4567:890a",
    "the password is wrong; a token is missing; password: required; secret: null; token: str",
    "testThatTheUserCanLogInWithOAuth2TokensAndAnotherVeryLongName",
    "some-long-kebab-case-name-2024-with-words/Report-2024-11-27-Final-Version-V3-Draft.docx",
    "call_abc123DEF456, toolu_01A09q90qw90lq917835lq9, m-17, om_api.client.core",
    "toolu_01A09q90qw90lq917835lQ9KxB call_xK9fQ2mW7zR4tY8uP3sL6vB1 msg-xK9fQ2mW7zR4tY8uP3sL6vB1nC5",
    "img src=data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ or iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "icon@2x.png, logo@3x.jpeg, http://localhost:3000/@fs/x, https://example.com:8443/@ada/posts",
    "Password: please choose one; password: must be changed; the password: how do I reset it? passwd: see below",
    "token: the one you sent, **Password:** required, <password>string</password>, docker run -u 1000:1000",
)


def test_what_is_sensitive_is_found_whole_within_any_text():
    for kind, said in FOUND:
        text = f"so, {said}, or not"
        assert find(text, KINDS) == [Sensitive(kind, 4, 4 + len(said))], said
        assert find(f"({said})", KINDS) == [Sensitive(kind, 1, 1 + len(said))], said


def test_ordinary_text_stays_as_it_is():
    for text in ORDINARY:
        assert find(text, KINDS) == [], text
        assert find(text, KINDS, region="AT") == [], text


def test_behind_a_name_only_the_value_is_found():
    for text, secret in [
        ("password=hunter2", "hunter2"),
        ("my password is hunter2", "hunter2"),
        ("my API key is 7f3kd93kx02mz81q", "7f3kd93kx02mz81q"),
        ('{"card":4111111111111111}', "4111111111111111"),
        ('{"api_key": "abc123def"}', "abc123def"),
        (r"{\"db_password\": \"hunter2\"}", "hunter2"),
        ("export AUTH_TOKEN='tok-12345'", "tok-12345"),
        ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
        ("postgres://user:p/a@s/s@db.example.com:5432/x", "p/a@s/s"),
        ("amqp://u:p@ss@[::1]:5672", "p@ss"),
        ("**Password:** swordfish", "swordfish"),
        ("**Password**: `sword fish`", "sword fish"),
        ("<password>swordfish</password>", "swordfish"),
        ("curl -s -u ada:swordfish https://example.com", "swordfish"),
        ("curl --user 'ada:sword fish' https://example.com", "sword fish"),
        ("username: ada password: swordfish host: x", "swordfish"),
    ]:
        assert [text[each.start : each.end] for each in find(text, KINDS)] == [secret], text


def test_find_heeds_the_country_placeholders_overlaps_and_check_digits():
    text = "call 0664 1234567 tomorrow"
    assert find(text, KINDS) == []
    assert find(text, KINDS, region="AT") == [Sensitive("phone", 5, 17)]
    assert find('[email 0123456789] password="[secret]"', KINDS) == []
    assert find("4111 1111 1111 1112 and AT62 1904 3002 3457 3201", KINDS) == []
    assert [each.kind for each in find("ada@example.com, +43 664 1234567", ["phone"])] == ["phone"]
    text = "https://ada:geheim1@example.com/x"
    assert [(each.kind, text[each.start : each.end]) for each in find(text, KINDS)] == [("secret", "geheim1")]


def test_find_asks_the_iban_library_only_where_the_check_digits_are_right(monkeypatch):
    """The library takes 50 microseconds, and each end of each suspect was asked for."""
    asked = []
    monkeypatch.setattr(finding.iban, "is_valid", lambda number: asked.append(number) or True)
    assert find("DE89 3704 0044 0532 0130 0X. " * 20 + "AT61 1904 3002 3457 3201", ["iban"])
    assert len(asked) < 20


def test_find_takes_linear_time_for_any_text():
    """Breaks with a pattern that backtracks: 15,000 characters take seconds then instead of a moment."""
    pieces = ["a@", "a@b.c-", "password ", "password=", "1 ", "A", "x://a:", "[", "AT61 ", "AT61-", "sk-", "eyJabcde-"]
    pieces += [
        "xoxb-",
        "SG.a-",
        "curl -u ",
        "curl ",
        "x://a:b@",
        "**password",
        "<password>",
        "https://google.de/",
        "[{",
    ]
    pieces += ["aB1" * 9 + " base64,", "\u00a01", "a@b.com ", "token=a1b2c3d4 ", "bearer ", "+1 (", "aB1" * 9 + "-"]
    for piece in (*pieces, "-----BEGIN PRIVATE KEY-----"):
        began = time.thread_time()
        find(piece * (15_000 // len(piece)), KINDS, region="AT")
        assert time.thread_time() - began < 2, piece
