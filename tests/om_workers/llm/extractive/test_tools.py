from extracts import block, called, observe, returned
from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=30),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
        max_leaves=12,
    )
)
def test_no_tool_result_makes_it_raise(result):
    assert observe(called("t", {"a": result}), returned("t", result)).startswith("<observations>\n")


def test_an_error_text_counts_as_an_error_and_none_do_not():
    lines = block(observe(returned("a", "ValueError: bad id x-1"), returned("b", "12 rows, errors 0", 2, 1)))

    assert lines[1].startswith("* 🔴")
    assert lines[2].startswith("* (")


def test_a_short_result_is_told_with_the_arguments_of_its_call():
    text = observe(
        called("create_user", {"name": "ada", "plan": "pro"}), returned("create_user", {"id": 4411}, minute=1)
    )

    assert "create_user: (name ada, plan pro) id 4411" in text


def test_a_result_without_an_id_is_told_with_the_arguments_of_its_tools_call():
    asked, other, answer = (
        called("count", {"of": "cats"}),
        called("count_all", {"of": "dogs"}),
        returned("count", 4, minute=1),
    )
    for each in (asked, other, answer):
        del each.content[0]["tool_call_id"]

    assert "count: (of cats) 4" in observe(asked, other, answer)
