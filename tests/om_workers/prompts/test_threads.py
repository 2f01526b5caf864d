import pytest

from om_workers.prompts.parse import parse_observer, parse_reflector


def observations(*lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


def test_thread_tags_are_taken_out():
    text = observations('<thread id="a">', "* x <thread id='b'>y</thread>", "</thread>", "* z")

    assert parse_observer(text).text == "* x y\n* z"


@pytest.mark.parametrize("code", ["List<Thread> x", "Map<Thread, int>", "f<Thread>()"])
def test_code_that_names_a_thread_as_its_type_is_left_as_it_is(code):
    assert parse_observer(observations(f"* 🟡 {code}")).text == f"* 🟡 {code}"
    assert parse_reflector(observations(f"* 🟡 {code}")).text == f"* 🟡 {code}"


def test_a_tag_that_taking_out_another_brings_together_is_escaped():
    assert parse_observer(observations("* <<thread>thread>")).text == "* &lt;thread>"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["* a", "</thread>", "* b"], "* a\n* b"),
        (['<thread id="a">', "* a"], "* a"),
        (['<thread id="a">', "* a", '<thread id="b">', "* b", "</thread>"], '* a\n<thread id="b">\n* b\n</thread>'),
        (["<thread>", "* a", "</thread>"], "* a"),
        (['* said <thread id="a">', "* a", "</thread>"], "* said \n* a"),
        (['<thread id="no good">', "* a", "</thread>"], "* a"),
        (["  <Thread id='a' >* a</THREAD>", "* b"], '<thread id="a">\n* a\n</thread>\n* b'),
        (['<thread id="a">', "* said <thread id='x'> to us", "</thread>"], '<thread id="a">\n* said  to us\n</thread>'),
        (['<thread id="a">', "", "</thread>", "* b"], "* b"),
        (["* a <<thread>thread id='x'>"], "* a &lt;thread id='x'>"),
        (["* a <memory> <\u200bthread> b"], "* a &lt;memory> &lt;\u200bthread> b"),
    ],
)
def test_well_formed_thread_sections_stay_and_strays_go(lines, text):
    assert parse_reflector(observations(*lines)).text == text
