"""One agent's settings: thresholds, models, prompts, storage; their defaults, ranges and contradictions."""

from operator import attrgetter
from typing import Any, Literal

from pydantic import model_validator

from om_api.domain.kept.extractors import Extractor, Filler
from om_api.domain.policy import Limits, Timing
from om_api.domain.push_limits import MOST, PushLimits
from om_api.domain.timing.prompt_cache import PromptCache
from om_api.language.telegraphic import NoteStyle
from om_api.recall.stemming import LANGUAGES
from om_api.settings.composed_memories import CONSENTS_PERMITTED, Composed, Consent, Consents
from om_api.settings.composed_memories import PERMITTED as COMPOSED_PERMITTED
from om_api.settings.prompt_caches import USUAL, rules_of
from om_api.settings.sections.api_settings import ApiSettings
from om_api.settings.sections.archive_settings import SQLITE_FILE, ArchiveSettings
from om_api.settings.sections.extractor_settings import PERMITTED as EXTRACTORS_PERMITTED
from om_api.settings.sections.extractor_settings import Extractors, extractors_of
from om_api.settings.sections.fields import (
    LEAST_ROOM,
    MAX_TOKENS,
    MOST_NAMES,
    SMALLEST_BLOCK,
    FractionOrTokens,
    Group,
    Language,
    Mapped,
    ModelNames,
    MultipleOrTokens,
    RatioOrFloor,
    ReviewMode,
    Room,
    Seconds,
    SettingOwner,
    Zone,
    contradiction,
    duration,
    limit,
    number,
    setting,
    switch,
    tokens,
)
from om_api.settings.sections.hook_settings import HookSettings
from om_api.settings.sections.redaction_settings import RedactionSettings
from om_api.settings.sections.storage_settings import StorageSettings
from om_api.settings.sections.trust_settings import TrustSettings
from om_api.settings.sections.working_settings import WorkingMemorySettings

PRESETS: dict[str, dict[str, int]] = {"small": {"message_threshold": 1_000, "observation_threshold": 4_000}}
_TEXT = "text, or null for none"
_NAMES = f"a model's name, or a list of up to {MOST_NAMES} names"
_BLOCK = "a multiple from 1 to below 100, or a whole number of tokens from 100; at least the threshold"
ROLES = ("observer_model", "reflector_model")
_VARIANTS = "default, condensed or legacy"
PromptVariant = Literal["default", "condensed", "legacy"]
_MOST = 1_000_000_000
_MOST_GENERATIONS = 100_000
_DAY_S = 86_400


def implied(key: str, value: object) -> dict[str, Any]:
    """Return what a `preset` or a `model` says of other settings; nothing for any other key or an unusable value."""
    if key == "preset" and isinstance(value, str):
        return dict(PRESETS.get(value, {}))
    if key == "model" and isinstance(value, str | list | tuple):
        return dict.fromkeys(ROLES, value)
    return {}


def resolve(value: float, threshold: int, below: int) -> int:
    """Return tokens: a value below `below` is a share or multiple of the threshold, any other is tokens already."""
    return round(value * threshold) if value < below else round(value)


class OtherThreads(Group):
    """How much of a resource's other threads the actor sees before they are observed."""

    owner = SettingOwner.AGENT

    excerpt_tokens: int = tokens(200, "most of one other thread's unobserved messages in a context", least=0)
    total_tokens: int = tokens(2_000, "most of all other threads together", least=0)


class ToolSettings(Group):
    """How tool results are shown in contexts."""

    max_tokens: int = tokens(
        20_000, "most of one tool result in a context: of a longer one both ends are shown, and recall finds the rest"
    )


class ObserverSettings(Group):
    """How the Observer works."""

    owner = SettingOwner.OPERATOR

    temperature: float = number(0.3, "the Observer model's temperature", 0, 2)
    timeout: Seconds = duration(120, "longest call of the Observer model", owner=SettingOwner.ADMINISTRATOR)
    max_parallel_chunks: int = number(
        4, "chunks of one scope observed at the same time", 1, 64, "chunks", owner=SettingOwner.ADMINISTRATOR
    )
    max_attempts: int = number(3, "attempts at a chunk before it is split or quarantined", 1, 20, "attempts")
    max_tokens_per_batch: int = tokens(
        10_000, "small chunks of several threads share a call up to this; 0: each has its own", least=0
    )
    previous_tokens: int = tokens(2_000, "newest observations shown to the Observer; 0 shows none", least=0)
    instruction: str | None = setting(None, "your own words for the Observer, added to its prompt", _TEXT)
    prompt: PromptVariant = setting("default", "which of the Observer's prompts", _VARIANTS)
    style: NoteStyle = setting(
        "sentences",
        "how the extractive Observer writes: sentences as they were said, or terse, more of them in fewer words",
        "sentences or terse",
    )


class GroupSettings(Group):
    """How observations are set aside in groups, where that is the Reflector's mode."""

    owner = SettingOwner.OPERATOR

    keep_tokens: FractionOrTokens = setting(
        0.2,
        "newest observations that stay in contexts when older ones are set aside",
        "a fraction above 0 and below 1, or a whole number of tokens from 1; less than observation_threshold",
        "fraction of observation_threshold, or tokens",
    )
    catalog_tokens: int = tokens(
        2_000, "most of the catalogue, in which each group has a line, and older ones one for a month", least=200
    )


class ReflectionSettings(Group):
    """How the Reflector works."""

    owner = SettingOwner.OPERATOR

    mode: Literal["condense", "archive"] = setting(
        "condense",
        "condense: a model condenses older observations; archive: they are set aside word for word, in groups with a heading",
        "condense or archive",
    )
    archive: GroupSettings = GroupSettings()
    temperature: float = number(0.0, "the Reflector model's temperature", 0, 2)
    timeout: Seconds = duration(300, "longest call of the Reflector model", owner=SettingOwner.ADMINISTRATOR)
    buffer_activation: float = setting(
        0.9,
        "share of observation_threshold from which a reflection is prepared",
        "above 0, up to 1",
        "ratio",
        gt=0,
        le=1,
    )
    block_after: MultipleOrTokens = setting(
        1.2, "observations above this are reflected at once", _BLOCK, "multiple of observation_threshold, or tokens"
    )
    drain: bool | None = setting(
        None,
        "observe what was raw before a reflection is committed; null: true in resource scope, false in thread scope",
        "true, false or null",
    )
    max_loss: float = number(
        0.2,
        "most that a reflection may lose of any kind of fact: above it nothing is committed, above half of it the model is asked"
        " again; 1: no limit",
        0,
        1,
        "share",
    )
    instruction: str | None = setting(None, "your own words for the Reflector, added to its prompt", _TEXT)
    prompt: PromptVariant = setting("default", "which of the Reflector's prompts", _VARIANTS)
    review: ReviewMode = setting(
        "off", "ask: a reflection waits until somebody approves it or sends it back (om review)", "off or ask"
    )
    review_expires: Seconds = duration(
        86_400, "a reflection that nobody reviewed for this long counts as approved", least=1, most=365 * 86_400
    )


class PromptCacheSettings(Group):
    """How activation heeds the cache in which the agent's provider keeps prompts."""

    owner = SettingOwner.AGENT

    timing: Timing = setting(
        "cache",
        "when observations take the place of messages. threshold: at message_threshold; cache: once it is cold, while it is warm"
        " at block_after; price: while it is warm where reading costs more than rewriting, from half of message_threshold on",
        "threshold, cache or price",
    )
    lifetime: Seconds | None = setting(
        None,
        "how long it keeps what was sent; 0: nothing is kept; null: as is known of actor_model, else 5m",
        "0s to 36500d (such as 90s, 5m, 1h30m, 2d), or null",
        "duration",
        ge=0,
        le=36_500 * _DAY_S,
    )
    minimum: int | None = limit(
        None, "shortest prompt that it keeps; null: as is known of actor_model, else 1024", 0, MAX_TOKENS, "tokens"
    )


class RecallSettings(Group):
    """What is looked up of the past."""

    owner = SettingOwner.AGENT

    auto: bool = switch("true: a context ends with what was said before about its newest message", on=True)
    tokens: int = tokens(1_000, "most of what is looked up for a context; 0: nothing is", least=0)
    language: Language = setting(
        "auto",
        "whose words are brought to their stems; auto: of each message by itself",
        f"auto, {', '.join(LANGUAGES)}",
    )


class PushLimitSettings(Group):
    """How fast messages may be pushed to one agent; null: as fast as they like."""

    messages_per_second: float | None = limit(
        None, "most messages a second, on average; null: no such limit", 0.01, MOST, "messages"
    )
    bytes_per_second: int | None = limit(
        None, "most bytes of messages a second, on average; null: no such limit", 1, MOST, "bytes"
    )

    @property
    def are_set(self) -> bool:
        """Whether anything is limited."""
        return self.messages_per_second is not None or self.bytes_per_second is not None

    def limits(self) -> PushLimits:
        """As pushes go by them."""
        return PushLimits(self.messages_per_second or 0, self.bytes_per_second or 0)


class BudgetSettings(Group):
    """What models may use in one UTC day of the server's; null: as much as they like."""

    calls_per_day: int | None = limit(None, "most calls of models; null: no such limit", 0, _MOST, "calls")
    tokens_per_day: int | None = limit(
        None, "no call once input and output of the day reach this; null: no such limit", 0, 1_000 * _MOST, "tokens"
    )
    dollars_per_day: float | None = limit(
        None,
        "no call of a model with a known price once the day's costs reach this; null: no such limit",
        0,
        _MOST,
        "dollars",
    )
    then: Literal["extractive", "pause"] = setting(
        "pause",
        "once it is reached: wait for the next day, or go on with the extractive model, which costs nothing",
        "extractive or pause",
    )


class DurabilitySettings(Group):
    """When a push counts as kept."""

    wait_replicas: int = number(
        0,
        "replicas of the store that must hold a push before it is acknowledged; 0: the primary is enough",
        0,
        16,
        "replicas",
    )
    wait_timeout: Seconds = duration(
        1, "longest that a push waits for replicas; keep it shorter than the timeout of the client", least=0.01, most=30
    )


class EventSettings(Group):
    """What is kept of what happened."""

    keep: int = number(10_000, "newest events kept, about so many", 100, 1_000_000, "events")


class AuditSettings(Group):
    """What is kept of who operated what."""

    keep: int = number(100_000, "newest entries kept, about so many", 100, 10_000_000, "entries")
    retention: Seconds = duration(400 * 86_400, "after which an entry goes", least=3_600, most=36_500 * 86_400)


class WebhookSettings(Group):
    """How events are sent to webhooks."""

    allow_private: bool = switch("true: webhooks may lead into your own network, and be plain http", on=False)
    interval: Seconds = duration(5, "time between two looks for events to send", least=0.1)
    timeout: Seconds = duration(10, "longest that a receiver takes to answer", most=30)
    queue: int = number(
        1_000, "deliveries that wait for one webhook; of more the oldest are dropped", 10, 100_000, "deliveries"
    )


class MetricsSettings(Group):
    """How much of the metrics is told apart."""

    resources: int = number(
        200, "agents with series of their own, the first that were met; the others are one", 0, 10_000, "agents"
    )


class TelemetrySettings(Group):
    """Where traces and figures go, by OpenTelemetry's protocol over HTTP; nowhere without an endpoint."""

    endpoint: str | None = setting(
        None,
        "address of a collector; null: OTEL_EXPORTER_OTLP_ENDPOINT, and without that nothing is traced",
        "http:// or https://, a host and perhaps a port and a path, without a password; or null",
        secret=True,  # somebody may write a password into it, which the error is not to show
        pattern=r"^https?://[A-Za-z0-9.\[\]:_-]{1,253}(/[A-Za-z0-9._~/-]{0,200})?$",
    )
    traces: bool = switch("false: no spans", on=True)
    metrics: bool = switch("false: om api sends no figures; /metrics has them all the same", on=True)
    logs: bool = switch("false: lines of log do not carry the ids of the span they were written in", on=True)
    sample: float = setting(1.0, "share of the traces that begin here which is kept", "0 to 1", ge=0, le=1)


class MemorySettings(Group):
    """One agent's settings, complete and free of contradictions; `limits()` is what the policy decides by."""

    owner = SettingOwner.OPERATOR

    enabled: bool = switch("false: messages are kept and contexts served, no model is called", on=True)
    read_only: bool = switch("true: contexts are served, nothing is written", on=False)
    scope: Literal["resource", "thread"] = setting(
        "resource", "one memory for all threads of a resource, or one for each thread", "resource or thread"
    )
    priority: float = setting(
        1.0,
        "share of the workers beside other agents: one of 2 gets twice that of 1",
        "0.1 to 10",
        owner=SettingOwner.ADMINISTRATOR,
        ge=0.1,
        le=10,
    )
    preset: Literal["small"] | None = setting(
        None, "other defaults: small sets message_threshold 1000 and observation_threshold 4000", "small or null"
    )
    timezone: Zone = setting(
        "UTC", "zone of the dates the agent reads", "an IANA name such as Europe/Berlin", owner=SettingOwner.AGENT
    )
    tokenizer: Literal["auto", "o200k_base", "estimate"] = setting(
        "auto", "how text is counted; auto is o200k_base", "auto, o200k_base or estimate"
    )
    message_threshold: int = tokens(30_000, "raw messages above this are replaced by their observations")
    observation_threshold: int = tokens(40_000, "observations above this are condensed into a reflection")
    buffer_tokens: FractionOrTokens = setting(
        0.2,
        "size of a chunk that is observed ahead of time",
        "a fraction above 0 and below 1, or a whole number of tokens from 1; less than message_threshold",
        "fraction of message_threshold, or tokens",
    )
    buffer_activation: RatioOrFloor = setting(
        0.9,
        "how much activation takes out of the raw window (a ratio), or how much it leaves (tokens)",
        "a ratio above 0 and up to 1, or a whole number of tokens from 1,000, less than message_threshold",
        "ratio of message_threshold, or tokens",
    )
    block_after: MultipleOrTokens = setting(
        1.2,
        "a raw window above this is activated as far as it can be",
        _BLOCK,
        "multiple of message_threshold, or tokens",
    )
    observe_idle_after: Seconds = duration(
        3_600, "a thread quiet for this long is observed below its threshold", least=0, most=36_500 * 86_400
    )
    min_recent_messages: int = number(2, "newest messages of a thread that stay raw", 0, 10_000, "messages")
    share_token_budget: bool = switch("raw messages may use the room that observations leave free", on=False)
    context_max_tokens: Room = setting(
        "auto",
        "most tokens of one context; auto: no more of the raw messages than twice message_threshold; null: no limit",
        f"auto, a whole number from {LEAST_ROOM} to {MAX_TOKENS:,}, or null",
        "tokens",
        owner=SettingOwner.AGENT,
    )
    other_threads: OtherThreads = OtherThreads()
    tools: ToolSettings = ToolSettings()
    model: ModelNames | None = setting(
        None, "model of both, Observer and Reflector, instead of the two below", f"{_NAMES}, or null"
    )
    observer_model: ModelNames = setting(
        "gemini-2.5-flash", "model of the Observer; the later ones of a list step in when the first fails", _NAMES
    )
    reflector_model: ModelNames = setting("gemini-2.5-flash", "model of the Reflector, likewise", _NAMES)
    observer: ObserverSettings = ObserverSettings()
    reflection: ReflectionSettings = ReflectionSettings()
    recall: RecallSettings = RecallSettings()
    working_memory: WorkingMemorySettings = WorkingMemorySettings()
    thread_titles: bool = switch("the Observer suggests a title for each thread (docs/threads.md)", on=True)
    extractors: Extractors = setting(
        Mapped(),
        "sections that a model fills beside its notes, by name (docs/extractors.md)",
        EXTRACTORS_PERMITTED,
        owner=SettingOwner.ADMINISTRATOR,
    )
    compose: Composed = setting(
        (),
        "other memories whose notes stand in a context, and what they are told (docs/composed-memories.md)",
        COMPOSED_PERMITTED,
    )
    composed_by: Consents = setting(
        (),
        "resources whose contexts may show the notes of this memory, and whose users of Redis (om acl) may read all of it "
        "(docs/composed-memories.md)",
        CONSENTS_PERMITTED,
    )
    shared_by: Consents = setting(
        (), "resources that may share notes into this memory (docs/composed-memories.md)", CONSENTS_PERMITTED
    )
    hooks: HookSettings = HookSettings()
    redaction: RedactionSettings = RedactionSettings()
    trust: TrustSettings = TrustSettings()
    budget: BudgetSettings = BudgetSettings()
    total_budget: BudgetSettings = BudgetSettings()
    push_limits: PushLimitSettings = PushLimitSettings()
    actor_model: str | None = setting(
        None,
        "the agent's own model, by whose prices savings are reckoned, and whose prompt cache is heeded; null: savings are told in"
        " tokens only, and the cache is taken for a usual one",
        "a model's name, or null",
        owner=SettingOwner.AGENT,
        pattern=r"^[A-Za-z0-9._:/@+-]{1,200}$",
    )
    prompt_cache: PromptCacheSettings = PromptCacheSettings()
    storage: StorageSettings = StorageSettings()
    archive: ArchiveSettings = ArchiveSettings()
    partitions: int | None = setting(
        None,
        "keys that each index of the store is parted into; null: as many as it has, of a new one 1, on a Cluster 64",
        "1 to 4,096, or null; om partitions changes it",
        "partitions",
        owner=SettingOwner.ADMINISTRATOR,
        ge=1,
        le=4_096,
    )
    durability: DurabilitySettings = DurabilitySettings()
    events: EventSettings = EventSettings()
    audit: AuditSettings = AuditSettings()
    webhooks: WebhookSettings = WebhookSettings()
    metrics: MetricsSettings = MetricsSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    api: ApiSettings = ApiSettings()
    observer_interval: Seconds = duration(
        10, "time between two looks for scopes to observe", least=0.1, owner=SettingOwner.ADMINISTRATOR
    )
    reflector_interval: Seconds = duration(
        30, "time between two looks for scopes to reflect", least=0.1, owner=SettingOwner.ADMINISTRATOR
    )
    stop_grace: Seconds = duration(
        25,
        "how long a worker that is told to stop waits for models; then others go on",
        least=0,
        owner=SettingOwner.ADMINISTRATOR,
    )
    flower_ticks: bool = switch(
        "whether Flower shows ticks, one row for each that did something", on=True, owner=SettingOwner.ADMINISTRATOR
    )
    max_observations: int = number(
        1_000, "more of them force a reflection; nothing is dropped", 1, 1_000_000, "observations"
    )
    max_reflections: int = number(
        100,
        "generations kept in history, unless there is an archive",
        1,
        _MOST_GENERATIONS,
        "generations",
        owner=SettingOwner.ADMINISTRATOR,
    )
    ttl_days: int = number(
        90,
        "without an archive: idle memories are cleared; sources and replaced observations expire, but for groups",
        1,
        36_500,
        "days",
    )

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, data: Any) -> Any:
        """Let preset and model speak for what is not stated beside them."""
        if not isinstance(data, dict):
            return data
        return {**implied("preset", data.get("preset")), **implied("model", data.get("model")), **data}

    @model_validator(mode="after")
    def _free_of_contradictions(self) -> "MemorySettings":
        checks = (
            self._check_models,
            self._check_buffer,
            self._check_floor,
            self._check_blocks,
            self._check_archive,
            self._check_working,
            self._check_groups,
        )
        for check in checks:
            check()
        return self

    def _check_models(self) -> None:
        for key in ROLES:
            if self.model is not None and getattr(self, key) != self.model:
                raise contradiction(
                    f"model and {key} are both set; permitted: model alone, or {key} and no model", "model", key
                )

    def _check_buffer(self) -> None:
        most, size = self.message_threshold - 1, self.buffer_size
        if not 1 <= size <= most:
            raise contradiction(
                f"buffer_tokens is {self.buffer_tokens} ({size:,} tokens) with a message_threshold of "
                f"{self.message_threshold:,}; permitted: 1 to {most:,} tokens",
                "buffer_tokens",
                "message_threshold",
            )

    def _check_floor(self) -> None:
        if self.floor >= self.message_threshold:
            raise contradiction(
                f"buffer_activation leaves {self.floor:,} tokens of a message_threshold of {self.message_threshold:,}; "
                f"permitted: a ratio above 0 and up to 1, or 1,000 to {self.message_threshold - 1:,} tokens",
                "buffer_activation",
                "message_threshold",
            )

    def _check_blocks(self) -> None:
        blocks = {"block_after": "message_threshold", "reflection.block_after": "observation_threshold"}
        for key, threshold_key in blocks.items():
            threshold = getattr(self, threshold_key)
            if (block := resolve(attrgetter(key)(self), threshold, below=SMALLEST_BLOCK)) < threshold:
                raise contradiction(
                    f"{key} is {block:,} tokens with {threshold_key} at {threshold:,}; "
                    f"permitted: a multiple from 1 to below 100, or {threshold:,} tokens or more",
                    key,
                    threshold_key,
                )

    def _check_archive(self) -> None:
        backend, scheme = self.storage.backend, (self.archive.url or "").partition("://")[0]
        fits = {"redis": {"", "sqlite", "postgresql"}, "sqlite": {"", "sqlite"}, "postgres": {"postgresql"}}[backend]
        if scheme not in fits:
            named = f"archive.url is {scheme}://…" if scheme else "archive.url is not set"
            raise contradiction(
                f"storage.backend is {backend} and {named}; permitted with it: archive.url of its kind, "
                f"{'sqlite:///file.db' if backend == 'sqlite' else 'postgresql://user@host/database'}",
                "storage.backend",
                "archive.url",
            )

    def _check_working(self) -> None:
        if self.working_memory.observe and self.scope == "thread" and self.working_memory.scope == "resource":
            raise contradiction(
                "working_memory.observe is true, with scope: thread and working_memory.scope: resource; permitted with a memory "
                "for each thread: working_memory.scope: thread",
                "working_memory.scope",
                "scope",
            )

    def _check_groups(self) -> None:
        if self.reflection.mode == "archive" and self.reflection.review == "ask":
            raise contradiction(
                "reflection.review is ask with reflection.mode archive, where nothing is condensed that could be reviewed; "
                "permitted: reflection.review off, or reflection.mode condense",
                "reflection.review",
                "reflection.mode",
            )
        most = self.observation_threshold - 1
        if not 1 <= self.keep_tokens <= most:
            raise contradiction(
                f"reflection.archive.keep_tokens is {self.reflection.archive.keep_tokens} ({self.keep_tokens:,} tokens) with "
                f"an observation_threshold of {self.observation_threshold:,}; permitted: 1 to {most:,} tokens",
                "reflection.archive.keep_tokens",
                "observation_threshold",
            )

    @property
    def consent(self) -> Consent:
        """`composed_by` and `shared_by`."""
        return Consent(self.composed_by, self.shared_by)

    @property
    def sets_aside(self) -> bool:
        """Whether the Reflector sets observations aside in groups, and asks no model."""
        return self.reflection.mode == "archive"

    @property
    def keep_tokens(self) -> int:
        """`reflection.archive.keep_tokens` as tokens."""
        return resolve(self.reflection.archive.keep_tokens, self.observation_threshold, below=1)

    @property
    def archived(self) -> ArchiveSettings | None:
        """The archive, where there is one: `storage.backend: sqlite` alone means a file beside the process."""
        if self.archive.url is None and self.storage.backend == "sqlite":
            return self.archive.model_copy(update={"url": SQLITE_FILE})
        return self.archive if self.archive.url else None

    @property
    def kept_generations(self) -> int:
        """How many generations stay in Redis; where there is an archive their age alone decides, and none is dropped."""
        return _MOST_GENERATIONS if self.archived else self.max_reflections

    @property
    def retention_s(self) -> int:
        """How long sources, what was replaced, and idle memories are kept, in seconds."""
        return self.archived.keep_s if self.archived else self.ttl_days * _DAY_S

    @property
    def observer_models(self) -> tuple[str, ...]:
        """The Observer's models, in the order they are tried."""
        return _as_tuple(self.model or self.observer_model)

    @property
    def reflector_models(self) -> tuple[str, ...]:
        """The Reflector's models, in the order they are tried."""
        return _as_tuple(self.model or self.reflector_model)

    def extractors_by(self, who: Filler) -> tuple[Extractor, ...]:
        """The extractors that an Observer, or a Reflector, fills."""
        return tuple(each for each in extractors_of(self.extractors) if each.by == who)

    @property
    def buffer_size(self) -> int:
        """`buffer_tokens` as tokens."""
        return resolve(self.buffer_tokens, self.message_threshold, below=1)

    @property
    def floor(self) -> int:
        """Tokens that an activation leaves raw."""
        ratio = self.buffer_activation
        return round(self.message_threshold * (1 - ratio)) if ratio <= 1 else round(ratio)

    @property
    def drain(self) -> bool:
        """Whether raw messages are observed before a reflection is committed."""
        return self.scope == "resource" if self.reflection.drain is None else self.reflection.drain

    @property
    def _reflect_from(self) -> int:
        """From where on a reflection is prepared: what needs no thought is not."""
        return round((1 if self.sets_aside else self.reflection.buffer_activation) * self.observation_threshold)

    def limits(self) -> Limits:
        """The thresholds as the policy wants them: whole tokens and milliseconds."""
        return Limits(
            enabled=self.enabled,
            read_only=self.read_only,
            message_threshold=self.message_threshold,
            observation_threshold=self.observation_threshold,
            buffer_tokens=self.buffer_size,
            floor=self.floor,
            block_after=resolve(self.block_after, self.message_threshold, below=SMALLEST_BLOCK),
            reflect_from=self._reflect_from,
            reflect_block=resolve(self.reflection.block_after, self.observation_threshold, below=SMALLEST_BLOCK),
            observe_idle_ms=round(self.observe_idle_after * 1000),
            min_recent_messages=self.min_recent_messages,
            share_token_budget=self.share_token_budget,
            drain=self.drain,
            max_observations=self.max_observations,
            timing=self.prompt_cache.timing,
            cache=self.cache,
        )

    @property
    def cache(self) -> PromptCache:
        """The prompt cache of the agent's model, as it is set or known."""
        said, known = self.prompt_cache, ((self.actor_model and rules_of(self.actor_model)) or USUAL).prices
        return PromptCache(
            lifetime_ms=known.lifetime_ms if said.lifetime is None else round(said.lifetime * 1000),
            minimum=known.minimum if said.minimum is None else said.minimum,
            write=known.write,
            read=known.read,
        )


def _as_tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names
