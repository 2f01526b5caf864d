"""What Alembic runs: each missing version, on the connection and in the transaction that layout.py gives it."""

from alembic import context

from om_api.archive.schema import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
