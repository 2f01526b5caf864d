"""Where memories are stored, and whom an agent trusts."""

import pytest

from om_api import SettingsError, load_settings
from om_api.settings.sections.urls import safe_url, split_options


def test_a_backend_of_sql_is_an_archive_beside_redis_and_a_server_is_named_by_url_or_by_host(folder):
    folder.settings("storage: {backend: sqlite}")
    settings = folder.load()
    assert (settings.archive_url, settings.redis_url) == ("sqlite:///om-archive.db", "redis://127.0.0.1:6379/0")
    for text, says in (
        ("storage: {backend: mongodb}", 'storage.backend is "mongodb"; permitted: redis, sqlite or postgres'),
        ("storage: {backend: sqlite}, archive: {url: 'postgresql://me@db/om'}", "sqlite and archive.url is postgresql"),
        ("storage: {backend: postgres}", "archive.url of its kind, postgresql://user@host/database"),
    ):
        folder.settings(text)
        assert says in folder.refused(), text
    assert folder.load(OM_ARCHIVE__URL="postgresql://me@db/om").archive_url == "postgresql://me@db/om"
    for redis, url in [
        ("host: red", "redis://red:6379/0"),
        ("host: red, port: 7000, db: 3, username: me", "redis://me@red:7000/3"),
        ("host: '::1'", "redis://[::1]:6379/0"),
        ("url: 'rediss://red:6380/1'", "rediss://red:6380/1"),
        ("url: 'redis+sentinel://one:26379,two:26379/mymaster/0'", "redis+sentinel://one:26379,two:26379/mymaster/0"),
        ("url: 'unix:///run/redis.sock'", "unix:///run/redis.sock"),
    ]:
        folder.settings(f"storage: {{redis: {{{redis}}}}}")
        settings = folder.load()
        assert settings.redis_url == settings.broker_url == url, (redis, url)


def test_tasks_wait_on_a_server_of_their_own_where_memories_live_on_a_cluster(folder):
    """Catches a worker that asks a Cluster for its queues, which no client of the broker's can."""
    url = "redis+cluster://one:7000,two:7000"
    alone, two = folder.load(OM_REDIS_URL=url), folder.load(OM_REDIS_URL=url, OM_BROKER_URL="redis://three/1")
    assert (alone.redis_url, two.redis_url, two.broker_url) == (url, url, "redis://three/1")
    with pytest.raises(SettingsError, match=r"set OM_BROKER_URL to a server of their own, such as redis://"):
        _ = alone.broker_url
    with pytest.raises(SettingsError, match="set OM_BROKER_URL"):
        _ = folder.load(OM_REDIS_URL="redis://one", OM_BROKER_URL=url).broker_url


def test_a_password_comes_from_the_variable_a_file_names(folder):
    for redis, url in [("host: red, password_env: PW", "redis://:p%40%2Fss@red:6379/0"),
                       ("host: red, username: me, password_env: PW", "redis://me:p%40%2Fss@red:6379/0"),
                       ("url: 'rediss://me@red', password_env: PW", "rediss://me:p%40%2Fss@red")]:  # fmt: skip
        folder.settings(f"storage: {{redis: {{{redis}}}}}")
        assert folder.load(PW="p@/ss").redis_url == url, (redis, url)
        assert "storage.redis.password_env names PW, which is not set" in folder.refused(), (redis, url)


def test_a_password_is_refused_in_a_file_and_shown_from_nowhere(folder):
    settings = folder.load(OM_REDIS_URL="redis://me:hush@red:6379/0", OM_BROKER_URL="redis://:hush@broker/1")
    bad = folder.refused(OM_REDIS_URL="http://me:hush@red")
    folder.settings("storage: {redis: {url: 'redis://:hush@red:6379/0'}}")
    refusal = folder.refused()
    assert (settings.redis_url, settings.broker_url) == ("redis://me:hush@red:6379/0", "redis://:hush@broker/1")
    assert "storage.redis.password_env" in refusal
    assert "hush" not in f"{settings!r} {settings.memory!r} {settings.memory} {settings.origin()} {bad} {refusal}"


def test_an_address_is_shown_without_its_password(folder):
    for url, shown in [("redis://red:6379/0", "redis://red:6379/0"), ("redis://:hush@red", "redis://:***@red"),
                       ("rediss://me:hu@sh/@red:1/0", "rediss://me:***@red:1/0"),
                       ("redis+sentinel://:hush@one:1,two:2/m", "redis+sentinel://:***@one:1,two:2/m"),
                       ("redis://red/0?password=hush&db=1", "redis://red/0?password=***&db=1"),
                       ("sentinel://:hush@one:1;sentinel://:hush@two:2", "sentinel://:***@two:2"),
                       ("redis://red/0?a@b", "redis://red/0?a@b")]:  # fmt: skip
        assert folder.load().safe_url(url) == safe_url(url) == shown, (url, shown)


def _trust(**said):
    return load_settings(None, {f"OM_TRUST__{name.upper()}": value for name, value in said.items()}).memory.trust


def test_tools_and_threads_are_named_or_globbed_and_what_is_no_rule_is_refused_with_what_is_permitted():
    said = _trust(tools="{crm_*: trusted}", threads="{public-*: untrusted}", roles__tool="trusted").said()
    assert (said.tools, said.threads, said.roles["tool"]) == ({"crm_*": True}, {"public-*": False}, True)
    for tools in ["{crm: maybe}", "[crm]", "{'': trusted}", "{crm: true}"]:
        with pytest.raises(SettingsError, match="trusted or untrusted"):
            _trust(tools=tools)


def test_url_options_are_understood_as_redis_py_and_celery_spell_them_or_refused_in_one_sentence():
    for query, options in [
        ("ssl_cert_reqs=CERT_NONE&ssl_check_hostname=False", {"ssl_cert_reqs": "none", "ssl_check_hostname": False}),
        ("ssl_cert_reqs=required&ssl_min_version=TLSv1_2", {"ssl_cert_reqs": "required", "ssl_min_version": 771}),
        ("db=2&socket_timeout=1.5&client_name=a%20b", {"db": 2, "socket_timeout": 1.5, "client_name": "a b"}),
    ]:
        assert split_options(f"rediss://red:1/0?{query}") == ("rediss://red:1/0", options), query
    for url, why in [("rediss://:hush@red?ssl_cert_reqs=maybe", "ssl_cert_reqs"), ("redis://red?visibility=1", "visibility"),
                     ("redis://red?ssl_cert_reqs=none", "rediss://"), ("redis://red?socket_timeout=-1", "seconds"),
                     ("redis://red?protocol=9", "2 or 3")]:  # fmt: skip
        with pytest.raises(SettingsError, match=why) as refused:
            split_options(url)
        assert "hush" not in str(refused.value)
