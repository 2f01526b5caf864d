from om_bench.scale import paging as module
from om_bench.scale.paging import as_lines, measure


def test_pages_of_every_kind_are_measured_of_a_filled_table(few_templates, monkeypatch):
    monkeypatch.setattr(module, "_PAGES", 4)
    found = measure(100)
    lines = "\n".join(as_lines(found))

    assert [page.kind for page in found.pages] == list(module._KINDS)
    assert all(page.first > 0 and page.middle > 0 and page.slowest >= page.middle for page in found.pages)
    assert 0 < found.first_page <= found.fill
    assert "100 agents: the first page after" in lines
    assert "| by lag |" in lines
