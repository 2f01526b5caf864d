from om_api.domain.values import Scope


def test_each_kind_of_work_on_each_scope_has_a_lock_of_its_own_where_its_resource_lives(world):
    """Catches two threads that wait for each other, and a lock that a cluster keeps elsewhere than the memory."""
    scopes = (Scope("harold"), Scope("harold", "t-1"), Scope("harold", "t-2"), Scope("albert"))
    names = {
        (scope, what): world.services.lock_name(scope, what) for scope in scopes for what in ("observe", "reflect")
    }

    assert len(set(names.values())) == 8
    assert all(f"{{{scope.resource}}}" in name for (scope, _), name in names.items())
    assert world.services.lock_name(scopes[0], "observe") == names[scopes[0], "observe"]
