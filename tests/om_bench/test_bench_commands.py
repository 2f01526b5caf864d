import pytest
from click.testing import CliRunner

from om_bench.__main__ import bench


@pytest.mark.parametrize("command", [(), *((name,) for name in bench.commands)], ids=" ".join)
def test_every_help_text_of_a_benchmark_has_examples_to_copy(command):
    text = CliRunner().invoke(bench, [*command, "--help"]).stdout

    assert f"\n    om {' '.join(('bench', *command))}" in text


MARKS = {"speed": "<!-- speed -->\nfigures\n<!-- /speed -->\n", "cost": "<!-- cost -->\nfigures\n<!-- /cost -->\n"}


@pytest.mark.parametrize("words", [("speed", "--only", "get_context"), ("cost", "--sweep")], ids=" ".join)
def test_what_is_measured_in_part_does_not_replace_a_page(tmp_path, words):
    page = tmp_path / "page.md"
    page.write_text(MARKS[words[0]])
    done = CliRunner().invoke(bench, [*words, "--write", str(page)])

    assert done.exit_code == 2
    assert f"leave out {words[1]}" in done.stderr
    assert page.read_text() == MARKS[words[0]]


def test_a_page_without_a_place_for_the_figures_is_refused_before_anything_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr("om_bench.__main__.faster.measure", lambda *_: pytest.fail("measured"))
    page = tmp_path / "page.md"
    page.write_text(MARKS["cost"])
    done = CliRunner().invoke(bench, ["speed", "--write", str(page)])

    assert done.exit_code == 2
    assert "add the lines <!-- speed --> and <!-- /speed -->" in done.stderr


def test_a_store_that_is_away_is_named_by_every_measure(monkeypatch):
    monkeypatch.setenv("OM_REDIS_URL", "redis://127.0.0.1:1/0")
    done = CliRunner().invoke(bench, ["speed", "--only", "add_message"])

    assert done.exit_code == 3
    assert "the store did not answer" in done.stderr
