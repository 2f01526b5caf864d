"""The `om` command."""

from __future__ import annotations

from om_api.cli.group import main

__all__ = ["main"]
