"""Lines of stdin, which nobody has to wait for at the end; the rest is played with a real process in tests/e2e/test_mcp.py."""

import asyncio
import os

from om_api.mcp.stdio import _lines


def test_lines_are_read_as_they_come():
    reads, writes = os.pipe()
    os.write(writes, b"one\ntw\xff\n")

    async def read():
        lines = _lines(reads)
        found = [await anext(lines), await anext(lines)]
        os.close(writes)
        return found + [line async for line in lines]

    assert asyncio.run(read()) == ["one\n", "tw�\n"]
    os.close(reads)
