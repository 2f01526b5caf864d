"""The demo moves the past to an archive, and says so where no answer comes from there."""

import pytest
from world import World

from om_api.archive.opening import open_archive
from om_api.cli.demo_archive import archive_environ, show_archive
from om_api.cli.demo_recall import AskedFact

CAKE = AskedFact("harold", "t-1", "What am I allergic to?", "allergic cake", "walnuts")
TEA = AskedFact("harold", "t-1", "Which tea do I like?", "tea", "Darjeeling")


@pytest.fixture
def client(server_client):
    return server_client


@pytest.fixture
def house(client, prefix, server_url, tmp_path):
    """Harold's memory, in which notes stand for the first messages; the last is raw."""
    environ = archive_environ(str(tmp_path))
    made = World(client, prefix, archive__url=environ["OM_ARCHIVE__URL"], redis_url=server_url)
    made.say("For the birthday cake: I am allergic to walnuts.", *[f"turn {n}" for n in range(12)])
    made.settle()
    made.say("My tea is Darjeeling.")
    yield made
    made.om.close()


def test_a_fact_is_recalled_from_the_archive_once_its_messages_left_redis(house, capsys):
    (name, *_) = [each.id for each in house.om.observations("harold")]
    before = house.om.sources(name, "harold")
    done, shown = show_archive(house.om, ["harold"], [CAKE]), capsys.readouterr().out
    figures = open_archive(house.settings.archive_url).figures()

    assert done
    assert f"{figures.messages} messages behind notes left Redis" in shown
    assert 'recall(query="allergic cake") answers from there:' in shown
    assert "to walnuts." in shown
    assert not house.client.exists(house.services.keys.of("harold").source(name))
    assert house.om.sources(name, "harold") == before != []


def test_what_still_stands_in_redis_is_no_answer_from_the_archive(house, capsys):
    """Catches a demo that shows a success whatever happens."""
    assert not show_archive(house.om, ["harold"], [TEA])
    assert "BROKEN: no answer comes from the archive" in capsys.readouterr().out


def test_without_the_packages_the_demo_goes_on_and_says_what_is_missing(client, prefix, capsys):
    world = World(client, prefix)

    assert show_archive(world.om, ["harold"])
    assert "cortex-om[archive]" in capsys.readouterr().out
