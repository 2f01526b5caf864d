"""`om export` and `om import`: a memory in a file, and back."""

from __future__ import annotations

import json


def test_a_memory_comes_back_from_a_file_as_it_was(om, reflected):
    before = reflected.context().text
    file = om("export", "harold").stdout_bytes
    om("clear", "harold", "--yes")

    done = om("import", stdin=file)
    assert done.exit_code == 0
    assert done.stdout.startswith("harold: 1 threads, ")
    assert reflected.context().text == before


def test_a_memory_is_copied_for_another_agent(om, om_json, observed):
    file = om("export", "harold").stdout_bytes

    assert om_json("import", "--as", "albert", stdin=file)["resource"] == "albert"
    assert observed.context(resource="albert").text == observed.context().text


def test_the_file_is_json_lines(om, observed):
    lines = [json.loads(line) for line in om("export", "harold").stdout.splitlines()]

    assert (lines[0]["kind"], lines[0]["resource"], lines[-1]["kind"]) == ("memory", "harold", "end")
    assert {"record", "thread", "observation", "source", "message"} <= {line["kind"] for line in lines}


def test_nothing_is_imported_over_a_memory(om, observed):
    refused = om("import", stdin=om("export", "harold").stdout_bytes)

    assert refused.exit_code == 2
    assert "harold holds a memory already" in refused.stderr


def test_what_is_no_exported_memory_is_refused_with_its_line(om):
    assert "line 1: this is no line of an exported memory" in om("import", stdin="hello").stderr
    assert "not a single line" in om("import", stdin="").stderr


def test_nobody_is_exported_whom_nobody_knows(om):
    result = om("export", "harlod")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "harlod is not known here" in result.stderr
