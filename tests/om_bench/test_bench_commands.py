from click.testing import CliRunner

from om_bench.__main__ import bench

MARKS = {"speed": "<!-- speed -->\nfigures\n<!-- /speed -->\n", "cost": "<!-- cost -->\nfigures\n<!-- /cost -->\n"}


def test_what_is_measured_in_part_does_not_replace_a_page(tmp_path):
    for words in [("speed", "--only", "get_context"), ("cost", "--sweep")]:
        page = tmp_path / "page.md"
        page.write_text(MARKS[words[0]])
        done = CliRunner().invoke(bench, [*words, "--write", str(page)])

        assert done.exit_code == 2, words
        assert f"leave out {words[1]}" in done.stderr, words
        assert page.read_text() == MARKS[words[0]], words
