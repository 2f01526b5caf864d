"""Everything of ours runs as the user that `om acl --workers` makes, and the server refuses none of it."""

import json
from urllib.parse import quote

import pytest
import redis
from key_ring import KeyRing
from servers import BINARIES, Server
from world import wait_until

from om_api import load_settings
from om_api.ops.diagnosis import Finding
from om_api.ops.doctor import examine
from om_api.store.driver.connection import Connection
from om_api.store.driver.scripts import load_all
from om_api.store.fleet import acl
from om_api.store.memory.keys import Keys

PASSWORD = "a password of sixteen and more"


@pytest.fixture(params=BINARIES)
def guarded(request, tmp_path, prefix):
    """A server that lets nobody in but an administrator and the workers' user: a client of the one, the other's address."""
    with Server(tmp_path, "--appendonly", "yes", binary=BINARIES[request.param]) as server:
        with server.client() as anybody:
            anybody.execute_command("ACL", "SETUSER", "admin", "on", f">{PASSWORD}", "~*", "&*", "+@all")
            anybody.execute_command("ACL", "SETUSER", "default", "off")
        with redis.Redis(port=server.port, username="admin", password=PASSWORD) as admin:
            user = acl.workers(Keys(prefix))
            Connection(admin).run(acl.apply(user, [acl.kept(PASSWORD)], reset=False))
            admin.script_flush()
            yield admin, server.url.replace("://", f"://{quote(user.name, safe='')}:{quote(PASSWORD)}@")


def test_workers_beats_the_doctor_and_keys_need_nothing_that_their_user_may_not(run, guarded, prefix):
    admin, url = guarded
    house = run(commands=(("beat",), ("worker", "-c", "4")), url=url, message_threshold="1000", min_recent_messages="0")
    member = json.dumps({"id": "plain", "role": "user", "content": "from a socket"})
    admin.zadd(f"{prefix}:{{harold}}:messages:plain", {member: 1_763_600_000_000})
    house.say(12)
    known = f"{prefix}:{{harold}}:known:plain"  # which stays, also once it is sealed
    wait_until(lambda: admin.exists(known), "the sweep to adopt what nobody named", 90)
    assert house.om.force_observe(resource_id="harold", wait=60) == "activated"
    assert "plain" in [name for each in house.om.observations("harold") for name in each.message_ids]
    assert house.om.force_reflect("harold", wait=60) == "reflected"
    settings = load_settings(environ=house.environment | {"OM_CONFIG_DIR": ""})
    looked_at = {"server", "store", "disk", "broker"}
    findings = examine(settings).findings
    levels = {finding.level for finding in findings if finding.about in looked_at}
    (unchecked,) = (finding for finding in findings if finding.about == "compose")
    ring = KeyRing(settings)
    ring.create(["harold"], "reader")
    assert (len(ring.list()), house.om.verify()) == (1, [])
    assert house.om.clear("harold").outcome == "cleared"
    assert (levels, admin.acl_log()) == ({"ok"}, [])
    assert unchecked == Finding("note", "compose", unchecked.says, "run om doctor as the administrator of Redis")
    assert all(admin.script_exists(*(verb.sha for verb in load_all().values())))
