"""What calls of models cost, which models are in use, and which are discouraged in which role."""

from om_api.billing import models
from om_api.billing.prices import Tokens, is_extractive, micros, unenforceable
from om_api.ops.doctor import examine
from om_api.settings import ModelSettings, load_settings
from om_api.settings.model_settings import DEFAULT_MODELS

MODELS = {
    "stated": ModelSettings(provider="openai", prices={"input": 1.0, "cached": 0.1, "output": 4.0}),
    "plain": ModelSettings(provider="openai", prices={"input": 1.0, "output": 4.0}),
    "free": ModelSettings(base_url="http://localhost:8000/v1", prices={"input": 0, "output": 0}),
    "gemini-2.5-flash": ModelSettings(provider="gemini", model="gemini-2.5-flash"),
    "fast": ModelSettings(provider="gemini", model="gemini-2.5-flash", base_url="http://localhost:9000"),
    "mine": ModelSettings(base_url="http://localhost:8000/v1", model="gpt-4o-mini"),
    "routed": ModelSettings(base_url="https://openrouter.ai/api/v1", model="z-ai/glm-4.6"),
    "extractive": ModelSettings(provider="extractive"),
    "notes": ModelSettings(provider="extractive"),
    "rehearsal": ModelSettings(provider="scripted"),
    "unknown": ModelSettings(provider="openai", model="nobody-knows-it"),
}
NOTHING, FRESH, CACHED, ANSWER = Tokens(0), Tokens(1_000), Tokens(1_000, 600), Tokens(1_000, 600, 200)


def test_every_usage_has_its_price_in_millionths_of_a_dollar():
    for name, *expected in (
        ("stated", 0, 1_000, 460, 1_260),
        ("plain", 0, 1_000, 1_000, 1_800),
        ("free", 0, 0, 0, 0),
        ("gemini-2.5-flash", 0, 300, 138, 638),
        ("fast", 0, 300, 138, 638),
        ("extractive", 0, 0, 0, 0),
        ("rehearsal", 0, 0, 0, 0),
        ("unknown", None, None, None, None),
        ("mine", None, None, None, None),
        ("not/listed:anywhere", None, None, None, None),
    ):
        assert [micros(name, MODELS, usage) for usage in (NOTHING, FRESH, CACHED, ANSWER)] == expected, name
    assert micros("routed", MODELS, FRESH) > 0
    assert micros("gpt-4o-mini", {}, Tokens(1_000_000)) == 150_000  # listed nowhere, found by its name
    assert [name for name in MODELS if is_extractive(name, MODELS)] == ["extractive", "notes"]


def test_what_no_provider_can_mean_is_not_billed():
    for said, meant in (
        (Tokens(-5, -5, -5), Tokens(0, 0, 0)),
        (Tokens(10, 50, 1), Tokens(10, 10, 1)),
        (Tokens(10**30, 0, 10**30), Tokens(10**9, 0, 10**9)),
    ):
        assert said.sane() == meant
        assert micros("stated", MODELS, said) == micros("stated", MODELS, meant)


def test_the_models_that_a_budget_in_dollars_cannot_bound_are_named():
    mystery = {"OM_OBSERVER_MODEL": "[mystery, extractive]", "OM_REFLECTOR_MODEL": "gemini-2.5-flash"}
    tiers = "[{up_to: 1000, model: mystery}, {up_to: 9000, model: gpt-4o}]"
    tiered = {"OM_MODELS__TIERED__TIERS": tiers, "OM_MODEL": "tiered", "OM_BUDGET__DOLLARS_PER_DAY": "5"}

    assert unenforceable(load_settings(environ=mystery)) == []
    for environ in (
        {**mystery, "OM_BUDGET__DOLLARS_PER_DAY": "5"},
        {**mystery, "OM_TOTAL_BUDGET__DOLLARS_PER_DAY": "5"},
        tiered,
    ):
        assert unenforceable(load_settings(environ=environ)) == ["mystery"]


NOWHERE = {"OM_REDIS_URL": "redis://127.0.0.1:1/0"}
TIERS = "[{up_to: 10, model: gpt-x}, {up_to: 100, model: extractive}]"


def loaded(folder=None, **environ):
    return load_settings(folder, environ)


def test_every_agents_models_are_named_once_with_what_they_are_to_be(tmp_path):
    (tmp_path / "agents" / "ada").mkdir(parents=True)
    (tmp_path / "agents" / "ada" / "memory.yaml").write_text("observational_memory: {observer_model: [m, deepseek]}")
    (tmp_path / "observational-memory.yaml").write_text("observational_memory: {model: m}")
    settings = loaded(tmp_path)

    assert models.by_role(settings) == [("observer", "m"), ("reflector", "m"), ("observer", "deepseek")]
    assert models.in_use(settings) == ["m", "deepseek"]
    tiered = loaded(OM_MODEL="m", OM_MODELS__M__TIERS=TIERS)
    assert models.answering(tiered, "m") == models.in_use(tiered) == ["gpt-x", "extractive"]


def test_a_key_that_is_not_set_here_is_named_and_blanks_are_no_key():
    assert models.missing_key(loaded(), "gpt-4o") == "OPENAI_API_KEY"
    assert models.missing_key(loaded(OPENAI_API_KEY=" "), "gpt-4o") == "OPENAI_API_KEY"
    assert models.missing_key(loaded(OPENAI_API_KEY="sk-x"), "gpt-4o") == ""
    assert models.missing_key(loaded(), "extractive") == ""


def test_a_model_is_discouraged_in_the_roles_it_fills_badly():
    both = (
        "anthropic/claude-haiku-4.5",
        "models/gemini-2.0-flash-001",
        "openai/gpt-4o-2024-11-20",
        "chatgpt-4o-latest",
    )
    observer = ("deepseek-reasoner", "DeepSeek-R1-0528", "qwen3-235b-a22b-thinking-2507", "openai/o1")
    none = ("claude-opus-4-6", "gemini-2.5-flash", "deepseek-chat", "qwen3-32b", "gpt-4o-mini", "gpt-4.1")
    for names, roles in ((both, (True, True)), (observer, (True, False)), (none, (False, False))):
        for name in names:
            assert (bool(models.why_not("observer", [name])), bool(models.why_not("reflector", [name]))) == roles, name
    assert models.why_not("observer", ["mine", "o1"]) == models.why_not("observer", ["o1"]) != ""
    defaults = [(name, fields.get("model", "")) for name, fields in DEFAULT_MODELS.items()]
    assert not [name for name in defaults if models.why_not("observer", name) or models.why_not("reflector", name)]


def warnings(**environ):
    checkup = examine(load_settings(environ={**NOWHERE, **environ}))
    return [finding for finding in checkup.findings if finding.about == "models" and finding.trouble]


def test_doctor_warns_of_a_discouraged_model_in_its_role_with_the_reason_and_what_to_do():
    (warned,) = warnings(OM_OBSERVER_MODEL="deepseek-reasoner", OM_REFLECTOR_MODEL="deepseek-reasoner")

    assert warned.level == "warning"
    assert warned.says.startswith("deepseek-reasoner as Observer: it thinks before it answers")
    assert "observer_model" in warned.do
    assert warnings() == []
