"""What a worker does to consume: Celery's own steps, but for one that nothing here needs."""

from celery.worker.consumer import Consumer as CelerysConsumer


class Consumer(CelerysConsumer):  # type: ignore[misc]  # Celery carries no types
    """Celery's, without queues for tasks that are to wait for a time.

    On quorum queues it would declare 28 levels of them before it begins. No task of ours has a time: what is to wait, waits
    in the due index.
    """

    class Blueprint(CelerysConsumer.Blueprint):  # type: ignore[misc]
        """Its steps."""

        default_steps = tuple(
            step for step in CelerysConsumer.Blueprint.default_steps if not step.endswith(":DelayedDelivery")
        )
