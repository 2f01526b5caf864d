"""docs/webhooks.md: its verifiers take what workers send and refuse everything else."""

import json
import os
import shutil
import subprocess
import time

import pytest
from pages import ROOT, blocks

from om_api.domain.webhooks import signing

PAGE = (ROOT / "docs" / "webhooks.md").read_text()
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
    good, now = sent(), time.time()
    signed = good["webhook-signature"]
    for signature in (signed, f"v1,b3RoZXI= {signed}"):
        assert verified({**good, "webhook-signature": signature}, BODY) == "verified"
    for headers, body in [
        (good, BODY + b" "),
        ({**good, "webhook-id": "msg_2"}, BODY),
        (sent(secret=signing.new_secret()), BODY),
        ({**good, "webhook-signature": signed.replace("v1,", "v2,")}, BODY),
        ({**good, "webhook-signature": "v1,"}, BODY),
    ]:
        assert verified(headers, body) == "signed by somebody else, or changed on the way", (headers, body)
    for at in (now - 400, now + 400):
        assert verified(sent(at=at), BODY) == "signed too long ago, or ahead of time"
