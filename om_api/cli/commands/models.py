"""`om models`: which models are in use, and whether one answers."""

import click

from om_api.cli.output import json_option, note, print_json, print_table
from om_api.cli.target import Target, command, examples, wait_option
from om_api.ops.model_list import ModelInUse, model_list
from om_api.store.fleet.model_trials import STANDS_S

_NOT_ANSWERED = 1


@click.group(epilog=examples("om models list", "om models try gemini-2.5-flash"))
def models() -> None:
    """See which models are in use, and try one out: docs/models.md says how to name one."""


@command(
    "om models list", "om models list --json | jq -r '.[] | select(.prices == null) | .name'", name="list", of=models
)
@json_option
def list_(target: Target, as_json: bool) -> None:
    """List the models in use or in the configuration: what a million tokens costs in dollars, and who uses them."""
    found = model_list(target.refreshed(), lambda _: True)
    if as_json:
        print_json(found)
        return
    columns = ("model", "provider", "input", "cached", "output", "window", "used by", "key")
    print_table(columns, map(_row, found), least=("window", "cached", "key"))


def _row(model: ModelInUse) -> tuple[object, ...]:
    prices = [(model.prices or {}).get(what) for what in ("input", "cached", "output")]
    uses = ", ".join(f"{use.agent or 'everybody else'} as {use.role}" for use in model.used_by)
    key = f"{model.key_variable} (not set here)" if model.key_is_missing else model.key_variable
    return model.name, model.provider, *prices, model.context_window or None, uses or None, key or None


@command(
    "om models try gemini-2.5-flash",
    "om models try notes --wait 60 --json",
    name="try",
    of=models,
    audited="model_tried",
)
@click.argument("model")
@wait_option("How long to wait for a worker's call.")
@json_option
@click.pass_context
def try_(ctx: click.Context, target: Target, model: str, wait: float, as_json: bool) -> None:
    """Have a worker ask a MODEL for one word: `answered`, `failed` and why (exit 1), `busy` when no worker has asked it yet.

    It is asked once, with the worker's own key, within its limits, and on the budget of all agents.
    """
    target.attempt.add(of=model)
    with target.memory() as om:
        trial = om.try_model(model, wait)
    if as_json:
        print_json(trial)
    else:
        columns = ("model", "outcome", "seconds", "input", "output", "cost", "answer")
        cost = None if trial.cost is None else f"{trial.cost:.6f}"
        said = (trial.seconds, trial.input, trial.output, cost, trial.text or None)
        print_table(columns, [(trial.model, trial.outcome, *said)])
    if trial.error and not as_json:
        note(trial.error)
    if trial.outcome == "busy":
        note(
            f"no worker has made the call in {wait:g} s: it stands for {STANDS_S // 60} minutes, repeat to wait on; or om doctor"
        )
    if trial.outcome == "failed":
        ctx.exit(_NOT_ANSWERED)
