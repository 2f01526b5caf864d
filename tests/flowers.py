"""A Flower of a test's own, and what it shows."""

import base64
import json
import os
import subprocess
import sys
import urllib.request
from typing import Any

from ports import reserve_port


class Flower:
    """A Flower of its own on a free port, opened with its password."""

    def __init__(self, house: Any) -> None:
        self.url = f"http://127.0.0.1:{reserve_port()}"
        port = {"FLOWER_PORT": self.url.rpartition(":")[2], "FLOWER_ADDRESS": "127.0.0.1"}
        own = {name: text for name, text in os.environ.items() if not name.startswith("OM_")}
        environ = {**own, **house.environment, **port, "FLOWER_BASIC_AUTH": "om:secret"}
        command = [sys.executable, "-m", "celery", "-A", "om_workers.app", "flower"]
        with house.log.open("ab") as log:
            self.process = subprocess.Popen(command, env=environ, stdout=log, stderr=log, cwd=house.config.parent)

    def get(self, path: str, password: str = "secret") -> Any:
        token = base64.b64encode(f"om:{password}".encode()).decode()
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Basic {token}"})
        with urllib.request.urlopen(request, timeout=5) as reply:
            return json.load(reply)

    def tasks(self) -> list[dict[str, Any]]:
        return list(self.get("/api/tasks").values())

    def is_there(self) -> bool:
        try:
            self.get("/api/tasks")
        except OSError:
            return False
        return True

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
