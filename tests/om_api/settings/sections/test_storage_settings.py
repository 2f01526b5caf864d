"""Where memories live, and that no password is shown."""

import pytest

from om_api import SettingsError
from om_api.settings.sections.urls import safe_url


def test_a_backend_of_sql_is_an_archive_beside_redis(folder):
    folder.settings("storage: {backend: sqlite}")
    settings = folder.load()

    assert settings.archive_url == "sqlite:///om-archive.db"
    assert settings.redis_url == "redis://127.0.0.1:6379/0"


def test_a_backend_of_postgres_needs_its_address(folder):
    folder.settings("storage: {backend: postgres}")
    assert "permitted with it: archive.url of its kind, postgresql://user@host/database" in folder.refused()

    assert folder.load(OM_ARCHIVE__URL="postgresql://me@db/om").archive_url == "postgresql://me@db/om"


def test_a_backend_and_an_archive_of_another_kind_are_refused(folder):
    folder.settings("storage: {backend: sqlite}, archive: {url: 'postgresql://me@db/om'}")

    assert "storage.backend is sqlite and archive.url is postgresql://" in folder.refused()


def test_any_other_backend_is_refused_with_what_is_offered(folder):
    folder.settings("storage: {backend: mongodb}")

    assert 'storage.backend is "mongodb"; permitted: redis, sqlite or postgres' in folder.refused()


@pytest.mark.parametrize(
    ("redis", "url"),
    [
        ("host: red", "redis://red:6379/0"),
        ("host: red, port: 7000, db: 3, username: me", "redis://me@red:7000/3"),
        ("host: '::1'", "redis://[::1]:6379/0"),
        ("port: 7000", "redis://127.0.0.1:7000/0"),
        ("url: 'rediss://red:6380/1'", "rediss://red:6380/1"),
        ("url: 'redis+sentinel://one:26379,two:26379/mymaster/0'", "redis+sentinel://one:26379,two:26379/mymaster/0"),
        ("url: 'unix:///run/redis.sock'", "unix:///run/redis.sock"),
    ],
)
def test_a_server_is_named_by_url_or_by_host(folder, redis, url):
    folder.settings(f"storage: {{redis: {{{redis}}}}}")
    settings = folder.load()

    assert settings.redis_url == settings.broker_url == url


def test_tasks_wait_on_a_server_of_their_own_where_memories_live_on_a_cluster(folder):
    """Catches a worker that asks a Cluster for its queues, which no client of the broker's can."""
    url = "redis+cluster://one:7000,two:7000"
    alone, two = folder.load(OM_REDIS_URL=url), folder.load(OM_REDIS_URL=url, OM_BROKER_URL="redis://three/1")

    assert (alone.redis_url, two.redis_url, two.broker_url) == (url, url, "redis://three/1")
    with pytest.raises(SettingsError, match=r"set OM_BROKER_URL to a server of their own, such as redis://"):
        _ = alone.broker_url
    with pytest.raises(SettingsError, match="set OM_BROKER_URL"):
        _ = folder.load(OM_REDIS_URL="redis://one", OM_BROKER_URL=url).broker_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("localhost:6379", "redis://localhost:6379;"),
        ("red/3", "redis://red/3;"),
        ("me:hush@red:6379", "redis://127.0.0.1:6379/0;"),
        ("hush@red", "redis://127.0.0.1:6379/0;"),
    ],
)
def test_an_address_without_a_scheme_is_told_what_it_should_look_like(folder, url, shown):
    """Catches a riddle: "not usable". No part of a password is told."""
    refusal = folder.refused(OM_REDIS_URL=url)

    assert refusal.startswith(f"environment OM_REDIS_URL: storage.redis.url: it has no scheme: write it as {shown}")
    assert "hush" not in refusal


@pytest.mark.parametrize(
    ("redis", "url"),
    [
        ("host: red, password_env: PW", "redis://:p%40%2Fss@red:6379/0"),
        ("host: red, username: me, password_env: PW", "redis://me:p%40%2Fss@red:6379/0"),
        ("url: 'rediss://me@red', password_env: PW", "rediss://me:p%40%2Fss@red"),
    ],
)
def test_a_password_comes_from_the_variable_a_file_names(folder, redis, url):
    folder.settings(f"storage: {{redis: {{{redis}}}}}")

    assert folder.load(PW="p@/ss").redis_url == url
    assert "storage.redis.password_env names PW, which is not set" in folder.refused()


def test_a_password_in_a_file_is_refused_and_not_shown(folder):
    folder.settings("storage: {redis: {url: 'redis://:hush@red:6379/0'}}")
    refusal = folder.refused()

    assert "storage.redis.password_env" in refusal
    assert "hush" not in refusal


def test_a_password_in_the_environment_is_never_shown(folder):
    settings = folder.load(OM_REDIS_URL="redis://me:hush@red:6379/0", OM_BROKER_URL="redis://:hush@broker/1")

    assert settings.redis_url == "redis://me:hush@red:6379/0"
    assert settings.broker_url == "redis://:hush@broker/1"
    assert "hush" not in f"{settings!r} {settings.memory!r} {settings.memory} {settings.origin()}"
    assert "hush" not in folder.refused(OM_REDIS_URL="http://me:hush@red")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://red:6379/0", "redis://red:6379/0"),
        ("redis://:hush@red", "redis://:***@red"),
        ("rediss://me:hu@sh/@red:1/0", "rediss://me:***@red:1/0"),
        ("redis+sentinel://:hush@one:1,two:2/m", "redis+sentinel://:***@one:1,two:2/m"),
        ("redis://red/0?password=hush&db=1", "redis://red/0?password=***&db=1"),
        ("sentinel://:hush@one:1;sentinel://:hush@two:2", "sentinel://:***@two:2"),
        ("redis://red/0?a@b", "redis://red/0?a@b"),
    ],
)
def test_an_address_is_shown_without_its_password(folder, url, shown):
    assert folder.load().safe_url(url) == safe_url(url) == shown
