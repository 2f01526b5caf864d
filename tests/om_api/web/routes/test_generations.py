"""The pages of groups: their list, the notes of one, and the way there."""

import pytest
from world import World

AT = "/ui/agents/harold"


@pytest.fixture
def group(world):
    world.om.add_line("the <b>harbour</b> opens at nine", "harold", "t-1")
    house = World(world.client, world.prefix, reflection__mode="archive")
    house.om.force_reflect("harold")
    house.settle()
    (found,) = house.om.groups("harold")
    return found


def test_groups_are_listed_and_each_is_read(sign_in, group):
    who = sign_in("reader", "harold")

    assert f'href="{AT}/groups"' in who.get(f"{AT}/generations").text
    listed = who.get(f"{AT}/groups").text
    assert f'href="{AT}/groups/{group.id}"' in listed
    assert "&lt;b&gt;harbour" in listed
    assert "opens at nine" in who.get(f"{AT}/groups/{group.id}").text
    assert who.get(f"{AT}/groups/aaaaaaaa").status_code == 404
