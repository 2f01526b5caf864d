import pytest

from om_workers.prompts.parse import parse_observer, parse_reflector
from om_workers.prompts.repetition import is_degenerate


def observations(*lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


def numbered(number):
    return [f"* 🟡 (09:{n % 60:02}) Note {n}: {n * 7919} items were counted in hall {n * 31}" for n in range(number)]


FIVE = ["a longer line about the first thing", "a second line that says something else", "the third line of the block"]
FIVE += ["and a fourth one, also long enough", "the fifth and last line of this block"]


@pytest.mark.parametrize(
    "lines",
    [
        numbered(400),
        ["* 🟡 ran the tests"] * 200,
        ["x" * 71_000],
        ["x" * 71_000, *numbered(40)],
        [f"Date: Dec {n % 30 + 1}, 2025" for n in range(2000)],
        ["</item>"] * 3000,
        *([("* 🟡 ran tests", "* 🟡 edited")[n % 2] for n in range(number)] for number in (100, 200, 300)),
        FIVE * 3,
        [
            *["a line of just about a hundred characters that is repeated, but only a few times in one run"] * 90,
            *numbered(30),
        ],
    ],
    ids=lambda lines: f"{len(lines)} lines",
)
def test_honest_repetition_is_accepted(lines):
    text = observations(*lines)

    assert not parse_observer(text).degenerate
    assert not parse_reflector(text).degenerate


@pytest.mark.parametrize(
    "lines",
    [
        FIVE * 20,
        ["a line of eighty-five characters that comes again and again as if it never would end."] * 300,
        [f"line {n} of a long block, different from the other {n * 37} lines" for n in range(21)] * 62,
        ["* 🟡 ran a tool", "* 🟡 read a file"] * 400,
        ["ha"] * 6000,
        [*numbered(5), "and so on " * 900],
    ],
    ids=lambda lines: f"{len(lines)} lines",
)
def test_a_loop_is_told_and_all_of_it_discarded(lines):
    text = observations(*lines) + "\n<current-task>\nx\n</current-task>"
    observed, reflected = parse_observer(text), parse_reflector(text)

    assert (observed.degenerate, observed.text, observed.current_task, observed.readable) == (True, "", "", False)
    assert (reflected.degenerate, reflected.text, reflected.patterns) == (True, "", ())


def test_a_short_text_is_never_a_loop():
    text = "\n".join(FIVE * 20)

    assert not is_degenerate(text[:1999])
    assert is_degenerate(text[:2000])


def test_a_longer_line_ends_a_run_of_short_ones():
    runs = [line for n in range(4) for line in [*["* 🟡 ran a tool", "* 🟡 read a file"] * 150, numbered(9)[n]]]

    assert not is_degenerate("\n".join(runs))
    assert is_degenerate("\n".join(line for line in runs if "Note" not in line))


def noted(n, length=60):
    """A line of its own, of so many characters."""
    return f"* 🟡 {n * 7919 % 10_007} pieces were counted in hall {n * 31} ".ljust(length, chr(97 + n % 26))[:length]


HALF = [*range(30), *range(15, 30), *range(15)]  # each once and again, no two alike side by side
FEW = [n * 2 % 5 for n in range(20)]


@pytest.mark.parametrize(
    ("honest", "loop"),
    [
        (
            [noted(1, 100)] * 100 + [noted(n) for n in range(2, 30)],
            [noted(1, 100)] * 101 + [noted(n) for n in range(2, 30)],
        ),
        (["ran tests", "read it"] * 625, ["ran tests", "read it"] * 626),  # 10,000 characters of short lines
        ([noted(n) for n in HALF], [noted(n) for n in [*HALF, 7]]),  # half of them are copies, and one more
        (
            ["x" * 4_300, *(noted(n, 99) for n in range(57))],  # of 50 windows 20 are copies, and one more
            ["x" * 4_400, *(noted(n, 99) for n in range(56))],
        ),
        ([noted(n, 180) for n in FEW[:19]], [noted(n, 180) for n in FEW]),  # fewer than 20 lines tell nothing
    ],
    ids=["one run", "short lines", "half are copies", "windows", "few lines"],
)
def test_an_honest_list_is_no_loop_until_it_repeats_more_than_it_may(honest, loop):
    assert (is_degenerate("\n".join(honest)), is_degenerate("\n".join(loop))) == (False, True)
