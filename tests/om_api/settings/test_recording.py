"""What follows from settings: fingerprints, records, composed memories, rules of caches, and what is saved."""

import errno
import os
import threading

import msgspec
import pytest
import structlog
from configured import Folder, om

from om_api.domain.errors import SettingsError
from om_api.settings import MemorySettings, ModelSettings, recorded_settings, saving
from om_api.settings.logs import library_log
from om_api.settings.model_settings import key_variable, provider_of
from om_api.settings.prompt_caches import rules_of
from om_api.settings.saving import save, text_of
from om_api.settings.stored_layers import StoredTexts, version_of


def test_the_same_settings_have_one_fingerprint_wherever_they_come_from(folder, tmp_path):
    folder.settings("ttl_days: 5")
    folder.agent("harold", om("ttl_days: 6"))
    other = Folder(tmp_path / "other")
    other.base("observational_memory:\n  # words\n  ttl_days: 5\n  message_threshold: 30000")
    other.agent("harold", om("ttl_days: 6, max_reflections: 100"))
    assert folder.load().fingerprint == other.load(OM_TIMEZONE="UTC").fingerprint


def test_other_settings_have_another_fingerprint_and_no_secret_is_in_one(folder):
    own = folder.load().fingerprint
    for name, value in (("OM_TTL_DAYS", "7"), ("OM_MODEL", "extractive"),
                        ("OM_MODELS__DEEPSEEK__BASE_URL", "http://other/v1"), ("OM_TOTAL_BUDGET__CALLS_PER_DAY", "5"),
                        ("OM_OBSERVER__INSTRUCTION", "Be brief.")):  # fmt: skip
        assert folder.load(**{name: value}).fingerprint != own, name
    for name, value in (("OM_REDIS_URL", "redis://:hush@elsewhere:6379/0"),
                        ("OM_MODELS__DEEPSEEK__API_KEY_ENV", "MY_KEY"), ("OM_API__STREAMS", "5"),
                        ("OM_LOG_LEVEL", "DEBUG"), ("OPENAI_API_KEY", "sk-hush")):  # fmt: skip
        assert folder.load(**{name: value}).fingerprint == own, name
    urls = ("http://host/v1?key=one", "http://host/v1?key=two")
    assert len({folder.load(OM_MODELS__MINE__BASE_URL=url).fingerprint for url in urls}) == 1


def test_an_agents_file_and_an_entry_of_the_store_change_it_and_taken_back_do_too(folder):
    folder.settings("")
    settings, seen = folder.load(), []
    for text in (om("ttl_days: 6"), ""):
        folder.agent("harold", text)
        settings.refresh()
        seen.append(settings.fingerprint)
    settings.refresh(StoredTexts("d", {"harold": om("ttl_days: 6").encode()}))
    seen.append(settings.fingerprint)
    settings.refresh(StoredTexts("e", {"harold": b"observational_memory:\n  ttl_days: 6  # words"}))
    seen.append(settings.fingerprint)
    settings.refresh(StoredTexts())
    assert settings.fingerprint == seen[1] == folder.load().fingerprint
    assert seen[1] not in (seen[0], seen[2])
    assert seen[2] == seen[3]


def test_a_context_has_room_for_raw_messages_of_twice_the_threshold_unless_somebody_says_otherwise():
    for said, whole, raw in [({}, None, 1_000), ({"context_max_tokens": 700}, 700, None),
                             ({"context_max_tokens": None}, None, None)]:  # fmt: skip
        written = recorded_settings.write(recorded_settings.of(MemorySettings(message_threshold=500, **said)))
        view = recorded_settings.read(written).view_of(0)
        assert (view.context_max_tokens, view.raw_max_tokens) == (whole, raw), (said, whole)


def test_a_shared_budget_moves_the_room_with_what_observations_leave_free():
    for observed, raw in [(0, 9_000), (1_000, 7_000), (4_000, 1_000), (9_000, 1_000)]:
        settings = MemorySettings(message_threshold=500, observation_threshold=4_000, share_token_budget=True)
        assert recorded_settings.of(settings).view_of(observed).raw_max_tokens == raw, (observed, raw)


def test_a_record_of_before_gives_the_room_that_is_usual_today():
    """A worker of before wrote `null` for what nobody had set; the next look of one of today's writes what is set."""
    older = msgspec.json.decode(recorded_settings.write(recorded_settings.of(MemorySettings(message_threshold=500))))
    del older["bounded"], older["view"]["raw_max_tokens"]
    assert recorded_settings.read(msgspec.json.encode(older).decode()).view_of(0).raw_max_tokens == 1_000


def test_what_was_written_is_read_and_nothing_else_or_longer_and_a_model_has_the_rules_of_its_provider():
    """Catches a record that ends a sweep of everybody's, by more brackets than Python can count."""
    said = recorded_settings.of(MemorySettings(message_threshold=500))
    written = recorded_settings.write(said)
    room = recorded_settings.LONGEST - len(written)
    assert recorded_settings.read(written) == recorded_settings.read(written + " " * room) == said
    assert recorded_settings.read(written + " " * (room + 1)) is None
    many = ('{"limits":' * 100_000, '{"limits":{"floor":1%s}}' % ("0" * 400), f'{{"retention_s": {"9" * 5_000}}}')
    for text in ("", "{", '{"limits": 5}', '{"view": {"timezone": "Mars"}}', *many):
        assert recorded_settings.read(text) is None, text[:40]
    for model, lifetime, minimum in [("claude-sonnet-4-6", 300, 1024), ("anthropic/claude-opus-4-6", 300, 1024),
                                     ("GPT-5.2-chat", 300, 1024), ("gemini-2.5-flash", 300, 2048),
                                     ("gemini-3-pro", 300, 4096), ("deepseek-chat", 3600, 64)]:  # fmt: skip
        found = rules_of(model)
        assert found is not None, (model, lifetime)
        assert (found.lifetime, found.minimum) == (lifetime, minimum), (model, lifetime)


def test_what_the_library_says_goes_into_the_programs_own_log_and_never_to_stdout(capsys):
    """Breaks with structlog's own default: an agent that speaks over its standard output would say it to its peer."""
    before = structlog.get_config() if structlog.is_configured() else None
    factory = structlog.testing.CapturingLoggerFactory()
    try:
        structlog.reset_defaults()
        library_log().warning("store_unavailable", unsent=1)
        structlog.configure(logger_factory=factory, processors=[structlog.processors.JSONRenderer()])
        library_log().warning("store_unavailable", unsent=2)
    finally:
        structlog.reset_defaults()
        if before:
            structlog.configure(**before)
    assert capsys.readouterr().out == ""
    assert [call.args for call in factory.logger.calls] == [('{"unsent": 2, "event": "store_unavailable"}',)]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "agents" / "harold" / "memory.yaml"


def test_a_file_is_made_with_its_folder_or_replaced_unless_it_was_changed_since_it_was_read(file):
    made = save(file, "a: 1\n", "")
    file.chmod(0o640)
    replaced = save(file, "a: é\n", version_of("a: 1\n"))
    assert (made, replaced, text_of(file)) == (True, True, "a: é\n".encode())
    assert file.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in file.parent.iterdir()] == ["memory.yaml"]
    late = [save(file, "a: 2\n", ""), save(file, None, version_of("other"))]
    assert (late, text_of(file)) == ([False, False], "a: é\n".encode())


def test_of_many_who_save_at_once_one_is_first_and_the_others_are_told(file):
    """Catches the moment between a look at the version and the rename."""
    save(file, "n: start\n", "")
    for _ in range(10):
        was, at_once, done = version_of(text_of(file)), threading.Barrier(8), {}

        def go(n, was=was, at_once=at_once, done=done):
            at_once.wait(30)
            done[n] = save(file, f"{was}: {n}\n", was)

        threads = [threading.Thread(target=go, args=(n,)) for n in range(8)]
        [each.start() for each in threads]
        [each.join(30) for each in threads]
        (winner,) = [n for n, saved in done.items() if saved]
        assert text_of(file) == f"{was}: {winner}\n".encode()


def test_who_dies_before_the_rename_leaves_what_was_there(file, monkeypatch):
    for call in ["fsync", "fchmod"]:
        save(file, "a: 1\n", "")
        with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
            dying.setattr(saving.os, call, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            save(file, "a: 2\n", version_of("a: 1\n"))
        assert text_of(file) == b"a: 1\n", call
        assert [each.name for each in file.parent.iterdir()] == ["memory.yaml"], call


def test_a_folder_that_takes_no_writes_says_what_to_do_and_stays_as_it_is(file, monkeypatch):
    save(file, "a: 1\n", "")
    opened = os.open

    def refuse(path, flags, *mode):
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return opened(path, flags, *mode)

    monkeypatch.setattr(saving.os, "open", refuse)
    with pytest.raises(SettingsError, match=f"{os.strerror(errno.EROFS)}; nothing was changed: .*--store"):
        save(file, "a: 2\n", version_of("a: 1\n"))
    assert text_of(file) == b"a: 1\n"


TIERED = "{tiers: [{up_to: 10, model: small}, {up_to: 100, model: middle}]}"


def test_a_models_own_temperature_is_sent_instead_of_the_agents_and_omit_sends_none(folder):
    for stated, sent in [("null", 0.3), ("1", 1.0), ("0", 0.0), ("omit", None)]:
        folder.base(f"models: {{m: {{temperature: {stated}}}}}")
        assert folder.load().models["m"].temperature_for(0.3) == sent, (stated, sent)


def test_what_a_model_cannot_be_asked_for_is_refused_with_what_is_permitted(folder):
    for entry, what in [("temperature: none", 'temperature is "none"; permitted: 0 to 2, omit or null'),
                        ("temperature: 2.1", "permitted: 0 to 2"), ("max_output_tokens: 0", "permitted: 1 to"),
                        ("prices: {input: 1000001, output: 1}", "0 to 1,000,000 each"),
                        ("limits: {requests_per_minute: 1000000001}", "1 to 1,000,000,000 each, or null"),
                        ("tiers: {up_to: 5}", "permitted: a list of {up_to: tokens, model: name}"),
                        ("tiers: [{up_to: 5, model: a}, {up_to: 5, model: b}]", "each up_to above the one before"),
                        ("tiers: [{up_to: 0, model: a}]", "models.m.tiers.0.up_to is 0"),
                        ("tiers: [{up_to: 9}]", "models.m.tiers.0.model is"),
                        ("tiers: [{upto: 9, model: a}]", "did you mean models.m.tiers.0.up_to?")]:  # fmt: skip
        folder.base(f"models: {{m: {{{entry}}}}}")
        assert what in folder.refused(), (entry, what)


def test_a_tier_that_has_tiers_itself_is_refused_and_so_is_a_model_in_its_own_tiers(folder):
    for text in (f"{{a: {{tiers: [{{up_to: 5, model: b}}]}}, b: {TIERED}}}", "{b: {tiers: [{up_to: 5, model: b}]}}"):
        folder.base(f"models: {text}")
        assert "names b, which has tiers itself; permitted: models without tiers" in folder.refused()


def test_a_provider_and_the_variable_of_its_key_follow_from_settings_and_name():
    for name, settings, provider, variable in [
        ("gemini-2.5-pro", {}, "gemini", "GEMINI_API_KEY"),
        ("gemini-2.5-pro", {"provider": "gemini", "base_url": "http://here"}, "gemini", ""),
        ("mine", {"provider": "gemini", "api_key_env": "MINE"}, "gemini", "MINE"),
        ("gpt-x", {}, "openai", "OPENAI_API_KEY"),
        ("local", {"base_url": "http://here/v1"}, "openai", ""),
        ("extractive", {}, "extractive", ""),
    ]:
        model = ModelSettings(**settings)
        assert (provider_of(name, model), key_variable(name, model)) == (provider, variable), (name, settings)


def test_an_entry_replaces_the_built_in_one_so_that_no_key_goes_elsewhere(folder):
    folder.base("models: {deepseek: {base_url: 'http://localhost:8000/v1'}}")
    deepseek = folder.load().models["deepseek"]
    assert (deepseek.provider, deepseek.model, deepseek.api_key_env) == ("openai", "deepseek", None)


def test_a_model_that_cannot_be_is_refused_without_showing_secrets(folder):
    for entry, what in [
        ("api_key: sk-hush", "api_key_env"),
        ("options: {headers: {Authorization: sk-hush}}", "api_key_env"),
        ("api_key_env: sk-hush", "api_key_env is not usable"),
        ("base_url: 'https://me:sk-hush@host/v1'", "base_url is not usable"),
        ("base_url: localhost", "http:// or https://"),
        ("prices: {input: 1}", "input, output"),
        ("limits: {requests_per_hour: 60}", "requests_per_minute, tokens_per_minute and concurrency"),
    ]:
        file = folder.base(f"models: {{x: {{{entry}}}}}")
        refusal = folder.refused()
        assert refusal.startswith(f"{file}, line 1: models.x"), (entry, what)
        assert what in refusal, (entry, what)
        assert "hush" not in refusal, (entry, what)
