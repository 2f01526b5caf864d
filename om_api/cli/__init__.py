"""The `om` command."""

import sys

from om_api.domain.extras import missing

try:
    from om_api.cli.group import main
except ModuleNotFoundError as _error:
    _lacking = missing(_error)

    def main() -> None:  # type: ignore[misc]  # the same name, for whoever installed no click
        """Say which extra brings the command."""
        print(f"Error: {_lacking}", file=sys.stderr)
        sys.exit(2)


__all__ = ["main"]
