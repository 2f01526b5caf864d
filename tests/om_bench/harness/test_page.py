from benches import LOCOMO, memory


def test_the_block_of_a_page_is_replaced_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Before\n<!-- memory -->\nold\n<!-- /memory -->\nafter\n")

    assert memory(f"--write={page}", LOCOMO).exit_code == 0
    assert page.read_text().startswith("# Before\n<!-- memory -->\n2 conversations, 4 questions")
    assert page.read_text().endswith("\n<!-- /memory -->\nafter\n")
    assert "\nold\n" not in page.read_text()


def test_a_page_without_the_block_is_refused_by_name(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Nothing\n")

    found = memory(f"--write={page}", LOCOMO)

    assert found.exit_code == 2
    assert "page.md has no block for this" in found.output
