"""What a worker declares before it begins, and that nothing is sent which would need more."""

import ast
from pathlib import Path

import om_workers
from om_workers.app import app
from om_workers.tasks.consumer import Consumer

_LATER = {"eta", "countdown", "retry_backoff", "autoretry_for"}


def test_a_worker_declares_no_queues_for_tasks_that_wait_for_a_time():
    """On quorum queues Celery would declare 28 levels of them."""
    assert app.conf.worker_consumer == f"{Consumer.__module__}:{Consumer.__name__}"
    assert [step for step in Consumer.Blueprint.default_steps if "delayed" in step] == []
    assert len(Consumer.Blueprint.default_steps) == len(Consumer.__base__.Blueprint.default_steps) - 1


def _words(path):
    """The names that a module's calls, decorators and strings of settings give to anything."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword):
            yield node.arg
        if isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant))


def test_no_task_is_sent_for_a_time_to_come():
    """What is to wait, waits in the due index: RabbitMQ has no queue for it."""
    modules = sorted(Path(om_workers.__file__).parent.rglob("*.py"))

    assert [path.name for path in modules if _LATER & {*_words(path)}] == []
