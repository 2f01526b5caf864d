"""A change is reckoned before it is made: nothing is saved that could not be in force, and what it comes to is told."""

import pytest
from configured import om

from om_api.domain.errors import SettingsError
from om_api.settings import load_settings, saving
from om_api.settings.change import WantedChange, plan
from om_api.settings.live import rows
from om_api.settings.saving import save
from om_api.settings.stored_layers import StoredTexts, version_of

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
        ("message_threshold", 5000, 7000),
        ("ttl_days", 90, 3),
    ]
    assert {each.origin for each in found.changed} == {str(folder.path / "agents" / "harold" / "memory.yaml")}
    assert (found.overruled, settings.for_agent("harold").message_threshold) == ((), 5000)
    assert "-  message_threshold: 5000\n+  message_threshold: 7000\n" in found.told("dry_run").diff


def test_what_is_saved_is_in_force_as_it_was_told(settings):
    found = plan(settings, "harold", wanted(message_threshold=7000, observer__timeout="5m"))
    save(found.file, found.after, found.version)
    settings.refresh()
    now = {row.key: (row.value, row.origin) for row in rows(settings, "harold")}

    assert {each.key: (each.now, each.origin) for each in found.changed}.items() <= now.items()
    assert settings.problems == ()


@pytest.mark.parametrize(
    ("change", "says"),
    [
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
    ],
)
@pytest.mark.parametrize("where", ["file", "store"])
def test_what_could_not_be_in_force_is_refused_with_what_is_permitted(settings, change, says, where):
    said = refused(settings, "harold", change, where)

    assert says in said or (where == "store" and "it states nothing" in said)
    assert "hush" not in said


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b", "x" * 201, "é"])
def test_a_name_that_no_agent_has_is_no_path(settings, name):
    assert "is no agent's name" in refused(settings, name, wanted(ttl_days=3))


@pytest.mark.parametrize("name", [".", "..", ".hidden"])
def test_a_name_that_begins_with_a_dot_has_no_file(settings, name):
    assert plan(settings, name, wanted(ttl_days=3)).file is None
    assert "no file" in refused(settings, name, wanted(ttl_days=3), "file")


def test_every_mistake_is_told_at_once(settings):
    said = refused(settings, "harold", wanted(message_threshold=-1, ttl_days=0))

    assert "message_threshold is -1" in said
    assert "ttl_days is 0" in said


def test_a_layer_above_is_named_where_it_overrules(folder):
    folder.agent("harold", OWN)
    settings = stored(folder.load(OM_TTL_DAYS="9"), harold=om("message_threshold: 8000"))
    found = plan(settings, "harold", wanted(message_threshold=7000, ttl_days=3), "file")

    assert sorted((each.key, each.value, each.origin) for each in found.overruled) == [
        ("message_threshold", 8000, "store harold"),
        ("ttl_days", 9, "environment OM_TTL_DAYS"),
    ]
    assert found.changed == ()


def test_a_new_file_begins_as_the_globs_that_was_in_force(settings):
    """Catches a change of one setting that undoes the others of a glob."""
    found = plan(settings, "worker-7", wanted(message_threshold=7000))

    assert found.began_as.endswith("worker-*/memory.yaml")
    assert [each.key for each in found.changed] == ["message_threshold"]
    assert found.after == om("message_threshold: 7000, ttl_days: 4")


def test_a_new_entry_of_the_store_begins_as_the_globs(settings):
    stored(settings, **{"har*": om("ttl_days: 4")})
    found = plan(settings, "harold", wanted(max_reflections=5), "store")

    assert (found.began_as, found.after) == ("store har*", om("ttl_days: 4, max_reflections: 5"))


def test_what_states_nothing_any_more_goes(settings):
    stored(settings, harold=om("ttl_days: 4"))
    found = plan(settings, "harold", wanted(["ttl_days"]))
    own = plan(settings, "worker-*", wanted(["ttl_days", "message_threshold"]), "file")

    assert (found.file, found.after, found.told("saved").version) == (None, None, "")
    assert [(each.key, each.now) for each in own.changed] == [("message_threshold", 20_000), ("ttl_days", 90)]
    assert own.after is None


def test_where_a_change_is_saved(settings, folder, monkeypatch):
    usual = plan(settings, "harold", wanted(ttl_days=3)).told("dry_run")
    stored(settings, harold=om("ttl_days: 4"))
    there = plan(settings, "harold", wanted(ttl_days=3)).told("dry_run")
    monkeypatch.setattr(saving.os, "access", lambda *_: False)
    read_only = plan(settings, "ada", wanted(ttl_days=3)).told("dry_run")

    assert [each.where for each in (usual, there, read_only)] == ["file", "store", "store"]
    assert (there.place, read_only.place) == ("store harold", "store ada")


def test_without_a_folder_that_is_read_a_change_is_saved_in_the_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = load_settings(None, {})

    assert plan(settings, "harold", wanted(ttl_days=3)).file is None
    assert "there is no config/observational-memory.yaml" in refused(settings, "harold", wanted(ttl_days=3), "file")


def test_what_clients_decide_by_themselves_is_said_to_be_unread_in_the_store(settings):
    change = wanted(redaction__before="model")
    assert any("Python clients" in note for note in plan(settings, "harold", change, "store").told("saved").notes)
    assert not plan(settings, "harold", change, "file").told("saved").notes


def test_a_file_that_an_entry_of_the_store_could_not_lie_above_is_refused(settings):
    stored(settings, harold=om("buffer_tokens: 4000"))

    assert "store harold" in refused(settings, "harold", wanted(message_threshold=3000), "file")


def test_a_broken_file_can_be_mended_and_a_broken_base_comes_first(folder):
    folder.settings("ttl_days: 5")
    folder.agent("harold", OWN.replace("5000", "-5"))
    settings = folder.load()
    mended = plan(settings, "harold", wanted(message_threshold=5000))
    folder.base("observational_memory: [")
    settings.refresh()

    assert mended.after == OWN
    assert "correct it first" in refused(settings, "harold", wanted(message_threshold=5000))


def test_the_version_is_that_of_what_was_read(settings):
    found = plan(settings, "harold", wanted(ttl_days=3))
    same = plan(settings, "harold", wanted(message_threshold=5000))

    assert found.version == version_of(OWN) != found.told("saved").version
    assert (same.changes_nothing, found.changes_nothing) == (True, False)


def test_an_entry_that_stays_what_it_is_is_no_change(settings):
    stored(settings, harold=om("ttl_days: 4"))
    same = plan(settings, "harold", wanted(ttl_days=4))

    assert (same.changes_nothing, same.changed, same.overruled) == (True, (), ())
