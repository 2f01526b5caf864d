"""The first schema: entries, fences, words, and views for people."""

from alembic import op

from om_api.archive.migrations.statements import statements

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make tables, indexes and views."""
    for statement in statements(revision, op.get_bind().dialect.name):
        op.get_bind().exec_driver_sql(statement)
