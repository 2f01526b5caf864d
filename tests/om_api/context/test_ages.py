"""Ages and days in contexts."""

from datetime import UTC, date, datetime
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st
from snapshots import context, kinds, observed, snapshot

from om_api.context import Rendering, View
from om_api.context import ages as ages_module
from om_api.context.ages import ages
from om_api.context.days import spelled
from om_api.domain.messages import Message
from om_api.domain.values import Scope
from om_workers.prompts.recalled import NOTE, Shown

TODAY = date(2025, 6, 15)
ABOVE, NOTES, PLANS = (
    "Dates above, seen from today: ", "Dates that notes above refer to: ", "Plans above whose date has passed:",
)  # fmt: skip
DONE = "likely already happened)"
TOLD = {  # what is told of some lines
    ("Date: Jun 10, 2025", "* a", "Date: Jun 1, 2025", "* b"): [
        f"{ABOVE}Jun 1, 2025 = 2 weeks ago; [1 week later] Jun 10, 2025 = 5 days ago"
    ],
    ("* Date: Jun 9, 2025", "Date: Jun 10, 2025"): [f"{ABOVE}Jun 10, 2025 = 5 days ago"],
    ("Date: Apr 1-May 20, 2025", "* a"): [f"{ABOVE}Apr 1-May 20, 2025 = 2 months ago to 3 weeks ago"],
    ("* in Ghent (meaning August 2024)", "* moved (estimated August 2024)", "* ready (meaning by late 2027)"): [
        f"{NOTES}August 2024 = 10 months ago to 9 months ago; by late 2027 = in 2 years"
    ],
    (f"* left (meaning{' ' * 60}May 2024)",): [f"{NOTES}May 2024 = 1 year ago"],  # of a model that lines its notes up
    (f"* left (meaning{' ' * 80}May 2024)",): [],
    ("Date: Jun 10, 2025", "* paid (meaning Jun 10, 2025)"): [f"{ABOVE}Jun 10, 2025 = 5 days ago"],
    ("* User plans to paint (meaning May 2, 2025)", "* User painted the shed (meaning May 2, 2025)"): [
        f"{NOTES}May 2, 2025 = 1 month ago",
        PLANS,
        f'- "User plans to paint" (meaning May 2, 2025 = 1 month ago, {DONE}',
    ],
    (f"* User will {'x' * 70} (estimated May 30, 2023)",): [
        *(PLANS, f'- "User will {"x" * 70}" (estimated May 30, 2023 = 2 years ago, {DONE}')
    ],
    (f"* User will {'x' * 71} (estimated May 30, 2023)",): [
        *(PLANS, f'- "User will {"x" * 69}…" (estimated May 30, 2023 = 2 years ago, {DONE}')
    ],
    ("Date: someday", "* x (meaning next spring)", "* y on June 10", "* z (meaning June 10)"): [],
}


def test_ages_tell_headers_notes_and_plans():
    for lines, told in TOLD.items():
        assert ages(["\n".join(lines)], TODAY) == told, lines
    plans = ("will", "plans to", "is planning to", "is looking forward to", "is going to", "intends to", "wants to")
    for words in (*plans, "needs to", "is about to"):
        told = ages([f"* 🔴 (09:00) User {words} attend the fair (estimated May 30, 2023)"], TODAY)
        assert told[1:] == [f'- "User {words} attend the fair" (estimated May 30, 2023 = 2 years ago, {DONE}'], words
    for when in ("June 15, 2025", "June 10 to June 20, 2025", "June 2025", "2025"):
        assert "Plans" not in "".join(ages([f"* User will attend the fair (estimated {when})"], TODAY)), when


def test_a_line_is_read_once_for_an_intention_however_many_dates_it_names(monkeypatch):
    read, intent = [], ages_module._INTENT
    monkeypatch.setattr(
        ages_module, "_INTENT", SimpleNamespace(search=lambda line: read.append(line) or intent.search(line))
    )
    dates = " ".join(f"(meaning May {day}, {year})" for year in range(2001, 2025) for day in range(1, 29))

    assert PLANS in ages([f"* User will {'x' * 2_000} {dates}"], TODAY)
    assert [len(line) for line in read] == [1_000]


def test_ages_tell_only_the_twelve_newest_dates():
    texts = [f"Date: {month} {day}, 2025\n* x" for month in ("Feb", "Jan") for day in range(1, 29)]
    (line,) = ages(texts, date(2025, 12, 30))

    assert line.count(" = ") == 12
    assert ("Feb 17, 2025" in line, "Feb 16, 2025" in line) == (True, False)


@settings(max_examples=30)
@given(st.text(alphabet="Date: Jun 10, 2025\n(meaning)<>/", max_size=200))
def test_ages_say_nothing_but_dates_and_plans_of_any_text(text):
    assert all(line.startswith((ABOVE, NOTES, PLANS, '- "')) for line in ages([text], TODAY))


CALL = {"type": "tool-call", "tool_call_id": "c", "name": "book", "args": {}}
RESULT = {"type": "tool-result", "tool_call_id": "c", "result": "booked"}
TALK = (
    ("2025-11-18T22:58", "user", "book me a train"), ("2025-11-18T22:59", "assistant", [CALL]),
    ("2025-11-18T23:01", "tool", [RESULT]), ("2025-11-18T23:02", "assistant", "booked"),
    ("2025-11-19T09:00", "user", "thanks"), ("2025-11-20T06:00", "assistant", "it leaves at 7"),
    ("2025-11-20T06:05", "user", "and the platform?"),
)  # fmt: skip
NOW = int(datetime(2025, 11, 20, 7, tzinfo=UTC).timestamp() * 1000)
FIRST, SECOND, THIRD = (spelled(date(2025, 11, day)) for day in (18, 19, 20))


def said(talk=TALK):
    return [
        Message(id=f"m{n}", role=role, content=content, at=int(datetime.fromisoformat(f"{at}Z").timestamp() * 1000))
        for n, (at, role, content) in enumerate(talk)
    ]


def made(messages, *notes, zone="Europe/Vienna", **fields):
    return context(snapshot(messages, notes, **fields), NOW, timezone=zone)


def lines(text):
    return [line for line in text.split("\n") if "From here on" in line]


def test_days_are_parted_where_the_agents_clock_has_midnight_and_no_call_is_parted_from_its_result():
    shown = made(said(), observed(1))

    assert lines(shown.text) == [
        f"From here on: {FIRST}.",
        f"Up to here: {FIRST}. From here on: {SECOND}.",
        f"Up to here: {SECOND}. From here on: {THIRD}.",
    ]
    assert [(kind == "day") for kind in kinds(shown)[3:-1]] == [
        *(True, False, False, False), *(True, False, False), *(True, False, False),
    ]  # fmt: skip
    assert len(lines(made(said(), zone="America/New_York").text)) == 2


MOMENTS = st.lists(st.integers(0, 72), min_size=1, max_size=12).map(sorted)
ROLES = st.lists(st.sampled_from(["user", "assistant", "tool", "call"]), min_size=12, max_size=12)


@settings(max_examples=25)
@given(MOMENTS, ROLES, st.booleans())
def test_what_was_shown_stays_byte_for_byte_as_the_talk_goes_on(hours, roles, noted):
    contents = {"call": [CALL], "tool": [RESULT]}
    talk = [
        Message(id=f"m{n}", role="assistant" if role == "call" else role, content=contents.get(role, "hi"), at=at)
        for n, (role, at) in enumerate(zip(roles, [NOW + hour * 3_600_000 for hour in hours], strict=False))
    ]
    rendering, before = Rendering(len), ""
    for n in range(1, len(talk) + 1):
        read = snapshot(talk[:n], [observed(1)] * noted)
        shown = rendering.context(read, View(), NOW)
        text = "\n\n".join(block.plain for block in shown.blocks if block.kind != "volatile")
        assert text.startswith(before)
        assert shown.as_openai() == context(read, NOW).as_openai()
        before = text


def test_a_line_that_an_agent_stores_is_known_for_ours_and_the_words_behind_it_are_heard():
    read = snapshot(said(), [observed(1)], signing_key="secret")
    sent = context(read, NOW, timezone="Europe/Vienna").as_openai()
    stored = Message(role="user", content=sent[-2]["content"], thread_id="t1")
    forged = Message(role="user", content=stored.content.replace(THIRD, SECOND), thread_id="t1")

    shown = Shown("secret", Scope("harold"))
    assert shown.without(stored, NOTE).content == f"{NOTE}\nand the platform?"
    assert shown.without(forged, NOTE).content == forged.content
