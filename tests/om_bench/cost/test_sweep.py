"""What other thresholds would make of the costs."""

import json

from benches import cost

from om_bench.cost import sweep
from om_bench.cost.compare import CostPlan


def test_a_sweep_tries_thresholds_and_one_other_setting_each(monkeypatch):
    for name, values in (("_MESSAGES", (5000,)), ("_OBSERVATIONS", (3000,)), ("_OTHERS", ("buffer_tokens=0.4",))):
        monkeypatch.setattr(sweep, name, values)
    found = json.loads(cost("--sweep", "--json", "--calls=6", "--actor=gpt-5.2", "--set=message_threshold=4000").output)

    assert [each["settings"] for each in found["tried"]] == [
        ["message_threshold=4000"],
        ["message_threshold=5000", "observation_threshold=3000"],
        ["message_threshold=4000", "buffer_tokens=0.4"],
    ]
    assert list(found["tried"][0]["factors"]["gpt-5.2"]) == ["extractive", "gemini-2.5-flash", "gemini-2.5-flash-lite"]


def test_a_row_of_the_sweep_states_what_differs_from_the_plans_last_settings():
    plan = CostPlan(actors=("gpt-5.2",), observers=(), settings={"as shipped": (), "thrifty": ("a=1", "b=2")})
    tried = [sweep.Tried(settings, 9, 3, {"gpt-5.2": {"extractive": 5.04}}) for settings in ((), ("a=1", "b=3"))]
    text = "\n".join(sweep.as_lines(sweep.ThresholdSweep(plan, tried)))

    assert "as in *thrifty*: `a=1`, `b=2`." in text
    assert text.endswith("| *as shipped* | 9 | 3 | 5.0 |\n| `b=3` | 9 | 3 | 5.0 |")
