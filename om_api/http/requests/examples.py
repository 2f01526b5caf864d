"""What replies look like, for the OpenAPI document: our own values, so that no example can differ from what is sent."""

import msgspec

from om_api.billing.agent_costs import AgentCosts, CostsByAgent
from om_api.billing.costs import CostLine, Costs, Left
from om_api.client.fleet.agent_rows import Agent
from om_api.client.fleet.agents import Agents
from om_api.client.fleet.usage_series import UsagePoint, UsageSeries
from om_api.client.stats import Stats
from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.events import Event
from om_api.domain.notes.groups import NoteGroup
from om_api.domain.values import Generation, Observation, Outcome, Record, ThreadState
from om_api.domain.webhooks.delivery import Delivery
from om_api.store.backup.importing import Imported
from om_api.store.fleet.webhook_records import WebhookState
from om_api.store.memory.clear import Cleared
from om_api.store.memory.quarantine import Rejected
from om_api.store.reviews.drafts import Proposal, WaitingReview

_AT = 1_763_630_400_000
_OBSERVATION = "0196f1c2a4b800000001a1b2c3d4e5f6"
THREAD = ThreadState(
    id="thread-1",
    tokens=1_200,
    messages=14,
    at=_AT,
    current_task="Book a flight to Oslo.",
    current_task_at=_AT,
    current_task_from="m-2",
    title="A flight to Oslo",
    title_by="observer",
    last_observed_at=_AT,
)
OBSERVATION = Observation(
    id=_OBSERVATION,
    thread_id="thread-1",
    text="Date: Nov 20, 2026\n* 🔴 (09:30) User's flight is on Friday.",
    activation="0196f1c2a4b900000001a1b2c3d4e5f6",
    priority=5,
    task_state="Book a flight to Oslo.",
    message_ids=("m-1", "m-2"),
    source_range=("m-1", "m-2"),
    from_=_AT,
    to=_AT + 60_000,
    tokens=18,
    message_tokens=412,
    model="gemini-2.5-flash",
    cost=0.00031,
    created_at=_AT + 65_000,
)
GENERATION = Generation(
    n=1,
    text="* 🔴 User flies to Oslo on Friday, November 20.",
    created_at=_AT + 3_600_000,
    tokens=14,
    input_tokens=18,
    observation_ids=(_OBSERVATION,),
    level=1,
    model="gemini-2.5-flash",
)
SET_ASIDE = msgspec.structs.replace(OBSERVATION, group="k3fq7a2m")
GROUP = NoteGroup(
    id="k3fq7a2m",
    thread_id="thread-1",
    heading="* 2025-11-20 [k3fq7a2m] 1 note: User's flight is on Friday",
    from_=_AT,
    to=_AT + 60_000,
    observations=1,
    notes=1,
    tokens=18,
    generation=1,
)
WAITING = WaitingReview(
    resource="harold", thread=None, id="019a9c6f0a6b5f0c2d1e3a4b5c6d7e90", asked_at=_AT, expires_at=_AT + 86_400_000
)
PROPOSAL = Proposal(
    resource="harold",
    thread=None,
    id=WAITING.id,
    asked_at=_AT,
    expires_at=WAITING.expires_at,
    generation=GENERATION,
    before="",
)
RECORD = Record(epoch="5f0c1d2e3a4b", generation=1, seq=12, observation_tokens=18, observation_count=1, created_at=_AT)
REJECTED = Rejected(
    id="3f1c20a9be77",
    kind="malformed",
    thread_id="thread-1",
    reason="role 'robot' is none of user, assistant, system, tool",
    at=_AT,
    member='{"role":"robot"}',
)
EVENT = Event(
    kind="buffered",
    id=f"{_AT}-0",
    at=_AT,
    resource="harold",
    thread="thread-1",
    chunk=_OBSERVATION,
    messages=12,
    message_tokens=5_871,
    tokens=412,
    model="gemini-2.5-flash",
    seconds=4.213,
    cost=0.00218,
)
WEBHOOK = WebhookState(
    id="3f1c20a9be77",
    url="https://example.org/om",
    events=("reflected", "failed"),
    resources=("worker-*",),
    created_at=_AT,
    disabled="",
    delivered=412,
)
DELIVERY = Delivery(
    id=f"msg_3f1c20a9be77_{EVENT.id}_{EVENT.kind}",
    event=EVENT.id,
    kind=EVENT.kind,
    body=msgspec.json.encode(EVENT).decode(),
    attempts=8,
    error="answered 500",
    died_at=_AT + 86_400_000,
)
STATS = Stats(
    resource="harold",
    scope="resource",
    configured_scope="resource",
    threads=2,
    message_tokens=4_200,
    chunk_tokens=5_900,
    observation_tokens=1_840,
    reflection_tokens=960,
    chunks=1,
    ready_chunks=1,
    observations=7,
    generation=1,
    observed_tokens=58_000,
    observed_messages=412,
    compression=20.71,
    message_threshold=30_000,
    observation_threshold=40_000,
    paused=False,
    observing=False,
    reflecting=False,
    due=False,
    rejected=0,
)
AGENTS = Agents(
    items=[
        Agent(
            resource="harold",
            state="waiting",
            message_tokens=4_200,
            chunk_tokens=5_900,
            message_threshold=30_000,
            pressure=0.337,
            observation_tokens=1_840,
            observation_threshold=40_000,
            fill=0.046,
            reflection_tokens=960,
            generation=1,
            chunks=1,
            ready_chunks=1,
            lag=2.4,
            compression=20.71,
            cost_today=0.02,
            budget_used=0.01,
            at=_AT,
        )
    ],
    next="0.3366666666666667 harold",
    matching=2,
    known=2,
    read=2,
    complete=True,
    left_out=0,
    states={"broken": 0, "paused": 0, "stopped": 0, "quarantine": 0, "waiting": 1, "ok": 1},
    as_of=_AT,
)
COSTS = Costs(
    resource="harold",
    first="2026-11-14",
    last="2026-11-20",
    lines=(
        CostLine(
            day="2026-11-20",
            model="gemini-2.5-flash",
            purpose="observe",
            calls=9,
            input=52_000,
            output=1_900,
            cost=0.02,
        ),
    ),
    cost=0.02,
    calls=9,
    unpriced=0,
    open=0,
    contexts=412,
    actor_model="gemini-2.5-flash",
    budgets=(Left(setting="budget.dollars_per_day", limit=2.0, used=0.02, left=1.98, reached=False, then="pause"),),
)
COSTS_BY_AGENT = CostsByAgent(
    first="2026-11-20",
    last="2026-11-20",
    cost=0.05,
    agents=(
        AgentCosts(
            resource="harold",
            cost=0.02,
            calls=9,
            input=52_000,
            output=1_900,
            unpriced=0,
            contexts=412,
            saved_tokens=1_204_000,
            saved_dollars=0.31,
            budgets=COSTS.budgets,
        ),
    ),
)
SERIES = UsageSeries(
    resource=None,
    step=600,
    points=(
        UsagePoint(
            at=_AT,
            agents=2,
            measured=2,
            message_tokens=4_200,
            chunk_tokens=5_900,
            observation_tokens=1_840,
            reflection_tokens=960,
            compression=20.71,
            cost=0.002,
            contexts=12,
            served_tokens=84_000,
            history_tokens=720_000,
            saved_dollars=0.03,
        ),
    ),
)
EXPORTED = """\
{"kind":"memory","format":1,"resource":"harold","scope":null,"exported_at":1763630400000}
{"kind":"thread","thread":"t-1","at":null,"messages":1,"tokens":9,"fields":{}}
{"kind":"message","score":1763630400000.0,"message":"{\\"id\\":\\"m-1\\",\\"role\\":\\"user\\",\\"content\\":\\"Hello\\"}","thread":"t-1"}
{"kind":"end","lines":3,"sha256":"6129ffd4795ff69332e18a9ef097c24ff657c5cd12655eb700f402404c60e198"}
"""
IMPORTED = Imported("harold", threads=2, messages=14, observations=7, generations=1, sources=7)
CLEARED = Cleared(Outcome.CLEARED, messages=14, observations=7)
AUDITED = AuditEntry(
    id="1763630400000-0",
    at=_AT,
    did="restored",
    via="http",
    who="3f1c20a9be77",
    label="shop assistant",
    resource="harold",
    of="3",
    ended="restored",
    status=200,
)
