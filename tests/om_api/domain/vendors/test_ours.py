import pytest

from om_api.domain.vendors.ours import arguments, attachment, data_url, kind_of, text, tool_call, tool_result


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('{"at": 1}', {"at": 1}),
        ('{"at": ', '{"at": '),
        ("", {}),
        (" ", {}),
        (None, {}),
        ({"a": 1}, {"a": 1}),
        ("[" * 9_999, "[" * 9_999),
    ],
)
def test_arguments_that_are_no_json_are_kept_as_the_model_wrote_them(written, read):
    assert arguments(written) == read


def test_a_part_says_nothing_that_is_not_known():
    assert tool_call(None, {}, None) == {"type": "tool-call", "name": "", "args": {}}
    assert tool_result(None, "", failed=True) == {"type": "tool-result", "result": "", "is_error": True}
    assert attachment("file", url=None, name="a.pdf") == {"type": "file", "name": "a.pdf"}
    assert text("x", {"name": "", "citations": [], "page": 0}) == {"type": "text", "text": "x", "page": 0}


def test_both_alphabets_of_base64_make_one_address():
    assert data_url("image/png", "-_8=") == data_url("image/png", "+/8=") == "data:image/png;base64,+/8="


@pytest.mark.parametrize(("mime", "kind"), [("image/png", "image"), ("application/pdf", "file"), (None, "file")])
def test_media_are_an_image_or_a_file(mime, kind):
    assert kind_of(mime) == kind
