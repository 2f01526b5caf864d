"""How an endpoint is asked on a command line."""

import json
import re
import shlex
from typing import Any

from om_api.http.requests.guard import ROLE
from om_api.http.requests.replies import LINES

Operation = dict[str, Any]


def curl(path: str, method: str, told: Operation) -> str:
    """A command for a shell; what has no example is a variable there, such as $OBSERVATION."""
    lines = [f'curl -sS {_method(method, told)}"$OM{_filled(path, told)}"']
    lines += ['-H "Authorization: Bearer $TOKEN"'] if ROLE in told else []
    for media, content in told.get("requestBody", {}).get("content", {}).items():
        lines += [f'-H "Content-Type: {media}"', _body(media, content)]
    return " \\\n  ".join(lines)


def _method(method: str, told: Operation) -> str:
    usual = "post" if "requestBody" in told else "get"
    return "" if method == usual else f"-X {method.upper()} "


def _filled(path: str, told: Operation) -> str:
    """The path with a value for all that is required."""
    required = [each for each in told.get("parameters", ()) if each["required"]]
    values = {each["name"]: _value(each) for each in required}
    query = "&".join(f"{each['name']}={values[each['name']]}" for each in required if each["in"] == "query")
    return re.sub(r"\{(\w+)\}", lambda name: values[name[1]], path) + (f"?{query}" if query else "")


def _value(parameter: Operation) -> str:
    examples = parameter["schema"].get("examples")
    return str(examples[0]) if examples else f"${parameter['name'].upper()}"


def _body(media: str, content: Operation) -> str:
    if media == LINES:
        return "--data-binary @harold.jsonl"
    (example, *_) = [each["value"] for each in content["examples"].values()]
    return f"-d {shlex.quote(json.dumps(example, ensure_ascii=False))}"
