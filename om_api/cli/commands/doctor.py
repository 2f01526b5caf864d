"""`om doctor`: what is wrong with a running system, and what to do about it."""

import sys

from om_api.cli.output import json_option, note, print_json, print_line
from om_api.cli.target import Target, command
from om_api.ops.diagnosis import Finding
from om_api.ops.doctor import examine

_UNREACHED = 2
_INDENT = 20  # where what a finding says begins


@command("om doctor", "om doctor --json | jq '.[] | select(.level == \"error\")'")
@json_option
def doctor(target: Target, as_json: bool) -> None:
    """Look at store, workers, ticks, queues and settings, and name each trouble with its remedy.

    Writes one key that is gone a second later, to see whether the store takes writes; what the server does not permit to
    be asked is a note. Exit code 0 if all is well, 1 if there is trouble (warning or error), 2 if the store cannot be
    reached.
    """
    found = examine(target.refreshed())
    if as_json:
        print_json([finding._asdict() for finding in found.findings])
    else:
        for finding in found.findings:
            print_line(_line(finding), _INDENT)
    if found.troubles:
        note(f"troubles: {len(found.troubles):,}")
        sys.exit(1 if found.reached else _UNREACHED)
    note("all is well")


def _line(finding: Finding) -> str:
    do = f" -> {finding.do}" if finding.do else ""
    return " ".join(f"{finding.level:<8} {finding.about:<10} {finding.says}{do}".splitlines())
