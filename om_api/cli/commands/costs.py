"""`om costs`: what models cost, what is left of budgets, and what the memory saves."""

import click

from om_api.billing.agent_costs import AgentCosts, CostsByAgent
from om_api.billing.budgets import DAYS
from om_api.billing.costs import CostLine, Costs, Left, Saving
from om_api.cli.checks import check_known
from om_api.cli.output import as_time, json_option, note, print_json, print_table
from om_api.cli.target import Target, command, optional_resource

_LINES = ("day", "model", "purpose", "calls", "failed", "input", "cached", "output", "cost")
_TOKENS_SAVED = ("against", "would send", "cached", "sent", "cached", "tokens saved")
_SAVINGS = (*_TOKENS_SAVED, "would cost", "cost", "and memory", "saved")
_AGENTS = (*("agent", "calls", "input", "output", "cost", "tokens saved", "saved", "budget used", "lasts until"),)
_BUDGETS = ("budget", "limit", "used", "left", "lasts until", "then")


@command(
    "om costs",
    "om costs harold --days 30",
    "om costs --by agent --days 1",
    "om costs --json | jq '.lines[] | select(.cost > 1)'",
)
@optional_resource
@click.option("--days", type=click.IntRange(1, DAYS), default=7, show_default=True, help="UTC days, today included.")
@click.option("--by", type=click.Choice(("model", "agent")), default="model", show_default=True, help="Lines of what.")
@json_option
def costs(target: Target, resource: str | None, days: int, by: str, as_json: bool) -> None:
    """Show what a resource's models cost, or everybody's: by day, model and purpose, or the costliest agents.

    Then what is left of today's budgets, and what the contexts served saved against two baselines: the raw history re-sent
    uncached with every call, and the same with the provider's prompt cache. See docs/costs.md.
    """
    with target.memory() as om:
        if by == "agent":
            _print_agents(om.costs_by_agent(days, among=[resource] if resource else None), as_json)
            return
        found = om.costs(resource, days)
        if resource and not found.calls:
            check_known(om, resource)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: Costs) -> None:
    title = f"{found.resource or 'all agents'}, {found.first} to {found.last}"
    total = ("in all", None, None, found.calls, None, None, None, None, _dollars(found.cost))
    print_table(
        _LINES,
        [*map(_line, found.lines), *([total] if found.lines else [])],
        title,
        least=("failed", "cached", "purpose"),
    )
    if found.budgets:
        print_table(_BUDGETS, map(_left, found.budgets), "today")
    if found.savings:
        print_table(
            _SAVINGS, map(_saving, found.savings), f"savings in {found.contexts:,} contexts, tokens and dollars"
        )
    _print_notes(found)


def _print_agents(found: CostsByAgent, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    rows = [*map(_agent, found.agents), ("all agents", None, None, None, _dollars(found.cost), None, None, None, None)]
    print_table(_AGENTS, rows, f"{found.first} to {found.last}", least=("output", "input", "saved"))


def _agent(agent: AgentCosts) -> tuple[object, ...]:
    nearest = max(agent.budgets, key=lambda each: each.used / each.limit if each.limit else 1, default=None)
    used = None if nearest is None else f"{nearest.used / nearest.limit:.0%}" if nearest.limit else "100%"
    until = as_time(nearest.lasts_until) if nearest and nearest.lasts_until else None
    tokens = (agent.calls, agent.input, agent.output)
    return (
        agent.resource,
        *tokens,
        _dollars(agent.cost),
        agent.saved_tokens,
        _dollars(agent.saved_dollars),
        used,
        until,
    )


def _print_notes(found: Costs) -> None:
    if not found.lines:
        note("no call of a model was counted in these days")
    if found.unpriced:
        note(f"of unknown price: {found.unpriced:,} calls, counted in tokens only; state models.NAME.prices")
    if found.estimated:
        note(f"of estimated size: {found.estimated:,} calls, of which their server does not say what they took")
    if found.open:
        note(f"in flight, or their worker died: {found.open:,} calls, counted against budgets as they were reserved")
    if found.savings and found.actor_model is None:
        note("savings are in tokens only: name the agent's own model in actor_model to have them in dollars")


def _line(line: CostLine) -> tuple[object, ...]:
    cached = f"{line.cached / line.input:.0%}" if line.input else None
    tokens = (line.calls, line.failed, line.input, cached, line.output)
    return (line.day, line.model, line.purpose, *tokens, _dollars(line.cost))


def _left(budget: Left) -> tuple[object, ...]:
    lasts = as_time(budget.lasts_until or 0)
    what = f"{budget.setting}{' (reached)' if budget.reached else ''}"
    return (
        what,
        _amount(budget.limit),
        _amount(budget.used),
        _amount(budget.left),
        lasts,
        budget.then,
    )


def _amount(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"


def _saving(saving: Saving) -> tuple[object, ...]:
    tokens = (saving.baseline_tokens, saving.baseline_cached, saving.served_tokens, saving.served_cached)
    dollars = (saving.baseline_dollars, saving.served_dollars, saving.memory_dollars, saving.saved_dollars)
    return (saving.baseline, *tokens, saving.saved_tokens, *map(_dollars, dollars))


def _dollars(value: float | None) -> str | None:
    return None if value is None else f"{value:,.4f}"
