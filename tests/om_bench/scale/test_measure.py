from click.testing import CliRunner

from om_bench.__main__ import bench
from om_bench.scale import measure as module
from om_bench.scale.measure import ScalePlan, as_lines, measure
from om_bench.scale.works import works


def test_everything_is_measured_among_few_agents_and_among_fewer(few_templates, monkeypatch):
    *once, starts = [each._replace(rounds=1, times=1) for each in works(60)]
    monkeypatch.setattr(module, "works", lambda _: once)
    monkeypatch.setattr(module, "FEW", 50)
    found = measure(ScalePlan(agents=100, active=30))
    rows = {row.work: row for row in found.rows}
    lines = "\n".join(as_lines(found))

    assert "first task" in starts.name  # for itself in test_works.py: it starts processes
    assert list(rows) == [each.name for each in once]
    assert all(
        cost.seconds > 0 and cost.own > 0 and cost.requests > 0 for row in found.rows for cost in (row.few, row.many)
    )
    assert rows["push of a message"].many.requests == 1
    assert found.bytes > 1_000
    assert f"| push of a message | {1e3 * rows['push of a message'].few.seconds:,.2f} ms (" in lines
    assert "100 agents on one server" in lines


def test_no_fewer_agents_are_asked_for_than_they_are_compared_with():
    done = CliRunner().invoke(bench, ["scale", "--agents", "36"])

    assert done.exit_code == 2
    assert "1000<=x" in done.stderr
