"""docs/webhooks.md: its verifiers take what workers send and refuse everything else, its numbers are those in force."""

import json
import os
import shutil
import subprocess
import time

import pytest
from pages import ROOT, blocks

from om_api import load_settings
from om_api.cli.commands import webhooks as commands
from om_api.domain.webhooks import delivery, signing
from om_api.domain.webhooks.webhook import MOST
from om_api.http import make_app
from om_api.metrics.series import DELIVERIES
from om_api.store.fleet import webhook_queue
from om_workers.work import webhooks

PAGE = (ROOT / "docs" / "webhooks.md").read_text()
TEXT = " ".join(PAGE.split())
BODY = '{"kind":"reflected","resource":"wörker-1"}'.encode()
SECRET = signing.new_secret()


def sent(at=None, secret=SECRET, name="msg_1"):
    return signing.headers(secret, name, round(time.time() if at is None else at), BODY)


def with_python(headers, body):
    (code,) = blocks(PAGE, "python")
    known = {}
    exec(code, known)
    try:
        known["verify"](SECRET, headers, body)
    except ValueError as error:
        return str(error)
    return "verified"


def with_node(headers, body):
    if not (node := shutil.which("node")):
        if os.environ.get("CI"):
            pytest.fail("no node: .ci/run installs it")
        pytest.skip("no node")
    (code,) = blocks(PAGE, "js")
    asked = json.dumps([SECRET, headers, body.hex()])
    call = f'const [s, h, b] = {asked}; try {{ verify(s, h, Buffer.from(b, "hex")); console.log("verified"); }}'
    run = subprocess.run(
        [node, "-e", f"{code}\n{call} catch (error) {{ console.log(error.message); }}"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return run.stdout.strip()


@pytest.mark.parametrize("verified", [with_python, with_node])
def test_what_workers_send_is_verified_and_nothing_else_is(verified):
    good = sent()
    both = {**good, "webhook-signature": "v1,b3RoZXI= " + good["webhook-signature"]}

    assert verified(good, BODY) == "verified"
    assert verified(both, BODY) == "verified"
    others = "signed by somebody else, or changed on the way"
    assert verified(good, BODY + b" ") == others
    assert verified({**good, "webhook-id": "msg_2"}, BODY) == others
    assert verified(sent(secret=signing.new_secret()), BODY) == others
    assert verified({**good, "webhook-signature": good["webhook-signature"].replace("v1,", "v2,")}, BODY) == others
    assert verified({**good, "webhook-signature": "v1,"}, BODY) == others
    late = "signed too long ago, or ahead of time"
    assert verified(sent(at=time.time() - 400), BODY) == late
    assert verified(sent(at=time.time() + 400), BODY) == late


def test_every_command_and_every_route_is_in_the_table():
    told = make_app(load_settings(environ={})).openapi()["paths"]
    routes = {f"{verb.upper()} {path}" for path, verbs in told.items() if "/webhooks" in path for verb in verbs}
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `om webhooks")]

    assert {row[0].strip("`").split()[2] for row in rows} == set(commands.webhooks.commands)
    assert {row[1].strip("`") for row in rows} == routes


def test_the_numbers_of_the_page_are_in_force():
    given = load_settings(environ={}).memory.webhooks

    assert f"`webhooks.timeout` ({given.timeout:g} s unless you say otherwise)" in TEXT
    assert f"`webhooks.interval` ({given.interval:g} s)" in TEXT
    assert f"{given.queue:,} deliveries wait for each (`webhooks.queue`)" in TEXT
    assert f"A store has {MOST} webhooks at most" in TEXT
    assert delivery.ATTEMPTS == 8
    assert f"{delivery.wait_s(1, 0.5):g} s after the first" in TEXT
    kept = f"kept for {webhook_queue.DEAD_MS // 86_400_000} days, the newest {webhook_queue.DEAD}"
    assert kept in TEXT
    assert f"no other is begun for {webhooks._PAUSE_MS // 1000} s" in TEXT
    assert webhooks._EACH == 4


def test_the_outcomes_that_are_counted_are_those_of_the_page():
    counted = TEXT.split("counts, by `outcome`:")[1].split(". Each failed")[0]
    assert [name for name in DELIVERIES if f"`{name}`" not in counted] == []
