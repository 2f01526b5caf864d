"""Scripts and styles: kept by a browser for as long as they are the same, and nothing else is served."""

from om_api.web.pages import static_files


def test_a_file_is_kept_until_its_address_changes_and_no_other_file_is_served(app):
    for name, kind in (("pages.css", "text/css"), ("pages.js", "text/javascript"), ("icon.svg", "image/svg+xml")):
        answer = app.get(static_files.address(name))
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    for name in ("none.css", "..%2fapp.py", "%2e%2e/app.py", "__init__.py", ""):
        assert app.get(f"/ui/static/{name}").status_code in {303, 404}, name
