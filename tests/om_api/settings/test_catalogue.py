"""Every setting by its key."""

from om_api.settings.catalogue import GROUPS, dotted


def test_groups_are_the_mappings_of_the_file():
    assert {dotted(group) for group in GROUPS} == {
        "",
        "other_threads",
        "observer",
        "reflection",
        "reflection.archive",
        "recall",
        "prompt_cache",
        "working_memory",
        "hooks",
        "redaction",
        "trust",
        "trust.roles",
        "budget",
        "total_budget",
        "push_limits",
        "durability",
        "archive",
        "events",
        "telemetry",
        "audit",
        "webhooks",
        "metrics",
        "api",
        "storage",
        "storage.redis",
    }
