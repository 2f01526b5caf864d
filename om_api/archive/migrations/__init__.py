"""How the schema came to be what it is; Alembic runs it, see layout.py."""
