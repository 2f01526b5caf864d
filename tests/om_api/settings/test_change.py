"""A change is reckoned before it is made: nothing is saved that could not be in force, and what it comes to is told."""

from functools import partial

import pytest
from configured import om

from om_api.domain.errors import SettingsError
from om_api.settings import saving
from om_api.settings.change import NotOwnerError, WantedChange
from om_api.settings.change import plan as plan_by
from om_api.settings.sections.fields import SettingOwner
from om_api.settings.stored_layers import StoredTexts

plan = partial(plan_by, by=SettingOwner.ADMINISTRATOR)
OWN = "observational_memory:\n  # so many\n  message_threshold: 5000\n"


@pytest.fixture
def settings(folder):
    folder.settings("message_threshold: 20000")
    folder.agent("harold", OWN)
    folder.agent("worker-*", om("message_threshold: 6000, ttl_days: 4"))
    return folder.load()


def stored(settings, **texts):
    settings.refresh(StoredTexts("d", {name: text.encode() for name, text in texts.items()}))
    return settings


def wanted(unset=(), **stated):
    return WantedChange({key.replace("__", "."): value for key, value in stated.items()}, unset)


def refused(settings, agent, change, where=None):
    with pytest.raises(SettingsError) as error:
        plan(settings, agent, change, where)
    return str(error.value)


def test_what_would_be_in_force_is_told_and_nothing_is_touched(settings, folder):
    found = plan(settings, "harold", wanted(message_threshold=7000, ttl_days=3))
    assert found.after == OWN.replace("5000", "7000") + "  ttl_days: 3\n"
    assert [(each.key, each.was, each.now) for each in found.changed] == [
        ("message_threshold", 5000, 7000), ("ttl_days", 90, 3)]  # fmt: skip
    assert {each.origin for each in found.changed} == {str(folder.path / "agents" / "harold" / "memory.yaml")}
    assert (found.overruled, settings.for_agent("harold").message_threshold) == ((), 5000)
    assert "-  message_threshold: 5000\n+  message_threshold: 7000\n" in found.told("dry_run").diff


def test_version_depends_on_no_setting_of_another_owner(folder):
    """Catches a digest of the whole file, from which short values of an administrator could be guessed."""
    versions = {owner: set() for owner in SettingOwner}
    for said in ("timezone: UTC", "timezone: UTC, priority: 7", "timezone: UTC, ttl_days: 3", "timezone: Asia/Tokyo"):
        folder.agent("bob", om(said))
        settings = folder.load()
        for owner in SettingOwner:
            found = plan_by(settings, "bob", wanted(timezone="Europe/Oslo"), by=owner)
            versions[owner].add(found.told("dry_run").version)
    assert [len(versions[owner]) for owner in SettingOwner] == [2, 3, 4]


def test_diff_shows_an_owner_no_comment_and_no_setting_of_another_owner(settings, folder):
    folder.agent("bob", om("message_threshold: 5000, timezone: UTC, priority: 7") + "  # for Ada\n")
    settings = folder.load()
    diffs = {
        owner: plan_by(settings, "bob", wanted(timezone="Asia/Tokyo"), by=owner).told("dry_run").diff
        for owner in SettingOwner
    }
    changed = ["@@ -2 +2 @@", "-  timezone: UTC", "+  timezone: Asia/Tokyo"]
    assert diffs[SettingOwner.AGENT].splitlines()[2:] == changed
    assert [word in diffs[SettingOwner.OPERATOR] for word in ("Ada", "+  timezone: Asia/Tokyo\n", "5000")] == [
        False,
        True,
        False,
    ]
    assert "priority: 7" in diffs[SettingOwner.ADMINISTRATOR]
    with pytest.raises(SettingsError, match=r"it states timezone$"):
        plan_by(settings, "bob", wanted(["recall.auto"]), by=SettingOwner.AGENT)


def test_what_could_not_be_in_force_is_refused_with_what_is_permitted(settings):
    for change, says in [
        (wanted(message_threshold=-1), "message_threshold is -1; permitted: 100 to 10,000,000"),
        (wanted(message_threshold="many"), 'message_threshold is "many"; permitted'),
        (wanted(buffer_tokens=6000), "buffer_tokens is 6000 (6,000 tokens) with a message_threshold of 5,000"),
        (wanted(mesage_threshold=1), "mesage_threshold is not a setting; did you mean message_threshold?"),
        (wanted(observer="x"), "observer is a group of settings; permitted: observer.temperature, observer.timeout"),
        (wanted(storage__redis__url="redis://:hush@x"), "storage.redis.url holds for the whole system"),
        (wanted(models__deepseek__model="x"), "models.deepseek.model holds for the whole system"),
        (wanted(events__keep=100), "events.keep holds for the whole system"),
        (wanted(["ttl_days"]), "does not state ttl_days; it states message_threshold"),
        (wanted(["ttl_days"], ttl_days=3), "ttl_days is to be set and not to be set"),
        (wanted(), "nothing is to be changed"),
    ]:
        for where in ["file", "store"]:
            said = refused(settings, "harold", change, where)
            assert says in said or (where == "store" and "it states nothing" in said), (change, says)
            assert "hush" not in said, (change, says)


def test_a_name_that_no_agent_has_is_no_path(settings):
    for name in ["", "a/b", "../x", "x" * 201, "é"]:
        assert "is no agent's name" in refused(settings, name, wanted(ttl_days=3)), name


def test_a_layer_above_is_named_where_it_overrules(folder):
    folder.agent("harold", OWN)
    settings = stored(folder.load(OM_TTL_DAYS="9"), harold=om("message_threshold: 8000"))
    found = plan(settings, "harold", wanted(message_threshold=7000, ttl_days=3), "file")
    assert sorted((each.key, each.value, each.origin) for each in found.overruled) == [
        ("message_threshold", 8000, "store harold"), ("ttl_days", 9, "environment OM_TTL_DAYS")]  # fmt: skip
    assert found.changed == ()


def test_a_new_file_begins_as_the_globs_that_was_in_force_and_what_states_nothing_any_more_goes(settings):
    """Catches a change of one setting that undoes the others of a glob."""
    found = plan(settings, "worker-7", wanted(message_threshold=7000))
    assert found.began_as.endswith("worker-*/memory.yaml")
    assert [each.key for each in found.changed] == ["message_threshold"]
    assert found.after == om("message_threshold: 7000, ttl_days: 4")
    stored(settings, harold=om("ttl_days: 4"))
    found = plan(settings, "harold", wanted(["ttl_days"]))
    own = plan(settings, "worker-*", wanted(["ttl_days", "message_threshold"]), "file")
    assert (found.file, found.after, found.told("saved").version) == (None, None, "")
    assert [(each.key, each.now) for each in own.changed] == [("message_threshold", 20_000), ("ttl_days", 90)]
    assert own.after is None


def test_where_a_change_is_saved(settings, monkeypatch):
    usual = plan(settings, "harold", wanted(ttl_days=3)).told("dry_run")
    stored(settings, harold=om("ttl_days: 4"))
    there = plan(settings, "harold", wanted(ttl_days=3)).told("dry_run")
    monkeypatch.setattr(saving.os, "access", lambda *_: False)
    read_only = plan(settings, "ada", wanted(ttl_days=3)).told("dry_run")
    assert [each.where for each in (usual, there, read_only)] == ["file", "store", "store"]
    assert (there.place, read_only.place) == ("store harold", "store ada")


def test_a_broken_file_can_be_mended_and_a_broken_base_comes_first(folder):
    folder.settings("ttl_days: 5")
    folder.agent("harold", OWN.replace("5000", "-5"))
    settings = folder.load()
    mended = plan(settings, "harold", wanted(message_threshold=5000))
    folder.base("observational_memory: [")
    settings.refresh()
    assert mended.after == OWN
    assert "correct it first" in refused(settings, "harold", wanted(message_threshold=5000))


def test_a_change_that_implies_or_copies_a_setting_of_another_owner_is_refused(folder):
    """Catches a copy of a glob's entry that keeps a budget for good, and a removal that puts another one in force."""
    folder.agent("worker-*", om("priority: 2, ttl_days: 4"))
    folder.agent("worker-1", om("ttl_days: 5"))
    settings = folder.load()
    for agent, change in (
        ("worker-7", wanted(ttl_days=3)),
        ("worker-1", wanted(["ttl_days"])),
        ("a", wanted(priority=3)),
    ):
        with pytest.raises(NotOwnerError, match="priority"):
            plan_by(settings, agent, change, "file", by=SettingOwner.OPERATOR)
    with pytest.raises(SettingsError, match="priority belongs to administrators; permitted: in a file or the env"):
        plan(settings, "a", wanted(priority=3), "store")


def test_an_operator_chooses_among_the_models_that_are_listed(settings):
    """Breaks when an entry of the store, or a change of an operator's, takes any name: no limit and no budget would bound it."""
    for where in ("file", "store"):
        with pytest.raises(SettingsError, match="gpt-mystery is not listed; permitted: deepseek"):
            plan_by(settings, "harold", wanted(observer_model=["gpt-mystery"]), where, by=SettingOwner.OPERATOR)
        listed = wanted(observer_model=["deepseek", "extractive"])
        assert plan_by(settings, "harold", listed, where, by=SettingOwner.OPERATOR).changed, where
    assert plan(settings, "harold", wanted(observer_model="gpt-mystery"), "file").changed
    assert "is not listed" in refused(settings, "harold", wanted(observer_model="gpt-mystery"), "store")


def test_a_link_is_saved_once_the_other_memory_permits_it(folder):
    settings = folder.load()
    link = wanted(compose=[{"resource": "bob", "share": ["facts"]}])
    for consent, says in (
        ("", "composed_by of bob does not name alice"),
        ("composed_by: [ali*]", "shared_by of bob does not name alice"),
        ("composed_by: [alicia], shared_by: ['*']", "composed_by of bob"),
    ):
        folder.agent("bob", om(consent))
        settings.refresh()
        assert says in refused(settings, "alice", link), consent
    folder.agent("bob", om("composed_by: ['al[i]ce'], shared_by: [alice]"))
    settings.refresh()
    assert plan(settings, "alice", link).after
    assert [plan(settings, "alice", each, "store").relied_on for each in (link, wanted(ttl_days=3))] == [
        {"bob": b""},
        {},
    ]
    folder.agent("bob", om("compose: [carol], composed_by: [alice]"))
    for consent, where in ((consent, where) for consent in ("", "composed_by: ['*']") for where in ("file", "store")):
        folder.agent("carol", om(f"compose: [alice], {consent}"))
        folder.agent("alice", om("composed_by: [carol]"))
        settings.refresh()
        if consent:  # the text names only what alice composes herself
            assert "alice composes bob, which leads back to it;" in refused(
                settings, "alice", wanted(compose=["bob"]), where
            )
        else:
            assert plan(settings, "alice", wanted(compose=["bob"]), where).after
    folder.agent("alice", om("compose: [carol]"))  # a link of a file that is not permitted hinders no other change
    settings.refresh()
    assert plan(settings, "alice", wanted(ttl_days=3)).after


def test_change_that_closes_a_circle_is_refused_in_files_alone_and_together_with_the_store(folder):
    """Catches a file whose `compose` an entry hides: the circle would be in force where the store is not read."""
    folder.settings("composed_by: ['*']")
    folder.agent("alice", om("ttl_days: 5"))
    folder.agent("bob", om("compose: [alice], ttl_days: 6"))
    apart, link = om("compose: [], composed_by: [bob]"), om("compose: [bob], composed_by: [bob]")
    for file, entry, change, where in (
        ("ttl_days: 5", apart, wanted(compose=["bob"], composed_by=["bob"]), "file"),
        ("ttl_days: 5", apart, wanted(compose=["bob"]), "store"),
        ("compose: [bob], composed_by: []", link.replace("bob", "x"), wanted(["composed_by"]), "file"),
        ("compose: [bob], composed_by: []", om("ttl_days: 4"), wanted(composed_by=["bob"]), "store"),
        ("composed_by: []", om("compose: [bob], composed_by: [x]"), wanted(["composed_by"], compose=["bob"]), "file"),
    ):
        folder.agent("alice", om(file))
        settings = stored(folder.load(), alice=entry)
        assert "alice composes bob, which leads back" in refused(settings, "alice", change, where), (file, change)
    folder.agent("alice", om("compose: [bob]"))  # as an administrator may save it in an editor
    settings = folder.load()
    for name in ("alice", "bob"):
        assert plan(settings, name, wanted(ttl_days=3)).after, name
        assert plan(settings, name, wanted(compose=[])).after, name
    assert settings.links("bob").circles == ("alice",)
