"""The store's layer lies above agents' files and below the environment; what is broken in it stops nobody."""

import time

import pytest
from configured import VALUES, om

from om_api.settings import loaded
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
    """Of harold's own file and the base."""
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


def test_an_entry_that_goes_leaves_the_file_in_force(harold):
    settings = harold[0].load()
    settings.refresh(texts(harold=om("ttl_days: 7")))

    assert settings.refresh(StoredTexts()) is True
    assert (of(settings, "harold"), settings.stored) == ((6, harold[1]), StoredTexts())


def test_the_own_name_wins_then_the_longest_glob_as_of_files(harold):
    settings = harold[0].load()
    settings.refresh(texts(**{"*": om("ttl_days: 10"), "ha*": om("ttl_days: 11"), "ada": om("ttl_days: 12")}))

    assert [of(settings, name)[0] for name in ("harold", "ada", "bob", "hans")] == [11, 12, 10, 11]
    assert of(settings, "harold")[1] == "store ha*"


def test_files_change_below_an_entry(harold):
    folder, _ = harold
    settings = folder.load()
    settings.refresh(texts(harold=om("ttl_days: 7")))
    folder.agent("harold", om("ttl_days: 8, max_reflections: 3"))
    settings.refresh()

    assert (of(settings, "harold")[0], of(settings, "harold", "max_reflections")[0]) == (7, 3)


def test_nothing_is_made_anew_while_nothing_changes(harold):
    settings, said = harold[0].load(), texts(harold=om("ttl_days: 7"))
    settings.refresh(said)
    before = settings.loaded

    assert settings.refresh(said) is False
    assert settings.refresh() is False
    assert settings.loaded is before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (om("ttl_days: 0"), "ttl_days is 0; permitted: 1 to 36,500"),
        (om("buffer_tokens: 40000"), "buffer_tokens is 40000"),
        (om("storage: {redis: {url: 'redis://elsewhere'}}"), "storage holds for the whole system"),
        (om("storage: {redis: {url: 'redis://:hush@elsewhere'}}"), "storage.redis.url holds a password"),
        (om("events: {keep: 100}"), "events holds for the whole system"),
        ("models: {x: {provider: scripted}}", "models holds for the whole system"),
        *((om(f"model: {value}"), "") for value in VALUES.values() if isinstance(value, str)),
        (VALUES["no text"], "not YAML"),
    ],
)
def test_an_entry_that_cannot_be_in_force_is_told_and_stops_nobody(harold, text, says):
    settings = harold[0].load()
    settings.refresh(texts(harold=text, ada=om("ttl_days: 7")))
    (problem,) = settings.problems
    first = (of(settings, "harold")[0], of(settings, "ada")[0])
    settings.refresh(texts(harold=om("ttl_days: 8"), ada=om("ttl_days: 7")))
    settings.refresh(texts(harold=text))

    assert (problem.file, first) == ("store harold", (6, 7))
    assert says in problem.text
    assert "hush" not in problem.text
    assert of(settings, "harold") == (8, "store harold")  # what it said last
    assert [each.file for each in settings.problems] == ["store harold"]


@pytest.mark.parametrize("name", ["", "a b", "../../etc", "x" * 100_000, "�", "[", "*" * 199 + "a"])
def test_no_name_of_an_entry_harms_anybody(harold, name):
    settings, begun = harold[0].load(), time.monotonic()
    settings.refresh(texts(**{name: om("ttl_days: 0"), "ada": om("ttl_days: 7")}))

    assert (of(settings, "harold")[0], of(settings, "ada")[0]) == (6, 7)
    assert len(settings.problems) == 1
    assert time.monotonic() - begun < 5


def test_of_many_broken_entries_some_are_told_and_how_many_there_are(harold):
    settings = harold[0].load()
    settings.refresh(texts(**{f"agent-{n}": "[" for n in range(100)}))

    assert len(settings.problems) == 21
    assert settings.problems[-1] == ("store", "80 more like these")


def test_a_hash_that_cannot_be_read_leaves_what_it_said_last(harold):
    settings = harold[0].load()
    settings.refresh(texts(harold=om("ttl_days: 7")))
    changed = settings.refresh(StoredTexts(mistake="P:settings is a string and no hash"))

    assert (changed, of(settings, "harold")[0]) == (False, 7)
    assert settings.problems == (("store", "P:settings is a string and no hash"),)
    assert settings.refresh(texts(harold=om("ttl_days: 7"))) is False
    assert settings.problems == ()


def test_a_glob_that_cannot_lie_above_one_file_lies_above_the_others(harold):
    folder, _ = harold
    folder.agent("small", om("message_threshold: 500"))
    settings = folder.load()
    settings.refresh(texts(**{"*": om("buffer_tokens: 4000")}))
    found = [of(settings, name, "buffer_tokens")[0] for name in ("harold", "small", "ada")]

    assert found == [4000, 0.2, 4000]
    assert [each.file for each in settings.problems] == ["store *"]


def test_an_entry_that_changes_is_the_only_one_that_is_worked_through_again(harold, monkeypatch):
    """Catches a thousand agents validated anew, in every process and under its lock, because one entry was changed."""
    folder, _ = harold
    settings, compose, made = folder.load(), loaded.compose, []
    settings.refresh(texts(harold=om("ttl_days: 7"), ada=om("ttl_days: 8")))
    monkeypatch.setattr(loaded, "compose", lambda layers, source: made.append(source) or compose(layers, source))
    settings.refresh(texts(harold=om("ttl_days: 7"), ada=om("ttl_days: 9")))
    after_the_entry = made[:]
    folder.agent("harold", om("ttl_days: 6, max_reflections: 3"))
    settings.refresh()

    assert after_the_entry == ["store ada"]
    assert [source for source in made[1:] if source.startswith("store")] == ["store harold"]
    assert (of(settings, "harold", "max_reflections")[0], of(settings, "ada")[0]) == (3, 9)
