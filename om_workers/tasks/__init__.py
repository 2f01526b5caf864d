"""What Celery sees: the tasks, their schedule, the broker, and where all is put together. The only room that knows Celery."""
