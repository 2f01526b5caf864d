"""What a file may say, and whose it is."""

import contextlib

import pytest
import yaml
from configured import Folder, om
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.errors import SettingsError
from om_api.settings import MemorySettings
from om_api.settings.catalogue import MODEL_FIELDS, SETTINGS, dotted
from om_api.settings.files import is_there, pieces


@pytest.mark.parametrize(
    "text", ["", "# nothing yet\n", "observational_memory:\n", "models:\n", "observational_memory:\n  observer:\n"]
)
def test_a_file_that_states_nothing_changes_nothing(folder, text):
    folder.base(text)

    assert folder.load().memory == MemorySettings()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("observational_memory: [1]", "observational_memory is no mapping"),
        (om("observer: 5"), "observer is no mapping; permitted: the keys temperature, timeout"),
        ("models: [a]", "models is no mapping"),
        ("models: {a: 5}", "models.a is no mapping"),
        ("- a", "not a mapping"),
        (om("a: 1, a: 2"), "line 1, column 30: not YAML: the key a stands here twice"),
        ("observational_memory:\n  enabled: [", "line 3, column 1: not YAML"),
        ("a:\n\tb: 1", "line 2, column 1: not YAML"),
        (
            "a: !!python/object/apply:os.getcwd []",
            "line 1, column 4: the tag !!python/object/apply:os.getcwd; permitted: no tags",
        ),
        ("a: \x00", "not YAML"),
        ("observational_memory: &a {observer: *a}", "line 1, column 37: a value contains itself"),
        ("observational_memory: *nobody", "line 1, column 23: not YAML: found undefined alias"),
        pytest.param(f"{om('ttl_days: 5')} #{'x' * 65_536}", "larger than 65,536 bytes", id="a large file"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(folder, text, what):
    file = folder.base(text)
    refusal = folder.refused()

    assert refusal.startswith(str(file))
    assert what in refusal


KEYS = st.sampled_from(sorted({key for path in SETTINGS for key in path} | {"models", "x", "", "1", *MODEL_FIELDS}))


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()


DATA = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4))


@given(memory=DATA, models=DATA)
def test_whatever_a_file_holds_it_loads_or_is_refused_with_a_settings_error(tmp_path_factory, memory, models):
    folder = Folder(tmp_path_factory.mktemp("any"))
    folder.base("")
    folder.agent("x", yaml.safe_dump({"observational_memory": memory}))
    problems = folder.load().problems
    folder.base(yaml.safe_dump({"observational_memory": memory, "models": models}))
    with contextlib.suppress(SettingsError):
        folder.load()

    assert len(problems) <= 1


def test_bytes_that_are_no_text_are_refused(folder):
    folder.base("").write_bytes(b"a: \xff\xfe\xff")

    assert "not YAML" in folder.refused()


def test_the_most_specific_override_wins_and_only_that_one(folder):
    for threshold, name in enumerate(("*", "worker-*", "worker-1*", "worker-17"), start=1):
        folder.agent(name, om(f"message_threshold: {threshold}000, {'ttl_days: 3' if name == '*' else ''}"))
    settings = folder.load()
    found = [settings.for_agent(name).message_threshold for name in ("worker-17", "worker-18", "worker-2", "other")]

    assert found == [4_000, 3_000, 2_000, 1_000]
    assert settings.for_agent("worker-17").ttl_days == 90
    assert settings.agents() == ("*", "worker-*", "worker-1*", "worker-17")


def test_an_id_never_becomes_a_path(folder):
    folder.agent("harold", om("message_threshold: 50000"))
    folder._write(folder.path / "memory.yaml", om("message_threshold: 60000"))
    settings = folder.load()

    assert {settings.for_agent(name) for name in ("..", ".", "agents/harold", "./harold", "harold/", "HAROLD", "")} == {
        settings.memory
    }


def test_a_folder_without_an_override_is_no_agent(folder):
    (folder.path / "agents" / "empty").mkdir(parents=True)
    (folder.path / "agents" / "README.md").write_text("# words")
    folder.agent(".git", "nonsense")

    assert (folder.load().agents(), folder.load().problems) == ((), ())


def test_of_a_broken_file_the_pieces_that_can_be_read_are(folder):
    file = folder.base(
        "nonsense: 1\nmodels: {a: {provider: openai}, b: 5}\nobservational_memory:\n  ttl_days: 5\n  observer: 5\n"
        "  storage: {redis: {prefix: ours}}\n"
    )

    assert [sorted(map(dotted, piece)) for piece in pieces(file)] == [
        ["models.a", "models.a.provider"],
        ["ttl_days"],
        ["storage.redis.prefix"],
    ]


@pytest.mark.parametrize("text", ["5", "{redis: {url: 'redis://:hush@red'}}", "{redis: [a]}"])
def test_where_the_store_cannot_be_read_no_piece_is_handed_out(folder, text):
    """Catches a message that is pushed to the default server, for the file that names another one is broken."""
    with pytest.raises(SettingsError, match=r"storage"):
        pieces(folder.base(f"observational_memory: {{ttl_days: never, storage: {text}}}"))


@pytest.mark.parametrize("text", ["a: [", "- a", "observational_memory: 5\nmodels: [a]", ""])
def test_a_file_of_which_nothing_can_be_read_has_no_pieces(folder, text):
    assert pieces(folder.base(text)) == []


def test_a_link_to_nothing_is_there(tmp_path):
    (tmp_path / "link").symlink_to("nothing")

    assert [is_there(tmp_path / name) for name in ("link", "none")] == [True, False]
