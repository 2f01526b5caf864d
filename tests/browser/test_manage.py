"""What only a browser's scripts do with a memory: import the file that was exported, and ask before it is moved."""

from playwright.sync_api import expect


def test_an_exported_file_is_imported_as_another_agent_which_is_moved_after_a_yes(site, signed_in, agent, tmp_path):
    site.world.say("The gate opens to cinnamon.", resource=agent, thread="t-1")
    site.world.observe_now(None, agent)
    visit = signed_in()
    visit.go(f"/ui/agents/{agent}/manage")
    with visit.page.expect_download() as begun:
        visit.page.get_by_role("link", name="Export the whole memory as a file").click()
    file = tmp_path / begun.value.suggested_filename
    begun.value.save_as(file)
    visit.go("/ui/agents#import")
    visit.page.get_by_label("As agent").fill(f"{agent}-2")
    visit.page.get_by_label("File that was exported").set_input_files(file)
    visit.press("Import")
    visit.told("Imported: 0 messages, 1 observation, 0 generations.")
    expect(visit.page).to_have_url(f"{site.api.url}/ui/agents/{agent}-2")
    assert file.name == f"{agent}.jsonl"
    assert site.world.context("t-1", f"{agent}-2").text == site.world.context("t-1", agent).text

    visit.go(f"/ui/agents/{agent}-2/manage")
    for yes, scope in ((False, "resource"), (True, "thread")):
        visit.page.once("dialog", lambda dialog, yes=yes: dialog.accept() if yes else dialog.dismiss())
        visit.press("Move it to a memory for each thread")
        if yes:
            visit.told("Moved to scope thread")
        assert site.world.om.stats(f"{agent}-2").scope == scope
