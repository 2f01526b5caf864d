"""Over time, over HTTP: as the library says it, to whom it may be told."""

import pytest

from om_workers.work.sampling import Sampler


def test_series_are_those_the_library_tells(world, ask, using):
    world.say("hello")
    world.settle()
    world.sweep()
    Sampler(world.services).sample()
    own, every = ask("GET", "/v1/resources/harold/series").json(), using("reader", "*")("GET", "/v1/series").json()

    assert (own["resource"], every["resource"]) == ("harold", None)
    assert [point["message_tokens"] for point in own["points"]] == [100]
    assert [point["agents"] for point in every["points"]] == [1]
    assert ask("GET", "/v1/resources/harold/series", params={"days": 401}).status_code == 422


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/series", 403), ("/v1/resources/ada/series", 403), ("/v1/resources/harold/series", 200)]
)
def test_a_key_is_told_of_its_own_resources_only(using, path, status):
    assert using("reader", "harold")("GET", path).status_code == status
