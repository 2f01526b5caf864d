"""Documents and files are read within bounds, over each other, and what is wrong is told by file and key."""

import json
import runpy

import pytest
import yaml
from configured import VALUES, om

from om_api.domain.errors import SettingsError
from om_api.settings import MemorySettings, documents
from om_api.settings.catalogue import SETTINGS, dotted, variable
from om_api.settings.documents import MOST_BYTES, MOST_LEVELS, MOST_VALUES, parse


@pytest.fixture(params=["fast", "plain"])
def read(request, monkeypatch):
    """The parser of this machine, and that of one whose PyYAML was built without libyaml."""
    if request.param == "fast":
        return parse
    monkeypatch.delattr(yaml, "CSafeLoader")
    return runpy.run_path(documents.__file__)["parse"]


def test_a_document_says_what_json_could_say(read):
    for text, says in [
        ("", None),
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("{1: a, true: b, 2026-01-01: c, ~: d}", {"1": "a", "true": "b", "2026-01-01": "c", "~": "d"}),
        ("a: [1, 0x10, 1:30, 1.5, yes, ~, '5', =, <<]", {"a": [1, 16, 90, 1.5, True, None, "5", "=", "<<"]}),
        ("{a: &x {b: 1, c: 1}, d: {<<: *x, c: 2}}", {"a": {"b": 1, "c": 1}, "d": {"b": 1, "c": 2}}),
        ("{o: {b: &b {<<: {x: 1}, x: 2}}, c: {<<: *b}}", {"o": {"b": {"x": 2}}, "c": {"x": 2}}),
        ("{a: &x 5, *x : 6}", {"a": 5, "5": 6}),
        ("[&x [1], *x, *x]", [[1], [1], [1]]),
    ]:
        assert read(text, "file") == says, (text, says)


def test_a_bound_is_what_it_says(read):
    for at_most, beyond, why in [
        ("a: " + "x" * (MOST_BYTES - 3), "a: " + "x" * (MOST_BYTES - 2), "larger than 65,536 bytes"),
        (f"[{'1,' * (MOST_VALUES - 1)}]", f"[{'1,' * MOST_VALUES}]", "permitted: 2,048 keys and values"),
        ("[" * MOST_LEVELS + "]" * MOST_LEVELS, "[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1), "20 levels"),
        (f"[[], {'[' * 19}{']' * 19}]", f"[[], {'[' * 20}{']' * 20}]", "20 levels"),
        ("9" * 100, "9" * 101, "a number of 101 characters; permitted: 100"),
        (f"[&x [{'1,' * 500}], *x, *x, *x]", f"[&x [{'1,' * 500}], *x, *x, *x, *x]", "aliases written out"),
    ]:
        read(at_most, "file")
        with pytest.raises(SettingsError, match=why):
            read(beyond, "file")


def test_no_document_raises_anything_else_with_either_parser(read):
    """Catches a value that one of the parsers, or what makes values of what it found, stumbles over."""
    texts = [text if isinstance(text, bytes) else text.encode() for text in VALUES.values()]
    said = [_said(read, text) for text in texts]
    assert said == [_said(parse, text) for text in texts]
    assert said.count("refused") > len(VALUES) / 2


def _said(read, data):
    try:
        return repr(read(data, "file"))
    except SettingsError as error:
        return "refused" if str(error).isprintable() else f"refused: {error}"


def test_a_file_that_cannot_be_read_says_where_and_why(folder):
    for text, what in [
        ("observational_memory: [1]", "observational_memory is no mapping"),
        (om("observer: 5"), "observer is no mapping; permitted: the keys temperature, timeout"),
        ("models: {a: 5}", "models.a is no mapping"),
        ("- a", "not a mapping"),
        (om("a: 1, a: 2"), "line 1, column 30: not YAML: the key a stands here twice"),
        ("observational_memory:\n  enabled: [", "line 3, column 1: not YAML"),
        (
            "a: !!python/object/apply:os.getcwd []",
            "line 1, column 4: the tag !!python/object/apply:os.getcwd; permitted: no tags",
        ),
        ("a: \x00", "not YAML"),
        ("observational_memory: &a {observer: *a}", "line 1, column 37: a value contains itself"),
        ("observational_memory: *nobody", "line 1, column 23: not YAML: found undefined alias"),
    ]:
        file = folder.base(text)
        refusal = folder.refused()
        assert refusal.startswith(str(file)), (text, what)
        assert what in refusal, (text, what)


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


def test_a_preset_and_a_model_stand_above_the_layers_below_the_one_that_states_them(folder):
    folder.settings("message_threshold: 20000")
    folder.agent("tiny", om("preset: small"))
    assert folder.load().for_agent("tiny").message_threshold == 1_000
    assert folder.load(OM_PRESET="small").memory.message_threshold == 1_000
    assert folder.load(OM_PRESET="null").for_agent("tiny").message_threshold == 20_000
    folder.settings("observer_model: a, reflector_model: b")
    folder.agent("harold", om("model: c"))
    harold = folder.load().for_agent("harold")
    assert (harold.model, harold.observer_models, harold.reflector_models) == ("c", ("c",), ("c",))


def test_where_a_value_comes_from_is_told_for_every_key(folder):
    base = folder.base("observational_memory: {ttl_days: 5, observer: {timeout: 9}}\nmodels: {m: {provider: openai}}")
    agent = folder.agent("harold", om("ttl_days: 6"))
    settings = folder.load(OM_REDIS_URL="redis://:hush@red")
    origin = settings.origin("harold")
    assert {dotted(path) for path in SETTINGS} <= origin.keys()
    assert (origin["ttl_days"], origin["observer.timeout"], origin["scope"]) == (str(agent), str(base), "default")
    assert (origin["storage.redis.url"], origin["models.m.provider"]) == ("environment OM_REDIS_URL", str(base))
    assert settings.origin()["ttl_days"] == settings.origin("albert")["ttl_days"] == str(base)


def test_nothing_is_read_but_the_layers(folder, monkeypatch):
    """Catches the package's own readers: of this process's environment, of .env and of a folder of secrets."""
    monkeypatch.chdir(folder.path)
    (folder.path / ".env").write_text('models={"x": {"provider": "scripted"}}')
    for name in ("MODELS", "OBSERVATIONAL_MEMORY", "OM_TTL_DAYS"):
        monkeypatch.setenv(name, '{"x": {}}')
    assert folder.load().models.keys() == {"gemini-2.5-flash", "deepseek", "extractive"}
    assert folder.load().memory.ttl_days == 90


def test_a_contradiction_between_two_files_names_both_and_a_mistake_is_told_with_its_line(folder):
    base = folder.settings("buffer_tokens: 6000")
    agent = folder.agent("harold", om("message_threshold: 5000"))
    (problem,) = folder.load().problems
    assert problem.file == str(agent)
    assert str(base) in problem.text
    assert "buffer_tokens is 6000" in problem.text
    file = folder.base(
        "observational_memory:\n  # words\n  observer:\n    timeout: never\n  buffer_tokens: 40000\nmodels:\n  a-1.5: {x: 1}\n"
    )
    assert [line.partition(" is")[0] for line in folder.refused().splitlines()] == [
        f"{file}, line 4: observer.timeout", f"{file}, line 7: models.a-1.5.x"]  # fmt: skip


def test_an_unknown_key_is_told_the_nearest_known_one(folder):
    for text, hint in [(om("mesage_threshold: 5"), "did you mean message_threshold?"),
                       (om("observer: {timout: 5s}"), "did you mean observer.timeout?"),
                       (om("timeout: 5s"), "did you mean observer.timeout or reflection.timeout or webhooks.timeout?"),
                       (om("storage: {redis: {hots: x}}"), "did you mean storage.redis.host?"),
                       (om("storage: {redis: {zzz: x}}"), "permitted: url, host, port"),
                       (om("observer.timeout: 5s"), "observer.timeout is not a setting"),
                       ("models: {x: {base: 1}}", "did you mean models.x.base_url?"),
                       (om("models: {a: {}}"), "models is not a setting; it stands at the top"),
                       ("message_threshold: 5", "did you mean observational_memory.message_threshold?"),
                       ("memory: {}", "permitted: observational_memory and models")]:  # fmt: skip
        file = folder.base(text)
        refusal = folder.refused()
        assert refusal.startswith(f"{file}, line 1: "), (text, hint)
        assert hint in refusal, (text, hint)


def test_every_setting_has_a_variable(folder):
    for path in SETTINGS:
        default = SETTINGS[path].default
        said = {None: "null"}.get(default, json.dumps(default) if isinstance(default, tuple) else str(default))
        settings = folder.load(**{variable(path): said})
        assert settings.memory == MemorySettings(), path
        assert settings.origin()[dotted(path)] == f"environment {variable(path)}", path


def test_variables_are_written_as_in_yaml_and_the_environment_stands_above_every_file(folder):
    written = "ENABLED=off OBSERVER__TIMEOUT=60s OBSERVER_MODEL=[a,b] CONTEXT_MAX_TOKENS=9000 BUFFER_TOKENS=0.3"
    named = dict(each.split("=") for each in f"{written} PREFIX=my:om STORAGE__REDIS__HOST=red".split())
    said = {f"OM_{name}": value for name, value in named.items()}
    settings = folder.load(**said, OM_OBSERVER__INSTRUCTION="Note: keep # signs")
    memory = settings.memory
    assert (memory.enabled, memory.observer.timeout, memory.observer_models) == (False, 60, ("a", "b"))
    assert (memory.context_max_tokens, settings.prefix, memory.buffer_tokens) == (9_000, "my:om", 0.3)
    assert (memory.observer.instruction, settings.redis_url) == ("Note: keep # signs", "redis://red:6379/0")
    folder.settings("message_threshold: 20000, timezone: Europe/Rome")
    folder.agent("harold", om("message_threshold: 50000, ttl_days: 5"))
    settings = folder.load(OM_MESSAGE_THRESHOLD="25000")
    assert settings.memory.message_threshold == settings.for_agent("harold").message_threshold == 25_000
    assert (settings.for_agent("harold").timezone, settings.for_agent("harold").ttl_days) == ("Europe/Rome", 5)


def test_an_unknown_variable_is_told_the_nearest_known_one(folder):
    for name, nearest in [("OM_MESAGE_THRESHOLD", "OM_MESSAGE_THRESHOLD"),
                          ("OM_OBSERVER_TIMEOUT", "OM_OBSERVER__TIMEOUT"), ("OM_FLOWER_PASS", "OM_FLOWER_PASSWORD"),
                          ("OM_MODELS__DEEPSEEK__API_KEY", "OM_MODELS__DEEPSEEK__API_KEY_ENV")]:  # fmt: skip
        refusal = folder.refused(**{name: "hush"})
        assert refusal.startswith(f"environment {name}: "), (name, nearest)
        assert refusal.endswith(nearest), (name, nearest)
        assert "hush" not in refusal, (name, nearest)


def test_a_variable_that_is_no_setting_is_refused_with_what_is_permitted(folder):
    """Catches a log that is written otherwise than asked for, and a number that ends a worker with a traceback."""
    for name, wrong, right, permitted in (
        ("OM_LOG_FORMAT", "xml", ["json", "text"], "json or text"),
        ("OM_LOG_LEVEL", "loud", ["debug", "Info", "CRITICAL"], "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("OM_CONCURRENCY", "many", ["1", "9999"], "1 to 9,999"),
    ):
        refusal = folder.refused(**{name: wrong})
        assert refusal == f"environment {name}: it is '{wrong}'; permitted: {permitted}"
        assert [folder.load(**{name: value}).variable(name) for value in right] == right, name


def test_a_wrong_value_names_its_variable_and_two_variables_may_not_disagree(folder):
    for name, value in [("OM_MESSAGE_THRESHOLD", "many"), ("OM_SCOPE", "{a: b}"), ("OM_BUFFER_TOKENS", "["),
                        ("OM_MODEL", "[&a [*a]]"), ("OM_PRESET", "0x" + "f" * 5_000),
                        ("OM_TTL_DAYS", "[!!bool maybe]")]:  # fmt: skip
        assert folder.refused(**{name: value}).startswith(f"environment {name}: {name.lower()[3:]} is "), (name, value)
    refusal = folder.refused(OM_PREFIX="a", OM_STORAGE__REDIS__PREFIX="b")
    assert [
        name for name in ("OM_PREFIX", "OM_STORAGE__REDIS__PREFIX", "storage.redis.prefix") if name not in refusal
    ] == []
    assert folder.load(OM_PREFIX="a", OM_STORAGE__REDIS__PREFIX="a").prefix == "a"


def test_a_variable_changes_one_field_of_a_model(folder):
    folder.base("models: {my.own-model: {provider: openai, api_key_env: MINE}}")
    models = folder.load(OM_MODELS__MY_OWN_MODEL__BASE_URL="http://here/v1",
                         OM_MODELS__GEMINI_2_5_FLASH__MODEL="gemini-3",
                         OM_MODELS__DEEPSEEK__PRICES="{input: 1, output: 2}").models  # fmt: skip
    assert (models["my.own-model"].base_url, models["my.own-model"].api_key_env) == ("http://here/v1", "MINE")
    assert (models["gemini-2.5-flash"].model, models["gemini-2.5-flash"].provider) == ("gemini-3", "gemini")
    assert models["deepseek"].prices == {"input": 1.0, "output": 2.0}
