"""Every series that monitoring sees, and no other: name, type, labels, meaning, and where it is read. Pure."""

from functools import partial
from typing import Literal, NamedTuple

Kind = Literal["gauge", "counter", "histogram"]


class Series(NamedTuple):
    """One series: `name` as it is scraped, what a value means and in which unit, and what it is read from."""

    kind: Kind
    labels: tuple[str, ...]
    name: str
    help: str
    source: str


class Histogram(NamedTuple):
    """How often something took at most so long, by bound (s, `+Inf` the last), and the seconds in all."""

    buckets: tuple[tuple[str, int], ...]
    seconds: float


class Sample(NamedTuple):
    """A value of a series, with the values of its labels in their order."""

    series: str
    labels: tuple[str, ...]
    value: float | Histogram


_BY_RESOURCE = ("resource_id",)
_gauge = partial(Series, "gauge", ())
_memory = partial(Series, "gauge", _BY_RESOURCE)
_counter = partial(Series, "counter", _BY_RESOURCE)
_histogram = partial(Series, "histogram", _BY_RESOURCE)
_TOKENS, _RECORD = "`P:{<r>}:tokens`", "`P:{<r>}:record`"
_COUNTED, _SERVED = "`P:counted-by:<r>`, `P:counted`", "the same, told by clients"
_ARCHIVABLE = "`P:archivable`"
_BROKER, _TICKED = "the broker", "`P:lock:ticked:<name>`"

SERIES = (
    _memory("cortex_om_messages_tokens", "Tokens of raw messages that are not sealed yet.", _TOKENS),
    _memory("cortex_om_chunks_tokens", "Tokens of messages in chunks that are not activated yet.", _RECORD),
    _memory("cortex_om_observations_tokens", "Tokens of the observations in force.", _RECORD),
    _memory("cortex_om_reflections_tokens", "Tokens of the reflection in force.", _RECORD),
    *(
        _memory(f"cortex_om_{tier}_tokens_total", f"The same as cortex_om_{tier}_tokens; a gauge, it may fall.", source)
        for tier, source in (("messages", _TOKENS), ("observations", _RECORD), ("reflections", _RECORD))
    ),
    _memory(
        "cortex_om_compression_ratio",
        "Tokens of all messages observed, divided by those of observations and reflection in force.",
        _RECORD,
    ),
    _memory(
        "cortex_om_message_pressure_ratio",
        "Raw window (not sealed, and in chunks) divided by its threshold; of the fullest thread in thread scope.",
        f"{_TOKENS}, {_RECORD}",
    ),
    _memory(
        "cortex_om_observation_pressure_ratio",
        "Tokens of observations divided by their threshold; of the fullest thread in thread scope.",
        _RECORD,
    ),
    _memory("cortex_om_quarantine_messages", "Entries of the quarantine.", "`P:{<r>}:rejected`"),
    Series(
        "gauge",
        ("resource_id", "setting"),
        "cortex_om_budget_used_ratio",
        "Used of a budget today (UTC), divided by its limit; 1 and more: it is used up.",
        "`P:spent:<day>:<r>`, `P:spent:<day>`",
    ),
    _counter("cortex_om_observations_created_total", "Observations stored.", _COUNTED),
    _counter("cortex_om_reflections_created_total", "Reflections that became a generation.", _COUNTED),
    _counter("cortex_om_quarantined_total", "Messages that could not be accepted or observed.", _COUNTED),
    _counter("cortex_om_quarantine_dropped_total", "Entries that left a quarantine because it was full.", _COUNTED),
    _counter("cortex_om_crashes_total", "Chunks and tasks on which a worker process froze and was ended.", _COUNTED),
    _histogram(
        "cortex_om_observer_duration_seconds", "Seconds from asking for observations to storing them.", _COUNTED
    ),
    _histogram("cortex_om_reflector_duration_seconds", "Seconds from asking for a reflection to storing it.", _COUNTED),
    _counter(
        "cortex_om_observer_cost_total",
        "Dollars that the Observer's calls, and test calls of models, cost, where a price is known.",
        _COUNTED,
    ),
    _counter(
        "cortex_om_reflector_cost_total", "Dollars that the Reflector's calls cost, where a price is known.", _COUNTED
    ),
    _memory(
        "cortex_om_cost_savings_total",
        "Dollars saved since counting began, beside a raw history that the provider caches; it may fall.",
        _SERVED,
    ),
    _counter(
        "cortex_om_marked_lines_total",
        "Lines of observations that only quote what somebody said (docs/trust.md).",
        _COUNTED,
    ),
    _counter("cortex_om_pushes_refused_total", "Pushes that came faster than push limits permit.", _SERVED),
    _counter(
        "cortex_om_messages_ahead_total",
        "Messages dated ahead of the server's clock, which were ordered by its time.",
        _SERVED,
    ),
    _counter("cortex_om_contexts_total", "Contexts served.", _SERVED),
    _counter("cortex_om_context_tokens_total", "Tokens of the contexts served.", _SERVED),
    _memory(
        "cortex_om_prefix_stable_share",
        "Of the tokens of contexts served, the share in leading blocks that were as in the context before.",
        _SERVED,
    ),
    Series(
        "counter",
        ("resource_id", "kind"),
        "cortex_om_redacted_total",
        "Addresses, numbers and secrets that a placeholder took the place of: in what was stored, or sent to models.",
        _COUNTED,
    ),
    Series("counter", ("resource_id", "kind"), "cortex_om_failures_total", "Units of work that failed.", _COUNTED),
    Series(
        "counter",
        ("resource_id", "kind"),
        "cortex_om_unusable_answers_total",
        "Answers of models that were not used, by what was wrong with them.",
        _COUNTED,
    ),
    Series(
        "counter",
        (),
        "cortex_om_unknown_scopes_total",
        "Names marked due that nobody ever wrote a message under, and that were dropped.",
        "`P:counted`",
    ),
    Series(
        "counter",
        ("outcome",),
        "cortex_om_webhook_deliveries_total",
        "Attempts to send events to webhooks: delivered, failed (tried again) or dead (given up); also deliveries that a full"
        " queue dropped, and missed: how often events were trimmed before they were read.",
        "`P:counted`",
    ),
    Series(
        "counter",
        ("point", "hook"),
        "cortex_om_hook_failures_total",
        "Hooks that failed, by the point and the name of each: an entry point, or a URL's host.",
        "`P:counted`",
    ),
    Series(
        "gauge",
        ("work",),
        "cortex_om_lag_seconds",
        "For how long the oldest of the due scopes has waited to be taken up; 0 when none waits.",
        "`P:due:<work>`",
    ),
    Series("gauge", ("work",), "cortex_om_due_scopes", "Scopes that are due and not taken up.", "`P:due:<work>`"),
    Series(
        "gauge",
        ("work",),
        "cortex_om_workers_wanted",
        "Workers more that would work off within ten minutes what has no room; 0 while the fleet keeps up.",
        _TICKED,
    ),
    Series("gauge", ("queue",), "cortex_om_queue_tasks", "Tasks that wait in the broker.", _BROKER),
    _gauge("cortex_om_broker_up", "1 when the broker could be asked for its queues, else 0.", _BROKER),
    Series("gauge", ("tick",), "cortex_om_tick_age_seconds", "How long ago a tick ran last.", _TICKED),
    Series("gauge", ("tick",), "cortex_om_tick_interval_seconds", "How often it should run.", _TICKED),
    _gauge("cortex_om_workers", "Worker processes that live.", "`P:workers`"),
    Series(
        "gauge",
        ("model", "state"),
        "cortex_om_breaker_state",
        "1 for the state that a model's breaker is in: closed, open (it failed), partial (it failed for one agent, or refused"
        " all its calls; it alone waits), held (it refused calls, fewer are made at once) or busy (it refused all of them,"
        " and asked for a pause); else 0.",
        "`P:lock:breaker:{<name>}`",
    ),
    _gauge(
        "cortex_om_archive_due",
        "Resources that are due to be looked at for what can be archived; none of these series where there is no archive.",
        _ARCHIVABLE,
    ),
    _gauge(
        "cortex_om_archive_behind_seconds", "For how long the first of them has been due; 0 when none is.", _ARCHIVABLE
    ),
    _gauge(
        "cortex_om_archive_failing_seconds",
        "For how long the archive has taken nothing; 0 while it does. Redis keeps what is not archived.",
        "`P:lock:archive`",
    ),
    Series(
        "counter",
        (),
        "cortex_om_archived_total",
        "Sources, observations and generations moved to the archive.",
        "`P:counted`",
    ),
    _gauge("cortex_om_resources", "Resources that the workers know.", "`P:resources`"),
    _gauge("cortex_om_measured_resources", "Resources that have a label of their own.", "`P:measured`"),
    _gauge(
        "cortex_om_unreadable_resources",
        "Of these, resources whose keys hold what is not ours; figures of their memories are left out.",
        "`P:{<r>}:*`",
    ),
    _gauge("cortex_om_threads_left_out", "Threads in thread scope that these figures leave out.", "`P:{<r>}:threads`"),
)
OTHER = "(other)"  # as resource_id: those without a label of their own together; no resource can be called so
EVERYBODY = "(all)"  # as resource_id: the budget of all together
DELIVERIES = ("delivered", "failed", "dead", "dropped", "missed")
STATES = ("closed", "held", "partial", "open", "busy")
