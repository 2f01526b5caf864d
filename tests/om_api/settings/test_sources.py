"""Layers over each other: presets, models, and where each value comes from.

What is wrong is told by file and key, with what was probably meant.
"""

import pytest
from configured import om

from om_api.settings import MemorySettings
from om_api.settings.catalogue import SETTINGS, dotted


def test_the_small_preset_stands_under_what_is_stated_beside_it(folder):
    folder.settings("preset: small, observation_threshold: 9000")
    settings = folder.load()

    assert (settings.memory.message_threshold, settings.memory.observation_threshold) == (1_000, 9_000)
    assert settings.origin()["message_threshold"] == "preset small"
    assert MemorySettings(preset="small").message_threshold == 1_000


def test_a_preset_stands_above_the_layers_below_the_one_that_states_it(folder):
    folder.settings("message_threshold: 20000")
    folder.agent("tiny", om("preset: small"))

    assert folder.load().for_agent("tiny").message_threshold == 1_000
    assert folder.load(OM_PRESET="small").memory.message_threshold == 1_000
    assert folder.load(OM_PRESET="null").for_agent("tiny").message_threshold == 20_000


def test_a_model_above_speaks_for_both_whatever_stands_below(folder):
    folder.settings("observer_model: a, reflector_model: b")
    folder.agent("harold", om("model: c"))
    harold = folder.load().for_agent("harold")

    assert (harold.model, harold.observer_models, harold.reflector_models) == ("c", ("c",), ("c",))


def test_an_observer_model_above_takes_its_half_of_a_model_below(folder):
    folder.settings("model: a")
    folder.agent("harold", om("observer_model: b"))
    harold = folder.load().for_agent("harold")

    assert (harold.model, harold.observer_models, harold.reflector_models) == (None, ("b",), ("a",))


def test_where_a_value_comes_from_is_told_for_every_key(folder):
    base = folder.base("observational_memory: {ttl_days: 5, observer: {timeout: 9}}\nmodels: {m: {provider: openai}}")
    agent = folder.agent("harold", om("ttl_days: 6"))
    settings = folder.load(OM_REDIS_URL="redis://:hush@red")
    origin = settings.origin("harold")

    assert {dotted(path) for path in SETTINGS} <= origin.keys()
    assert (origin["ttl_days"], origin["observer.timeout"], origin["scope"]) == (str(agent), str(base), "default")
    assert (origin["storage.redis.url"], origin["models.m.provider"]) == ("environment OM_REDIS_URL", str(base))
    assert settings.origin()["ttl_days"] == settings.origin("albert")["ttl_days"] == str(base)


def test_what_a_layer_above_states_as_a_mapping_is_not_filled_up_from_below(folder):
    """Catches mappings that are values being merged like groups of settings are."""
    folder.base("models: {m: {prices: {input: 1, cached: 1, output: 1}, options: {top_p: 1}}}")
    model = folder.load(OM_MODELS__M__PRICES="{input: 2, output: 2}", OM_MODELS__M__OPTIONS="{seed: 5}").models["m"]

    assert (model.prices, model.options) == ({"input": 2.0, "output": 2.0}, {"seed": 5})


def test_a_model_that_an_override_takes_back_stays_so_where_the_environment_names_an_observer(folder):
    folder.settings("model: a")
    folder.agent("harold", om("model: null"))
    harold = folder.load(OM_OBSERVER_MODEL="b").for_agent("harold")

    assert (harold.model, harold.observer_models, harold.reflector_models) == (None, ("b",), ("gemini-2.5-flash",))


def test_nothing_is_read_but_the_layers(folder, monkeypatch):
    """Catches the package's own readers: of this process's environment, of .env and of a folder of secrets."""
    monkeypatch.chdir(folder.path)
    (folder.path / ".env").write_text('models={"x": {"provider": "scripted"}}')
    for name in ("MODELS", "OBSERVATIONAL_MEMORY", "OM_TTL_DAYS"):
        monkeypatch.setenv(name, '{"x": {}}')

    assert folder.load().models.keys() == {"gemini-2.5-flash", "deepseek", "extractive"}
    assert folder.load().memory.ttl_days == 90


def test_a_host_above_takes_the_place_of_an_address_below_unless_it_is_null(folder):
    folder.settings("storage: {redis: {url: 'redis://blue'}}")

    assert folder.load(OM_STORAGE__REDIS__HOST="red").redis_url == "redis://red:6379/0"
    assert folder.load(OM_STORAGE__REDIS__HOST="null").redis_url == "redis://blue"


def test_a_model_that_is_only_listed_states_no_value(folder):
    folder.base("models: {m: }")

    assert [key for key in folder.load().origin() if key.startswith("models.m")] == []


def test_a_contradiction_between_two_files_names_both(folder):
    base = folder.settings("buffer_tokens: 6000")
    agent = folder.agent("harold", om("message_threshold: 5000"))
    (problem,) = folder.load().problems

    assert problem.file == str(agent)
    assert str(base) in problem.text
    assert "buffer_tokens is 6000" in problem.text


def test_every_mistake_of_a_file_is_reported_at_once(folder):
    folder.settings("message_threshold: 1, scope: user, obsever: 3")
    refusal = folder.refused().splitlines()

    assert len(refusal) == 3


def test_of_very_many_mistakes_the_first_are_told_and_how_many_more_there_are(folder):
    file = folder.settings(", ".join(f"k{n}: 1" for n in range(1_000)))
    refusal = folder.refused().splitlines()

    assert len(refusal) == 101
    assert refusal[-1] == f"{file}: 900 more like these"


@pytest.mark.parametrize("name", ["OM_MODEL", "OM_PRESET"])
def test_a_mistake_that_would_stand_for_several_is_told_once(folder, name):
    """Catches a model's name that is told three times, for `model` and for both roles."""
    assert len(folder.refused(**{name: "what a name!"}).splitlines()) == 1


def test_a_role_that_is_wrong_by_itself_is_told_beside_a_model_that_is(folder):
    folder.settings("model: [1], observer_model: [2]")

    assert len(folder.refused().splitlines()) == 2


def test_a_mistake_is_told_with_its_line(folder):
    file = folder.base(
        "observational_memory:\n  # words\n  observer:\n    timeout: never\n  buffer_tokens: 40000\nmodels:\n  a-1.5: {x: 1}\n"
    )

    assert [line.partition(" is")[0] for line in folder.refused().splitlines()] == [
        f"{file}, line 4: observer.timeout",
        f"{file}, line 7: models.a-1.5.x",
    ]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (om("mesage_threshold: 5"), "did you mean message_threshold?"),
        (om("observer: {timout: 5s}"), "did you mean observer.timeout?"),
        (om("excerpt_tokens: 5"), "did you mean other_threads.excerpt_tokens?"),
        (om("timeout: 5s"), "did you mean observer.timeout or reflection.timeout or webhooks.timeout?"),
        (om("storage: {redis: {hots: x}}"), "did you mean storage.redis.host?"),
        (om("storage: {redis: {zzz: x}}"), "permitted: url, host, port"),
        (om("observer.timeout: 5s"), "observer.timeout is not a setting"),
        ("models: {x: {base: 1}}", "did you mean models.x.base_url?"),
        (om("models: {a: {}}"), "models is not a setting; it stands at the top"),
        (om("'': 5"), "is not a setting"),
        ("message_threshold: 5", "did you mean observational_memory.message_threshold?"),
        ("observer: {}", "did you mean observational_memory.observer?"),
        ("memory: {}", "permitted: observational_memory and models"),
        ("true: 1", "permitted: observational_memory and models"),
    ],
)
def test_an_unknown_key_is_told_the_nearest_known_one(folder, text, hint):
    file = folder.base(text)
    refusal = folder.refused()

    assert refusal.startswith(f"{file}, line 1: ")
    assert hint in refusal
