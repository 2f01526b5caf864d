import time

import pytest

from om_api.redaction.finding import find
from om_api.redaction.found import Sensitive
from om_api.redaction.placeholders import KINDS

FOUND = [
    ("email", "ada.lovelace+news@mail.example.co.uk"),
    ("email", "ünal@exämple.org"),
    ("phone", "+43 664 1234567"),
    ("phone", "+1 (415) 555-2671"),
    ("card", "4111 1111 1111 1111"),
    ("card", "4111-1111-1111-1111"),
    ("card", "378282246310005"),
    ("iban", "AT61 1904 3002 3457 3201"),
    ("iban", "de89370400440532013000"),
    ("secret", "sk-proj-Zx81kqLm02PwVt7Ya93b"),
    ("secret", "ghp_0123456789abcdefghij0123456789abcdef"),
    ("secret", "AKIAIOSFODNN7EXAMPLE"),
    ("secret", "xoxb-123456789012-abcdefGHIJ"),
    ("secret", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N"),
    ("secret", "om_0123456789ab_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq"),
    ("secret", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"),
    ("secret", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQWGBF-x\n=Ab1\n-----END PGP PRIVATE KEY BLOCK-----"),
    ("secret", "xK9fQ2mW7zR4tY8uP3sL6vB1nC5"),
    ("phone", "+43\u00a0664\u202f1234567"),
    ("card", "4111\u00a01111\u00a01111\u00a01111"),
    ("card", "4111\u20111111\u20111111\u20111111"),
    ("iban", "AT61\u202f1904\u202f3002\u202f3457\u202f3201"),
]
ORDINARY = [
    "We met on 2026-11-27 at 10:30, and again on 27.11.2026 or 11/27/2026.",
    "2026-11-27T03:50:47.123456Z to 2026-11-28T00:00:00+01:00",
    "Version 1.2.3-rc.4 of the gateway, python 3.11.9, build 20261127.1",
    "order 20240117-4455, invoice INV-2026-000123, ticket #1234567, ISBN 978-3-16-148410-0",
    "reference 1234567890123456 and tracking 1Z999AA10123456784",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b, tree 89e6c98d92887913cadf06b2adb97f26cde4849b",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "id 123e4567-e89b-12d3-a456-426614174000, ulid 01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "it costs 1,234,567.89 EUR, or $12.50, 99% of 4,111,111,111",
    "at 1763600000000 ms, 1763600000000000000 ns, 192.168.178.21:8080, fe80::1ff:fe23:4567:890a",
    "the password is wrong; a token is missing; password: required; secret: null; token: str",
    "max_tokens=4096, tokens: 500, `api_key: string`, basic understanding of bearer assets",
    "testThatTheUserCanLogInWithOAuth2TokensAndAnotherVeryLongName",
    "some-long-kebab-case-name-2024-with-words/Report-2024-11-27-Final-Version-V3-Draft.docx",
    "git@github.com:org/repo.git, pkg@1.2.3, @mention, a @ b, user@localhost",
    "https://example.com/a/b?x=1&y=2#z and s3://bucket/key/2026/11/27/part-00000.parquet",
    "call_abc123DEF456, toolu_01A09q90qw90lq917835lq9, m-17, om_api.client.core",
    "toolu_01A09q90qw90lq917835lQ9KxB call_xK9fQ2mW7zR4tY8uP3sL6vB1 msg-xK9fQ2mW7zR4tY8uP3sL6vB1nC5",
    "img src=data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ or iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit?usp=sharing",
    "<https://drive.google.com/file/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/view>",
    "icon@2x.png, logo@3x.jpeg, http://localhost:3000/@fs/x, https://example.com:8443/@ada/posts",
    "Password: please choose one; password: must be changed; the password: how do I reset it? passwd: see below",
    "token: the one you sent, **Password:** required, <password>string</password>, docker run -u 1000:1000",
    "temperature +21.5, +3 apples, -40 to +85 degrees, 1+1=2, C++ and +1 from me",
]


@pytest.mark.parametrize(("kind", "said"), FOUND)
def test_what_is_sensitive_is_found_whole_within_any_text(kind, said):
    text = f"so, {said}, or not"
    assert find(text, KINDS) == [Sensitive(kind, 4, 4 + len(said))]
    assert find(f"({said})", KINDS) == [Sensitive(kind, 1, 1 + len(said))]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text):
    assert find(text, KINDS) == []
    assert find(text, KINDS, region="AT") == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2", "hunter2"),
        ("Password: swordfish", "swordfish"),
        ("my password is hunter2", "hunter2"),
        ('{"api_key": "abc123def"}', "abc123def"),
        (r"{\"db_password\": \"hunter2\"}", "hunter2"),
        ("export AUTH_TOKEN='tok-12345'", "tok-12345"),
        ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
        ("redis://user:pw12@host.com:6379/0", "pw12"),
        ("postgres://user:p/a@s/s@db.example.com:5432/x", "p/a@s/s"),
        ("amqp://u:p@ss@[::1]:5672", "p@ss"),
        ("mysql://root:12345/6@localhost", "12345/6"),
        ("**Password:** swordfish", "swordfish"),
        ("**Password**: `sword fish`", "sword fish"),
        ("- __API key__: abc123def", "abc123def"),
        ("<password>swordfish</password>", "swordfish"),
        ("curl -s -u ada:swordfish https://example.com", "swordfish"),
        ("curl --user 'ada:sword fish' https://example.com", "sword fish"),
        ("username: ada password: swordfish host: x", "swordfish"),
    ],
)
def test_behind_a_name_only_the_value_is_found(text, secret):
    assert [text[each.start : each.end] for each in find(text, KINDS)] == [secret]


def test_numbers_without_a_country_are_found_where_one_is_named():
    text = "call 0664 1234567 tomorrow"
    assert find(text, KINDS) == []
    assert find(text, KINDS, region="AT") == [Sensitive("phone", 5, 17)]


def test_numbers_that_no_check_digit_confirms_are_none():
    assert find("4111 1111 1111 1112 and AT62 1904 3002 3457 3201", KINDS) == []


def test_only_the_kinds_that_are_asked_for_are_found():
    text = "ada@example.com, +43 664 1234567"
    assert [each.kind for each in find(text, ["phone"])] == ["phone"]


def test_what_stands_in_a_placeholder_is_not_found_again():
    assert find('[email 0123456789] password="[secret]"', KINDS) == []


def test_of_two_that_overlap_the_secret_stands():
    text = "https://ada:geheim1@example.com/x"
    assert [(each.kind, text[each.start : each.end]) for each in find(text, KINDS)] == [("secret", "geheim1")]


def test_what_another_judge_finds_first_or_last_stands_only_where_nothing_is_taken():
    text = "ab@example.com [email] cd@example.com x"
    whole = [Sensitive("phone", start, start + 3) for start in range(len(text) - 2)]
    free = [Sensitive("phone", 36, 39)]
    assert find(text, KINDS, also=lambda _: whole) == [
        Sensitive("email", 0, 14),
        Sensitive("email", 23, 37),
    ]
    assert find(text + " y", KINDS, also=lambda _: [Sensitive("phone", 37, 40), *free])[-1] == Sensitive(
        "phone", 37, 40
    )


def test_another_judge_adds_what_it_finds():
    also = lambda text: [Sensitive("secret", 0, 3), Sensitive("person", 4, 6)]  # noqa: E731
    assert find("abc de ada@example.com", KINDS, None, also)[:1] == [Sensitive("secret", 0, 3)]


PIECES = [
    "a@",
    "a@b.c-",
    "password ",
    "password=",
    "1 ",
    "A",
    "x://a:",
    "[",
    "AT61 ",
    "AT61-",
    "sk-",
    "eyJabcde-",
    "xoxb-",
    "SG.a-",
]
PIECES += [
    "curl -u ",
    "curl ",
    "x://a:b@",
    "**password",
    "<password>",
    "https://google.de/",
    "aB1" * 9 + " base64,",
    "[{",
    "\u00a01",
]
PIECES += ["a@b.com ", "token=a1b2c3d4 "]
PIECES += ["-----BEGIN PRIVATE KEY-----", "bearer ", "+1 (", "aB1" * 9 + "-"]


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_keeps_it_busy(piece):
    began = time.perf_counter()
    find(piece * (100_000 // len(piece)), KINDS, region="AT")
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("secret", "my API key is 7f3kd93kx02mz81q"),
        ("secret", "Secret access key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("card", "name,4111111111111111,12/27"),
        ("card", '{"card":4111111111111111}'),
    ],
)
def test_it_is_found_as_people_and_tables_write_it(kind, text):
    assert [each.kind for each in find(text, KINDS)] == [kind]
