"""Scripts and styles: kept by a browser for as long as they are the same, and nothing else is served."""

import pytest

from om_api.web.pages import static_files


@pytest.mark.parametrize(
    ("name", "kind"), [("pages.css", "text/css"), ("pages.js", "text/javascript"), ("icon.svg", "image/svg+xml")]
)
def test_a_file_is_kept_until_its_address_changes(app, name, kind):
    answer = app.get(static_files.address(name))

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["none.css", "..%2fapp.py", "%2e%2e/app.py", "__init__.py", ""])
def test_no_other_file_is_served(app, name):
    assert app.get(f"/ui/static/{name}").status_code in {303, 404}


def test_a_file_that_is_not_there_has_no_address():
    with pytest.raises(KeyError):
        static_files.address("none.css")
