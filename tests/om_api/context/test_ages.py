"""How the ages of dates, the gaps between them and plans that are past are told."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from om_api.context.ages import ages

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


def test_ages_tell_only_the_twelve_newest_dates():
    texts = [f"Date: {month} {day}, 2025\n* x" for month in ("Feb", "Jan") for day in range(1, 29)]
    (line,) = ages(texts, date(2025, 12, 30))

    assert line.count(" = ") == 12
    assert ("Feb 17, 2025" in line, "Feb 16, 2025" in line) == (True, False)


@settings(max_examples=30)
@given(st.text(alphabet="Date: Jun 10, 2025\n(meaning)<>/", max_size=200))
def test_ages_say_nothing_but_dates_and_plans_of_any_text(text):
    assert all(line.startswith((ABOVE, NOTES, PLANS, '- "')) for line in ages([text], TODAY))
