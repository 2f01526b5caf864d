"""The store's layer lies above agents' files and below the environment; what is broken in it stops nobody."""

import pytest
from configured import VALUES, om

from om_api.settings.live import rows
from om_api.settings.stored_layers import StoredTexts


def texts(**said):
    return StoredTexts(
        str(hash(str(said))), {name: text if isinstance(text, bytes) else text.encode() for name, text in said.items()}
    )


def of(settings, agent, key="ttl_days"):
    row = next(row for row in rows(settings, agent) if row.key == key)
    return row.value, row.origin


@pytest.fixture
def harold(folder):
    folder.settings("ttl_days: 5, max_reflections: 50")
    file = folder.agent("harold", om("ttl_days: 6"))
    return folder, str(file)


def test_an_entry_lies_above_the_file_and_below_the_environment(harold):
    folder, file = harold
    settings, held = folder.load(), folder.load(OM_TTL_DAYS="9")
    before = of(settings, "harold")
    changed = [each.refresh(texts(harold=om("ttl_days: 7"))) for each in (settings, held)]
    assert (before, changed) == ((6, file), [True, True])
    assert of(settings, "harold") == (7, "store harold")
    assert of(settings, "harold", "max_reflections")[0] == 50
    assert of(held, "harold") == (9, "environment OM_TTL_DAYS")
    assert of(settings, "ada")[0] == 5
    assert settings.agents() == ("harold",)


def test_the_own_name_wins_then_the_longest_glob_as_of_files(harold):
    settings = harold[0].load()
    settings.refresh(texts(**{"*": om("ttl_days: 10"), "ha*": om("ttl_days: 11"), "ada": om("ttl_days: 12")}))
    assert [of(settings, name)[0] for name in ("harold", "ada", "bob", "hans")] == [11, 12, 10, 11]
    assert of(settings, "harold")[1] == "store ha*"


def test_an_entry_that_cannot_be_in_force_is_told_and_stops_nobody_and_no_name_of_an_entry_harms_anybody(harold):
    for text, says in ((om("ttl_days: 0"), "ttl_days is 0; permitted: 1 to 36,500"),
                       (om("buffer_tokens: 40000"), "buffer_tokens is 40000"),
                       (om("storage: {redis: {url: 'redis://elsewhere'}}"), "storage holds for the whole system"),
                       (om("storage: {redis: {url: 'redis://:hush@elsewhere'}}"), "storage.redis.url holds a password"),
                       (om("events: {keep: 100}"), "events holds for the whole system"),
                       ("models: {x: {provider: scripted}}", "models holds for the whole system"),
                       (VALUES["no text"], "not YAML")):  # fmt: skip
        settings = harold[0].load()
        settings.refresh(texts(harold=text, ada=om("ttl_days: 7")))
        (problem,) = settings.problems
        first = (of(settings, "harold")[0], of(settings, "ada")[0])
        settings.refresh(texts(harold=om("ttl_days: 8"), ada=om("ttl_days: 7")))
        settings.refresh(texts(harold=text))
        assert (problem.file, first) == ("store harold", (6, 7)), (text, says)
        assert says in problem.text, (text, says)
        assert "hush" not in problem.text, (text, says)
        assert of(settings, "harold") == (8, "store harold"), (text, says)  # what it said last
        assert [each.file for each in settings.problems] == ["store harold"], (text, says)
    for name in ["", "a b", "../../etc", "x" * 100_000, "[", "*" * 199 + "a"]:
        settings = harold[0].load()
        settings.refresh(texts(**{name: om("ttl_days: 0"), "ada": om("ttl_days: 7")}))
        assert (of(settings, "harold")[0], of(settings, "ada")[0]) == (6, 7), name
        assert len(settings.problems) == 1, name


def test_entries_that_form_a_circle_leave_out_one_link_whichever_came_first(harold):
    consents = "composed_by: [harold, ada]"
    both = {
        "ada": om(f"compose: [harold], ttl_days: 7, {consents}"),
        "harold": om(f"compose: [ada], ttl_days: 8, {consents}"),
    }
    for first in ({}, {"harold": om("ttl_days: 9")}, {"harold": both["harold"]}, {"ada": both["ada"]}):
        settings = harold[0].load()
        for said in (first, both):
            settings.refresh(texts(**said))
        assert [of(settings, name)[0] for name in both] == [7, 8], first
        assert [bool(settings.links(name).composed) for name in both] == [True, False], first
        assert [(each.file, "leads in a circle" in each.text) for each in settings.problems] == [("store harold", True)]


def test_link_without_consent_closes_no_circle_until_the_consent_returns(harold):
    settings = harold[0].load()
    entries = {"ada": om("compose: [harold]"), "harold": om("compose: [ada], composed_by: [x, ada], ttl_days: 8")}
    settings.refresh(texts(**entries))
    assert (settings.problems, of(settings, "harold", "compose")[0] != []) == ((), True)
    consented = entries | {"ada": om("compose: [harold], composed_by: [harold]")}
    for base, then in (("ttl_days: 5", consented), ("shared_by: [harold]", entries)):
        settings.refresh(texts(**entries))
        harold[0].settings(base)
        settings.refresh(texts(**then))
        (problem,) = settings.problems
        assert "which leads back to it" in problem.text, base
        assert of(settings, "harold")[0] == 8, base


def test_a_hash_that_cannot_be_read_leaves_what_it_said_last(harold):
    settings = harold[0].load()
    settings.refresh(texts(harold=om("ttl_days: 7")))
    changed = settings.refresh(StoredTexts(mistake="P:settings is a string and no hash"))
    assert (changed, of(settings, "harold")[0]) == (False, 7)
    assert settings.problems == (("store", "P:settings is a string and no hash"),)
    assert settings.refresh(texts(harold=om("ttl_days: 7"))) is False
    assert settings.problems == ()
